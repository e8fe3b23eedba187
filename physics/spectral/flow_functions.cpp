#include "physics/spectral/flow_functions.hpp"

#include <algorithm>
#include <cmath>

namespace quintet::spectral {

const std::vector<PointFunction>& point_functions() {
  static const std::vector<PointFunction> functions{
      {"pow", 2, [](double a, double b) { return std::pow(a, b); }},
      {"atan2", 2, [](double a, double b) { return std::atan2(a, b); }},
      {"min", 2, [](double a, double b) { return std::min(a, b); }},
      {"max", 2, [](double a, double b) { return std::max(a, b); }},
      {"sin", 1, [](double a, double) { return std::sin(a); }},
      {"cos", 1, [](double a, double) { return std::cos(a); }},
      {"tan", 1, [](double a, double) { return std::tan(a); }},
      {"asin", 1, [](double a, double) { return std::asin(a); }},
      {"acos", 1, [](double a, double) { return std::acos(a); }},
      {"atan", 1, [](double a, double) { return std::atan(a); }},
      {"sinh", 1, [](double a, double) { return std::sinh(a); }},
      {"cosh", 1, [](double a, double) { return std::cosh(a); }},
      {"tanh", 1, [](double a, double) { return std::tanh(a); }},
      {"exp", 1, [](double a, double) { return std::exp(a); }},
      {"log", 1, [](double a, double) { return std::log(a); }},
      {"log10", 1, [](double a, double) { return std::log10(a); }},
      {"sqrt", 1, [](double a, double) { return std::sqrt(a); }},
      {"abs", 1, [](double a, double) { return std::abs(a); }},
      {"erf", 1, [](double a, double) { return std::erf(a); }},
      {"floor", 1, [](double a, double) { return std::floor(a); }},
      {"sign", 1, [](double a, double) { return a > 0   ? 1.0
                                                : a < 0 ? -1.0
                                                        : a; }},
      {"step", 1, [](double a, double) { return a < 0    ? 0.0
                                                : a >= 0 ? 1.0
                                                         : a; }},
      {"gauss", 1, [](double a, double) { return std::exp(-0.5 * a * a); }}};
  return functions;
}

const std::vector<LinearOperator>& linear_operators() {
  static const std::vector<LinearOperator> operators{
      {"dx", "d/dx", [](const Symbol& s) { return s.dx(); }},
      {"dy", "d/dy", [](const Symbol& s) { return s.dy(); }},
      {"dxx", "d^2/dx^2", [](const Symbol& s) { return s.dx().dx(); }},
      {"dxy", "d^2/dx dy", [](const Symbol& s) { return s.dx().dy(); }},
      {"dyy", "d^2/dy^2", [](const Symbol& s) { return s.dy().dy(); }},
      {"lap", "d^2/dx^2 + d^2/dy^2", [](const Symbol& s) { return s.laplacian(); }},
      {"inverse_lap", "the field without mean whose lap is the argument less its mean",
       [](const Symbol& s) { return s.inverse_laplacian(); }}};
  return operators;
}

}  // namespace quintet::spectral
