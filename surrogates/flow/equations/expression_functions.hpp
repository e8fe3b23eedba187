#pragma once

#include <string>
#include <vector>

namespace quintet::flow {

class Expressions;

/// A function of one or two arguments that equations may call: its value, its slopes, and its derivative as
/// an expression.
struct ExpressionFunction {
  const char* name;
  int n_arguments;  ///< 1 or 2; `folds`: two or more, taken from the left
  bool folds;
  double (*value)(double x, double y);
  double (*slope_x)(double x, double y);  ///< d value/dx; at a kink that of one side
  double (*slope_y)(double x, double y);  ///< nullptr for one argument
  /// Expressions of the slopes; nullptr: what is not smooth has no derivative in an equation.
  int (*derivative_x)(Expressions& graph, int x, int y);
  int (*derivative_y)(Expressions& graph, int x, int y);
};

/// All functions; the first is pow(x, y), which the operator ^ means.
[[nodiscard]] const std::vector<ExpressionFunction>& expression_functions();
[[nodiscard]] const std::vector<std::string>& expression_function_names();
/// Index of a name, -1 if it is unknown.
[[nodiscard]] int find_expression_function(const std::string& name);

}  // namespace quintet::flow
