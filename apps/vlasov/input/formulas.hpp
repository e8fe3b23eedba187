#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/config/schema.hpp"
#include "io/formula/formula.hpp"

namespace quintet::vlasov {

/// What the formulas of an input file mean: its constants, and the names of its coordinates. Every message
/// begins with place and key.
class Formulas {
 public:
  Formulas(const std::vector<std::pair<std::string, FormulaText>>& constants, int cdim, int vdim);

  /// A number: a formula of the constants alone. Throws InputError where it is not finite.
  [[nodiscard]] double number(const FormulaText& text, const std::string& key) const;
  /// The same, above 0.
  [[nodiscard]] double positive(const FormulaText& text, const std::string& key) const;
  [[nodiscard]] std::vector<double> numbers(const std::vector<FormulaText>& texts,
                                            const std::string& key) const;

  /// A function of x [cdim].
  [[nodiscard]] Formula of_position(const FormulaText& text, const std::string& key) const;
  /// A function of x and t [cdim + 1].
  [[nodiscard]] Formula of_position_and_time(const FormulaText& text, const std::string& key) const;
  /// A function of x and v [cdim + vdim].
  [[nodiscard]] Formula of_phase(const FormulaText& text, const std::string& key) const;
  /// A function of the velocity grid's own coordinate s [1].
  [[nodiscard]] Formula of_grid_coordinate(const FormulaText& text, const std::string& key) const;
  /// A function of t [1].
  [[nodiscard]] Formula of_time(const FormulaText& text, const std::string& key) const;

 private:
  std::map<std::string, double> constants_;
  std::vector<std::string> position_, velocity_;
};

/// "case.yaml:3:9: key": how messages about this formula begin.
[[nodiscard]] std::string place_and_key(const FormulaText& text, const std::string& key);

}  // namespace quintet::vlasov
