#include "surrogates/flow/equations/expression_functions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "surrogates/flow/equations/expression.hpp"

namespace quintet::flow {

namespace {

using G = Expressions;
constexpr double two_over_root_pi = 2 * std::numbers::inv_sqrtpi;

/// 1/x.
int inverse(G& g, int x) { return g.divide(g.number(1), x); }
/// x^2.
int square(G& g, int x) { return g.multiply(x, x); }
/// a + b x^2.
int quadratic(G& g, double a, double b, int x) {
  const int product = g.multiply(g.number(b), square(g, x));
  return g.add(g.number(a), product);
}
double no_slope(double, double) { return 0; }

// Each row has the value, both partial derivatives as numbers, and both as expressions; null: the derivative
// is no expression.
std::vector<ExpressionFunction> make_functions() {
  using std::sqrt, std::exp, std::log, std::pow;
  return {
      {"pow", 2, false, [](double x, double y) { return pow(x, y); },
       [](double x, double y) { return y == 0 ? 0 : y * pow(x, y - 1); },
       [](double x, double y) { return x > 0 ? pow(x, y) * log(x) : 0; },
       [](G& g, int x, int y) {
         const int lower = g.subtract(y, g.number(1));
         return g.multiply(y, g.power(x, lower));
       },
       [](G& g, int x, int y) {
         const int logarithm = g.call("log", x);
         return g.multiply(g.power(x, y), logarithm);
       }},
      {"atan2", 2, false, [](double x, double y) { return std::atan2(x, y); },
       [](double x, double y) { return y / (x * x + y * y); },
       [](double x, double y) { return -x / (x * x + y * y); },
       [](G& g, int x, int y) { return g.divide(y, g.add(square(g, x), square(g, y))); },
       [](G& g, int x, int y) { return g.divide(g.negate(x), g.add(square(g, x), square(g, y))); }},
      {"min", 2, true, [](double x, double y) { return std::min(x, y); },
       [](double x, double y) { return x <= y ? 1. : 0.; },
       [](double x, double y) { return x <= y ? 0. : 1.; }, nullptr, nullptr},
      {"max", 2, true, [](double x, double y) { return std::max(x, y); },
       [](double x, double y) { return x >= y ? 1. : 0.; },
       [](double x, double y) { return x >= y ? 0. : 1.; }, nullptr, nullptr},
      {"sin", 1, false, [](double x, double) { return std::sin(x); },
       [](double x, double) { return std::cos(x); }, nullptr,
       [](G& g, int x, int) { return g.call("cos", x); }, nullptr},
      {"cos", 1, false, [](double x, double) { return std::cos(x); },
       [](double x, double) { return -std::sin(x); }, nullptr,
       [](G& g, int x, int) { return g.negate(g.call("sin", x)); }, nullptr},
      {"tan", 1, false, [](double x, double) { return std::tan(x); },
       [](double x, double) { return 1 + std::tan(x) * std::tan(x); }, nullptr,
       [](G& g, int x, int) { return quadratic(g, 1, 1, g.call("tan", x)); }, nullptr},
      {"asin", 1, false, [](double x, double) { return std::asin(x); },
       [](double x, double) { return 1 / sqrt(1 - x * x); }, nullptr,
       [](G& g, int x, int) { return inverse(g, g.call("sqrt", quadratic(g, 1, -1, x))); }, nullptr},
      {"acos", 1, false, [](double x, double) { return std::acos(x); },
       [](double x, double) { return -1 / sqrt(1 - x * x); }, nullptr,
       [](G& g, int x, int) { return g.negate(inverse(g, g.call("sqrt", quadratic(g, 1, -1, x)))); },
       nullptr},
      {"atan", 1, false, [](double x, double) { return std::atan(x); },
       [](double x, double) { return 1 / (1 + x * x); }, nullptr,
       [](G& g, int x, int) { return inverse(g, quadratic(g, 1, 1, x)); }, nullptr},
      {"sinh", 1, false, [](double x, double) { return std::sinh(x); },
       [](double x, double) { return std::cosh(x); }, nullptr,
       [](G& g, int x, int) { return g.call("cosh", x); }, nullptr},
      {"cosh", 1, false, [](double x, double) { return std::cosh(x); },
       [](double x, double) { return std::sinh(x); }, nullptr,
       [](G& g, int x, int) { return g.call("sinh", x); }, nullptr},
      {"tanh", 1, false, [](double x, double) { return std::tanh(x); },
       [](double x, double) { return 1 - std::tanh(x) * std::tanh(x); }, nullptr,
       [](G& g, int x, int) { return quadratic(g, 1, -1, g.call("tanh", x)); }, nullptr},
      {"exp", 1, false, [](double x, double) { return exp(x); }, [](double x, double) { return exp(x); },
       nullptr, [](G& g, int x, int) { return g.call("exp", x); }, nullptr},
      {"log", 1, false, [](double x, double) { return log(x); }, [](double x, double) { return 1 / x; },
       nullptr, [](G& g, int x, int) { return inverse(g, x); }, nullptr},
      {"log10", 1, false, [](double x, double) { return std::log10(x); },
       [](double x, double) { return std::numbers::log10e / x; }, nullptr,
       [](G& g, int x, int) { return g.divide(g.number(std::numbers::log10e), x); }, nullptr},
      {"sqrt", 1, false, [](double x, double) { return sqrt(x); },
       [](double x, double) { return 0.5 / sqrt(x); }, nullptr,
       [](G& g, int x, int) { return g.divide(g.number(0.5), g.call("sqrt", x)); }, nullptr},
      {"erf", 1, false, [](double x, double) { return std::erf(x); },
       [](double x, double) { return two_over_root_pi * exp(-x * x); }, nullptr,
       [](G& g, int x, int) {
         const int bell = g.call("exp", g.negate(square(g, x)));
         return g.multiply(g.number(two_over_root_pi), bell);
       },
       nullptr},
      {"gauss", 1, false, [](double x, double) { return exp(-0.5 * x * x); },
       [](double x, double) { return -x * exp(-0.5 * x * x); }, nullptr,
       [](G& g, int x, int) { return g.negate(g.multiply(x, g.call("gauss", x))); }, nullptr},
      {"abs", 1, false, [](double x, double) { return std::abs(x); },
       [](double x, double) { return x < 0 ? -1. : 1.; }, nullptr, nullptr, nullptr},
      {"sign", 1, false, [](double x, double) { return x > 0 ? 1. : (x < 0 ? -1. : x); }, no_slope, nullptr,
       nullptr, nullptr},
      {"step", 1, false, [](double x, double) { return x < 0 ? 0. : (x >= 0 ? 1. : x); }, no_slope, nullptr,
       nullptr, nullptr},
      {"floor", 1, false, [](double x, double) { return std::floor(x); }, no_slope, nullptr, nullptr,
       nullptr},
  };
}

}  // namespace

const std::vector<ExpressionFunction>& expression_functions() {
  static const std::vector<ExpressionFunction> functions = make_functions();
  return functions;
}

const std::vector<std::string>& expression_function_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& row : expression_functions()) all.emplace_back(row.name);
    return all;
  }();
  return names;
}

int find_expression_function(const std::string& name) {
  const auto& names = expression_function_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

}  // namespace quintet::flow
