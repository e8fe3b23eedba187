#include "physics/spectral/flow_machine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::spectral {

namespace {

constexpr int block = 256;  ///< points: a register of it is 2 KB

/// Registers that a later level or a slot needs: whole arrays.
std::vector<bool> outliving(const FlowProgram& program, const std::vector<FlowValue>& outputs) {
  const auto& instructions = program.instructions();
  std::vector<bool> kept(instructions.size());
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const auto& one = instructions[i];
    if (one.operation == PointOperation::field) {
      kept[i] = true;
      continue;
    }
    for (const int operand : {one.a, one.b})
      if (operand >= 0 && program.level(operand) < program.level(i)) kept[operand] = true;
  }
  for (const int source : program.sources()) kept[source] = true;
  for (const auto& output : outputs)
    if (output.point >= 0) kept[output.point] = true;
  return kept;
}

}  // namespace

FlowMachine::FlowMachine(WaveGrid& grid, FlowProgram program, std::vector<FlowValue> outputs)
    : grid_(grid), program_(std::move(program)), outputs_(std::move(outputs)), scratch_(grid.make_modes()) {
  for (const auto& form : program_.forms()) forms_.push_back(factors_of(form));
  for (const auto& output : outputs_) output_forms_.push_back(factors_of(output.form));
  at_points_.resize(program_.n_levels());
  for (int i = 0; i < std::ssize(program_.instructions()); ++i)
    if (program_.instructions()[i].operation != PointOperation::field)
      at_points_[program_.level(i)].push_back(i);
  const auto outlives = outliving(program_, outputs_);
  for (const bool one : outlives) kept_.emplace_back(one ? grid_.n_points() : 0);
  slots_.resize(program_.n_variables());
  for (std::size_t i = 0; i < program_.sources().size(); ++i) slots_.push_back(grid_.make_modes());
  space_.resize(program_.instructions().size() * block * Exec().concurrency());
}

double FlowMachine::bytes(const FlowProgram& program, const std::vector<FlowValue>& outputs, double n_points,
                          double n_modes) {
  double factors = 0;
  for (const auto& output : outputs) factors += output.form.slots.size();
  for (const auto& form : program.forms()) factors += form.slots.size();
  const auto outlives = outliving(program, outputs);
  const double registers = std::count(outlives.begin(), outlives.end(), true);
  const auto slots = static_cast<double>(program.sources().size()) + 1;
  return sizeof(double) * (registers * n_points + 2 * (factors + slots) * n_modes);
}

std::vector<FlowMachine::SlotFactor> FlowMachine::factors_of(const LinearForm& form) const {
  std::vector<SlotFactor> factors;
  const int rows = 2 * grid_.waves_y() + 1, columns = grid_.columns_here();
  for (const auto& [slot, symbol] : form.slots) {
    SlotFactor factor{slot, {}, {}};
    for (int l = 0; l < rows; ++l)
      for (int j = 0; j < columns; ++j) {
        const auto value = symbol.at(grid_.k_x(j), grid_.k_y(l));
        factor.re.push_back(value.real());
        factor.im.push_back(value.imag());
      }
    factors.push_back(std::move(factor));
  }
  return factors;
}

FlowMachine::Transforms FlowMachine::transforms(int n_outputs) const {
  const auto& instructions = program_.instructions();
  const auto fields = std::count_if(instructions.begin(), instructions.end(),
                                    [](const auto& one) { return one.operation == PointOperation::field; });
  const auto at_points = std::count_if(outputs_.begin(), outputs_.begin() + n_outputs,
                                       [](const auto& output) { return output.point >= 0; });
  return {static_cast<int>(fields), static_cast<int>(program_.sources().size() + at_points)};
}

void FlowMachine::add_up(const std::vector<SlotFactor>& factors, double constant, const Modes& modes) const {
  const std::int64_t n = grid_.n_modes();
  double *const to_re = modes.re.data(), *const to_im = modes.im.data();
  const auto for_waves = [n](const auto& f) {
    Kokkos::parallel_for("linear form", Kokkos::RangePolicy<Exec>(0, n), f);
  };
  if (factors.empty()) for_waves([=](std::int64_t i) { to_re[i] = to_im[i] = 0; });
  bool is_first = true;
  for (const auto& factor : factors) {
    const Modes& from = slots_[factor.slot];
    const double *const f_re = factor.re.data(), *const f_im = factor.im.data();
    const double *const re = from.re.data(), *const im = from.im.data();
    if (is_first)
      for_waves([=](std::int64_t i) {
        to_re[i] = f_re[i] * re[i] - f_im[i] * im[i];
        to_im[i] = f_re[i] * im[i] + f_im[i] * re[i];
      });
    else
      for_waves([=](std::int64_t i) {
        to_re[i] += f_re[i] * re[i] - f_im[i] * im[i];
        to_im[i] += f_re[i] * im[i] + f_im[i] * re[i];
      });
    is_first = false;
  }
  if (constant != 0 && n > 0 && grid_.first_column() == 0) modes.re(0) += constant;
}

void FlowMachine::to_modes(int output, const Modes& modes) {
  const FlowValue& value = outputs_[output];
  add_up(output_forms_[output], value.form.constant, modes);
  if (value.point < 0) return;
  grid_.to_modes(kept_[value.point].data(), scratch_);
  double *const to_re = modes.re.data(), *const to_im = modes.im.data();
  const double *const re = scratch_.re.data(), *const im = scratch_.im.data();
  Kokkos::parallel_for("sum of waves",
                       Kokkos::RangePolicy<Exec>(0, static_cast<std::int64_t>(grid_.n_modes())),
                       [=](std::int64_t i) {
                         to_re[i] += re[i];
                         to_im[i] += im[i];
                       });
}

void FlowMachine::run(const std::vector<Modes>& state, double time) {
  QUINTET_ASSERT(std::ssize(state) == program_.n_variables(), "{} variables for a program of {}",
                 state.size(), program_.n_variables());
  std::copy(state.begin(), state.end(), slots_.begin());
  const auto& instructions = program_.instructions();
  const auto& sources = program_.sources();
  for (int level = 0; level < program_.n_levels(); ++level) {
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].operation != PointOperation::field || program_.level(i) != level) continue;
      const int form = instructions[i].a;
      add_up(forms_[form], program_.forms()[form].constant, scratch_);
      grid_.to_points(scratch_, kept_[i].data());
    }
    run_points(level, time);
    for (std::size_t s = 0; s < sources.size(); ++s)
      if (program_.level(sources[s]) == level)
        grid_.to_modes(kept_[sources[s]].data(), slots_[program_.n_variables() + s]);
  }
}

void FlowMachine::run_points(int level, double time) {
  const auto& points = at_points_[level];
  if (points.empty()) return;
  const std::int64_t n = grid_.n_points();
  const std::int64_t n_blocks = (n + block - 1) / block;
  const std::size_t share = program_.instructions().size() * block;
  const auto run = [&](std::int64_t b, double* space) {
    run_block(points, b * block, std::min<std::int64_t>(block, n - b * block), time, space);
  };
  if (Exec().concurrency() == 1) {
    for (std::int64_t b = 0; b < n_blocks; ++b) run(b, space_.data());
    return;
  }
  const Kokkos::Experimental::UniqueToken<Exec> tokens;
  Kokkos::parallel_for("formulas at points", Kokkos::RangePolicy<Exec>(0, n_blocks), [&](std::int64_t b) {
    const auto token = tokens.acquire();
    run(b, space_.data() + token * share);
    tokens.release(token);
  });
}

// Over 40 lines, for it is one switch: what each instruction does to a block of points.
void FlowMachine::run_block(const std::vector<int>& points, std::size_t begin, int width, double time,
                            double* space) {
  const auto place = [&](int point) {
    auto& kept = kept_[point];
    return kept.empty() ? space + std::int64_t{point} * block : kept.data() + begin;
  };
  const double dx = grid_.length_x() / grid_.n_x(), dy = grid_.length_y() / grid_.n_y();
  for (const int point : points) {
    const PointInstruction& one = program_.instructions()[point];
    double* const out = place(point);
    const double *const a = one.a >= 0 ? place(one.a) : nullptr, *const b =
                                                                     one.b >= 0 ? place(one.b) : nullptr;
    switch (one.operation) {
      case PointOperation::number:
        std::fill_n(out, width, one.number);
        break;
      case PointOperation::t:
        std::fill_n(out, width, time);
        break;
      case PointOperation::x:
        for (int i = 0; i < width; ++i) out[i] = dx * ((begin + i) % grid_.n_x());
        break;
      case PointOperation::y:
        for (int i = 0; i < width; ++i)
          out[i] = dy * (grid_.first_row() + static_cast<double>((begin + i) / grid_.n_x()));
        break;
      case PointOperation::add:
        for (int i = 0; i < width; ++i) out[i] = a[i] + b[i];
        break;
      case PointOperation::multiply:
        for (int i = 0; i < width; ++i) out[i] = a[i] * b[i];
        break;
      case PointOperation::divide:
        for (int i = 0; i < width; ++i) out[i] = a[i] / b[i];
        break;
      case PointOperation::scale:
        for (int i = 0; i < width; ++i) out[i] = one.number * a[i];
        break;
      case PointOperation::call: {
        const auto value = point_functions()[one.function].value;
        for (int i = 0; i < width; ++i) out[i] = value(a[i], b == nullptr ? 0 : b[i]);
        break;
      }
      case PointOperation::field:
        break;  // filled from its waves
    }
  }
}

double FlowMachine::maximum(int output) const {
  double most = -std::numeric_limits<double>::infinity();
  bool has_nan = false;
  for (const double value : values(output)) {
    most = std::max(most, value);
    has_nan = has_nan || std::isnan(value);
  }
  has_nan = grid_.comm().any(has_nan);
  most = grid_.comm().maximum(most);
  return has_nan ? std::numeric_limits<double>::quiet_NaN() : most;
}

double FlowMachine::mean(int output) const {
  const FlowValue& value = outputs_[output];
  double sum = 0;
  if (grid_.n_modes() > 0 && grid_.first_column() == 0) {
    sum = value.form.constant;
    for (const auto& factor : output_forms_[output]) sum += factor.re[0] * slots_[factor.slot].re(0);
  }
  if (value.point >= 0) {
    double points = 0;
    for (const double one : kept_[value.point]) points += one;
    sum += points / (static_cast<double>(grid_.n_x()) * grid_.n_y());
  }
  return grid_.comm().sum(sum);
}

}  // namespace quintet::spectral
