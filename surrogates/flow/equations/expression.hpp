#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "surrogates/flow/equations/differential_operator.hpp"

namespace quintet::flow {

/// Kind of an expression.
enum class ExpressionKind { number, constant, coordinate, jet, add, multiply, divide, call };

/// How often a field is differentiated along each axis; at most twice in all.
using Orders = std::array<int, n_axes>;

struct Expression {
  ExpressionKind kind = ExpressionKind::number;
  double value = 0;  ///< of a number
  int index = 0;     ///< of the constant, the axis, the field, or the function called
  Orders orders{};   ///< of a jet: a field's value or derivative
  int x = -1, y = -1;
  friend auto operator<=>(const Expression&, const Expression&) = default;
};

/// Expressions as a graph in which equal ones stand once; operands come before what is made of them.
///
/// Numbers are folded, zeros and ones dropped as expressions are made. Throws InputError for NaN (sqrt(-1)),
/// for more than `most` expressions (a short text can make a graph too large for an equation), and for more
/// than `deepest` levels, since all that reads the graph is recursive. A sum of 5000 terms has 5000 levels.
class Expressions {
 public:
  static constexpr std::size_t most = 100000;
  static constexpr int deepest = 6000;

  int number(double value);
  int constant(int index);
  int coordinate(int axis);
  int jet(int field, const Orders& orders);
  int add(int x, int y);
  int subtract(int x, int y) { return add(x, negate(y)); }
  int negate(int x) { return multiply(number(-1), x); }
  int multiply(int x, int y);
  int divide(int x, int y);
  int power(int x, int y);
  int call(int function, int x, int y = -1);
  int call(const std::string& function, int x);

  /// d x/d(axis) by the rules of calculus. Throws InputError without a place: third derivatives of a field,
  /// functions that have no derivative.
  int differentiate(int x, int axis);

  [[nodiscard]] const Expression& operator[](int i) const { return nodes_[i]; }
  [[nodiscard]] int size() const { return nodes_.size(); }
  /// Whether neither fields nor coordinates occur in it: a number of each sample.
  [[nodiscard]] bool is_uniform(int i) const { return uniform_[i]; }
  [[nodiscard]] bool mentions_field(int i) const { return fields_[i]; }
  [[nodiscard]] bool is_number(int i, double value) const;

 private:
  int make(const Expression& expression);
  int derivative_of(int x, int axis);

  std::vector<Expression> nodes_;
  std::vector<bool> uniform_, fields_;
  std::vector<int> depths_;
  std::map<Expression, int> places_;
  std::map<std::tuple<int, int>, int> derivatives_;
};

}  // namespace quintet::flow
