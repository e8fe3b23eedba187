#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "physics/spectral/flow_functions.hpp"
#include "physics/spectral/symbol.hpp"

namespace quintet::spectral {

/// c + sum over slots of S(k) F(k): all that is linear in fields whose waves are known. Slots are the
/// variables, then waves of what was computed at points.
struct LinearForm {
  std::map<int, Symbol> slots;
  double constant = 0;

  void add(const LinearForm& other);
  [[nodiscard]] LinearForm scaled(double c) const;
  friend bool operator==(const LinearForm&, const LinearForm&) = default;
  friend bool operator<(const LinearForm& a, const LinearForm& b);
};

/// A field: a linear form, plus a register of values at points (-1: none).
struct FlowValue {
  LinearForm form;
  int point = -1;

  [[nodiscard]] bool is_number() const { return point < 0 && form.slots.empty(); }
};

enum class PointOperation { number, x, y, t, field, add, multiply, divide, scale, call };

/// One instruction: a register of values at points, made of earlier ones.
struct PointInstruction {
  PointOperation operation = PointOperation::number;
  int a = -1, b = -1;  ///< registers; of `field` the form, of `call` the arguments
  int function = -1;   ///< of point_functions()
  double number = 0;   ///< of `number`, and the factor of `scale`
  friend auto operator<=>(const PointInstruction&, const PointInstruction&) = default;
};

/// Expressions of flows as a straight-line program: what is linear stays with the waves, all else is computed
/// at points. Equal registers stand once.
///
/// Level 0 is made of the variables; a slot made of a register of level n has level n + 1.
class FlowProgram {
 public:
  explicit FlowProgram(int n_variables);

  [[nodiscard]] FlowValue number(double value) const;
  [[nodiscard]] FlowValue variable(int slot) const;
  /// x, y or t.
  [[nodiscard]] FlowValue coordinate(PointOperation which);
  [[nodiscard]] FlowValue add(const FlowValue& a, const FlowValue& b);
  [[nodiscard]] FlowValue scaled(const FlowValue& a, double c);
  [[nodiscard]] FlowValue multiply(const FlowValue& a, const FlowValue& b);
  /// Throws InputError (a text without a place) for a division by the number 0.
  [[nodiscard]] FlowValue divide(const FlowValue& a, const FlowValue& b);
  [[nodiscard]] FlowValue power(const FlowValue& a, const FlowValue& b);
  /// Throws InputError where numbers have no value: sqrt(-1).
  [[nodiscard]] FlowValue call(int function, const FlowValue& a, const FlowValue& b);
  [[nodiscard]] FlowValue apply(const LinearOperator& row, const FlowValue& a);
  /// The register of all of a value; and the value that it is.
  [[nodiscard]] int at_points(const FlowValue& a);
  [[nodiscard]] FlowValue on_points(const FlowValue& a);

  [[nodiscard]] int n_variables() const { return n_variables_; }
  [[nodiscard]] const std::vector<PointInstruction>& instructions() const { return instructions_; }
  [[nodiscard]] const std::vector<LinearForm>& forms() const { return forms_; }
  /// The register of each slot after those of the variables.
  [[nodiscard]] const std::vector<int>& sources() const { return sources_; }
  [[nodiscard]] int level(int point) const { return levels_[point]; }
  [[nodiscard]] int n_levels() const;

 private:
  int make(const PointInstruction& instruction);
  int slot_of(int point);
  [[nodiscard]] int level_of_slot(int slot) const;

  int n_variables_;
  std::vector<PointInstruction> instructions_;
  std::vector<int> levels_, sources_;
  std::vector<LinearForm> forms_;
  std::map<PointInstruction, int> known_;
  std::map<LinearForm, int> known_forms_;
};

}  // namespace quintet::spectral
