#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "physics/spectral/flow_program.hpp"

namespace quintet::spectral {

/// A formula as the user wrote it.
struct FlowText {
  std::string name;  ///< of what it defines: "w"
  std::string text;  ///< "-u*dx(w) - v*dy(w) + nu*lap(w)"
  std::string what;  ///< begins messages: "input.yaml:12:5: equations.w"
};

/// Equations of a flow of some variables: d variable/dt = its text.
struct FlowEquations {
  std::vector<FlowText> variables;
  std::vector<FlowText> diagnosed;  ///< names for expressions, in any order
  std::map<std::string, double> parameters;
  bool has_time = true;  ///< t has a meaning in the formulas
};

/// Reads formulas of a flow into a program: operators + - * / ^ and parentheses, point_functions(),
/// linear_operators(), and the names of variables, of what is diagnosed, of parameters, x, y, t, pi and e.
class FlowReader {
 public:
  /// Throws InputError for a name that cannot be one, or that means two things.
  explicit FlowReader(FlowEquations equations);

  /// The value of a formula. Throws InputError: what, the text, the character and what was expected there;
  /// names that do not exist are answered with those that do; what is diagnosed by itself.
  [[nodiscard]] FlowValue read(const FlowText& text);
  /// The value of a variable or of what is diagnosed. Throws InputError for other names.
  [[nodiscard]] FlowValue named(const std::string& name, const std::string& what);
  /// Variables, then what is diagnosed.
  [[nodiscard]] std::vector<std::string> field_names() const;

  [[nodiscard]] FlowProgram& program() { return program_; }
  [[nodiscard]] const FlowEquations& equations() const { return equations_; }
  /// All names that stand for a number or field.
  [[nodiscard]] std::vector<std::string> value_names() const;

 private:
  friend class FlowParser;
  /// The value of a name, if it has one.
  [[nodiscard]] bool find(const std::string& name, FlowValue& value);

  FlowEquations equations_;
  FlowProgram program_;
  std::map<std::string, FlowValue> diagnosed_;  ///< those that were read
  std::vector<std::string> under_way_;
};

}  // namespace quintet::spectral
