#pragma once

#include <string>
#include <vector>

#include "physics/spectral/symbol.hpp"

namespace quintet::spectral {

/// A function of one or two numbers that equations may call at each point.
struct PointFunction {
  const char* name;
  int n_arguments;
  double (*value)(double a, double b);
};
[[nodiscard]] const std::vector<PointFunction>& point_functions();

/// A linear operator that equations may apply to any expression.
struct LinearOperator {
  const char *name, *doc;
  Symbol (*apply)(const Symbol& symbol);
};
[[nodiscard]] const std::vector<LinearOperator>& linear_operators();

}  // namespace quintet::spectral
