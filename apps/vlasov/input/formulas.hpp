#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/vlasov/input/run_options.hpp"
#include "io/formula/formula.hpp"

namespace quintet::vlasov {

/// All formulas of an input, read in one pass: its constants, then each formula as a function of what its key
/// admits (coordinates of x and v, t, the velocity grid's own coordinate s), or as a number. Whoever needs
/// one asks for it by its key, "species.0.charge". Every message begins with place and key.
class Formulas {
 public:
  /// Throws one InputError that names all formulas that cannot be read and numbers that are not finite.
  Formulas(const RunOptions& options, int cdim, int vdim);

  /// A number: a formula of the constants alone.
  [[nodiscard]] double number(const std::string& key) const;
  /// A positive number: a formula of the constants alone. Throws InputError unless it is above 0.
  [[nodiscard]] double positive(const std::string& key) const;
  /// A function: of x [cdim], of x and t [cdim + 1], of x and v [cdim + vdim], of t [1] or of s [1].
  [[nodiscard]] const Formula& function(const std::string& key) const;
  /// The value of a function that is the same for all arguments, as it names none; nothing of others.
  [[nodiscard]] std::optional<double> constant(const std::string& key) const;
  /// place_and_key() of the formula.
  [[nodiscard]] const std::string& place(const std::string& key) const;

 private:
  struct Entry {
    Formula formula;
    std::vector<std::string> arguments;
    bool is_number = false;
    double value = 0;  ///< of a number
  };
  [[nodiscard]] const Entry& entry(const std::string& key) const;

  std::shared_ptr<const std::map<std::string, Entry>> entries_;
};

/// "case.yaml:3:9: key": how messages about this text begin.
[[nodiscard]] std::string place_and_key(const FormulaText& text, const std::string& key);

}  // namespace quintet::vlasov
