#include "physics/spectral/flow_program.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "io/log/error.hpp"

namespace quintet::spectral {

namespace {

constexpr std::size_t most_instructions = 5000;
}  // namespace

void LinearForm::add(const LinearForm& other) {
  constant += other.constant;
  for (const auto& [slot, symbol] : other.slots) {
    slots[slot].add(symbol);
    if (slots[slot].is_zero()) slots.erase(slot);
  }
}

LinearForm LinearForm::scaled(double c) const {
  LinearForm made;
  if (c == 0) return made;
  made.constant = c * constant;
  for (const auto& [slot, symbol] : slots) made.slots[slot] = symbol.scaled(c);
  return made;
}

bool operator<(const LinearForm& a, const LinearForm& b) {
  return std::tie(a.constant, a.slots) < std::tie(b.constant, b.slots);
}

FlowProgram::FlowProgram(int n_variables) : n_variables_(n_variables) {}

FlowValue FlowProgram::number(double value) const {
  QUINTET_CHECK(!std::isnan(value), "this has no value, as sqrt(-1) and log(-1) have none");
  return {{{}, value}, -1};
}

FlowValue FlowProgram::variable(int slot) const { return {{{{slot, Symbol::number(1)}}, 0}, -1}; }

FlowValue FlowProgram::coordinate(PointOperation which) { return {{}, make({which})}; }

int FlowProgram::level_of_slot(int slot) const {
  return slot < n_variables_ ? 0 : levels_[sources_[slot - n_variables_]] + 1;
}

int FlowProgram::n_levels() const {
  return levels_.empty() ? 1 : 1 + *std::max_element(levels_.begin(), levels_.end());
}

int FlowProgram::make(const PointInstruction& instruction) {
  if (const auto found = known_.find(instruction); found != known_.end()) return found->second;
  QUINTET_CHECK(instructions_.size() < most_instructions, "the equations make more than {} operations",
                most_instructions);
  int level = 0;
  if (instruction.operation == PointOperation::field) {
    for (const auto& [slot, symbol] : forms_[instruction.a].slots)
      level = std::max(level, level_of_slot(slot));
  } else {
    for (const int operand : {instruction.a, instruction.b})
      if (operand >= 0) level = std::max(level, levels_[operand]);
  }
  const int point = instructions_.size();
  instructions_.push_back(instruction);
  levels_.push_back(level);
  known_.emplace(instruction, point);
  return point;
}

int FlowProgram::slot_of(int point) {
  const auto found = std::find(sources_.begin(), sources_.end(), point);
  if (found == sources_.end()) sources_.push_back(point);
  return n_variables_ +
         static_cast<int>(std::find(sources_.begin(), sources_.end(), point) - sources_.begin());
}

int FlowProgram::at_points(const FlowValue& a) {
  if (a.form.slots.empty() && a.point >= 0 && a.form.constant == 0) return a.point;
  int linear = -1;
  if (a.form.slots.empty()) {
    linear = make({PointOperation::number, -1, -1, -1, a.form.constant});
  } else {
    const auto [place, is_new] = known_forms_.emplace(a.form, static_cast<int>(forms_.size()));
    if (is_new) forms_.push_back(a.form);
    linear = make({PointOperation::field, place->second});
  }
  return a.point < 0 ? linear : make({PointOperation::add, linear, a.point});
}

FlowValue FlowProgram::on_points(const FlowValue& a) {
  FlowValue made;
  made.point = at_points(a);
  return made;
}

FlowValue FlowProgram::add(const FlowValue& a, const FlowValue& b) {
  FlowValue sum = a;
  sum.form.add(b.form);
  if (a.point >= 0 && b.point >= 0) sum.point = make({PointOperation::add, a.point, b.point});
  if (a.point < 0) sum.point = b.point;
  return sum;
}

FlowValue FlowProgram::scaled(const FlowValue& a, double c) {
  if (c == 1) return a;
  if (c == 0) return number(0);
  return {a.form.scaled(c), a.point < 0 ? -1 : make({PointOperation::scale, a.point, -1, -1, c})};
}

FlowValue FlowProgram::multiply(const FlowValue& a, const FlowValue& b) {
  if (a.is_number()) return scaled(b, a.form.constant);
  if (b.is_number()) return scaled(a, b.form.constant);
  const int left = at_points(a), right = at_points(b);
  return {{}, make({PointOperation::multiply, std::min(left, right), std::max(left, right)})};
}

FlowValue FlowProgram::divide(const FlowValue& a, const FlowValue& b) {
  QUINTET_CHECK(!b.is_number() || b.form.constant != 0, "a division by 0");
  if (b.is_number()) return scaled(a, 1 / b.form.constant);
  const int left = at_points(a), right = at_points(b);
  return {{}, make({PointOperation::divide, left, right})};
}

FlowValue FlowProgram::power(const FlowValue& a, const FlowValue& b) {
  constexpr int most = 8;  // whole powers up to this are products
  const double exponent = b.is_number() ? b.form.constant : 0.5;
  if (!a.is_number() && exponent == std::floor(exponent) && exponent >= 0 && exponent <= most) {
    FlowValue product = exponent == 0 ? number(1) : a;
    for (int i = 1; i < static_cast<int>(exponent); ++i) product = multiply(product, a);
    return product;
  }
  return call(0, a, b);
}

FlowValue FlowProgram::call(int function, const FlowValue& a, const FlowValue& b) {
  const PointFunction& row = point_functions()[function];
  if (a.is_number() && b.is_number()) return number(row.value(a.form.constant, b.form.constant));
  const int first = at_points(a), second = row.n_arguments > 1 ? at_points(b) : -1;
  return {{}, make({PointOperation::call, first, second, function})};
}

FlowValue FlowProgram::apply(const LinearOperator& row, const FlowValue& a) {
  FlowValue made;
  LinearForm all = a.form;
  if (a.point >= 0) all.add({{{slot_of(a.point), Symbol::number(1)}}, 0});
  for (const auto& [slot, symbol] : all.slots) made.form.slots[slot] = row.apply(symbol);
  return made;
}

}  // namespace quintet::spectral
