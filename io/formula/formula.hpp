#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Formulas of input files.
namespace quintet {

/// A function of some variables, read once from text such as "1 + 0.01*cos(k*x)".
///
/// Operators: + - * / ^ (power, from the right: 2^3^2 = 2^9; -x^2 = -(x^2)), comparisons (1 or 0), && ||,
/// condition ? a : b. Constants: pi, e and the given ones. Functions: sin cos tan asin acos atan sinh cosh
/// tanh exp log (natural) log10 sqrt abs erf floor; atan2(y, x), pow(x, y); min and max of two or more;
/// sign(x) = -1, 0, 1; step(x) = 0 for x < 0, else 1; gauss(x) = exp(-x^2/2).
class Formula {
 public:
  /// `what` names the formula in messages ("species.electrons.density"). Throws InputError with what, the
  /// text, the place and what was expected there; names that do not exist are answered with those that do.
  Formula(std::string text, std::vector<std::string> variables, std::map<std::string, double> constants,
          std::string what);
  Formula(const Formula& other);
  Formula& operator=(const Formula& other);
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;
  ~Formula();

  /// The value; `values` in the order of the variables. Not finite where the formula is not. One thread at a
  /// time (copies are independent); no allocation; some 30 ns.
  [[nodiscard]] double operator()(std::span<const double> values) const;
  /// Whether the formula mentions this name.
  [[nodiscard]] bool uses(std::string_view name) const;
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const std::string& what() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Values of named constants, (name, formula) in any order; formulas may use the other constants. Throws
/// InputError ("what.name: ..."): words that cannot be names, names that are taken or given twice, cycles,
/// unknown names, values that are not finite.
[[nodiscard]] std::map<std::string, double> evaluate_constants(
    const std::vector<std::pair<std::string, std::string>>& constants, const std::string& what = "constants");

}  // namespace quintet
