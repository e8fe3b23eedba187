#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/config/schema.hpp"
#include "surrogates/flow/equations/pde_system.hpp"

namespace quintet::flow {

/// An entry of `equations.boundaries`.
struct BoundaryOptions {
  std::string at;        ///< "z.lower", "z.upper"
  FormulaText equation;  ///< "b - 0.5": 0 there
  double weight = 1;
};
void describe(Schema& schema, BoundaryOptions& options);

/// Section `equations`.
struct EquationOptions {
  std::vector<std::pair<std::string, FormulaText>> interior;   ///< name and text
  std::vector<std::pair<std::string, FormulaText>> constants;  ///< name and formula of parameters and others
  std::vector<BoundaryOptions> boundaries;
};
void describe(Schema& schema, EquationOptions& options);

/// The name of time among the axes of a flow, which no axis of a file may have.
inline constexpr const char* time_name = "t";
[[nodiscard]] inline bool is_space(const std::string& axis) { return !axis.empty() && axis != time_name; }

/// An end of an axis.
struct AxisEnd {
  int axis = 0;
  bool upper = false;
  friend bool operator==(const AxisEnd&, const AxisEnd&) = default;
};

/// The conditions at one wall.
struct WallEquations {
  AxisEnd end;
  PdeSystem system;
  std::vector<double> weights;  ///< [equation]
};

/// Equations ready for use, and the constants that they need of each sample's parameters.
class FlowEquations {
 public:
  /// @param parameters names of the numbers that each sample has ("Ra", "Pr")
  /// Throws InputError: unknown names, texts that cannot be read, walls of no axis, of time, or of a periodic
  /// one.
  FlowEquations(const EquationOptions& options, const std::vector<std::string>& fields,
                const std::array<std::string, n_axes>& axes, const std::array<bool, n_axes>& periodic,
                const std::vector<std::string>& parameters);

  [[nodiscard]] const PdeSystem& interior() const { return interior_; }
  [[nodiscard]] const std::vector<WallEquations>& walls() const { return walls_; }
  /// Values of the constants for a sample with these parameters. Throws InputError (a parameter that is
  /// missing and stands in a text, a formula that has no value).
  [[nodiscard]] std::vector<double> constants(const std::map<std::string, double>& parameters) const;

 private:
  std::vector<std::string> parameters_, names_;  ///< names_: parameters, then constants
  std::set<std::string> used_;                   ///< names in all texts
  std::vector<std::pair<std::string, std::string>> formulas_;
  PdeSystem interior_;
  std::vector<WallEquations> walls_;
};

/// "case.yaml:3:9: key": how messages about this text begin.
[[nodiscard]] std::string place_and_key(const FormulaText& text, const std::string& key);

}  // namespace quintet::flow
