#include "physics/particles/dynamics/flexible_cell.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet {

namespace {

double trace(const SymmetricTensor& t) { return t[0] + t[1] + t[2]; }

Mat3 full(const SymmetricTensor& t) { return {t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2]}; }

}  // namespace

Mat3 exponential(const Mat3& m) {
  // Halved until small, then a series of ten terms: 0.1^11 / 11! is far below round-off.
  double size = 0;
  for (double x : m) size = std::max(size, std::abs(x));
  constexpr double most_halvings = 1100;  // of the largest number there is; what is infinite stays so
  const int halvings =
      size > 0.03 ? static_cast<int>(std::min(std::ceil(std::log2(size / 0.03)), most_halvings)) : 0;
  Mat3 small = m, power{1, 0, 0, 0, 1, 0, 0, 0, 1}, sum = power;
  for (double& x : small) x = std::ldexp(x, -halvings);
  for (int k = 1; k <= 10; ++k) {
    power = product(power, small);
    for (int i = 0; i < 9; ++i) {
      power[i] /= k;
      sum[i] += power[i];
    }
  }
  for (int k = 0; k < halvings; ++k) sum = product(sum, sum);
  return sum;
}

double squareness(const Box& box) {
  double lengths = 1;
  const auto& r = box.rows();
  for (int k = 0; k < 3; ++k)
    lengths *= std::sqrt(r[3 * k] * r[3 * k] + r[3 * k + 1] * r[3 * k + 1] + r[3 * k + 2] * r[3 * k + 2]);
  return box.volume() / lengths;
}

FlexibleCell::FlexibleCell(const FlexibleCellOptions& options, std::unique_ptr<CellThermostat> thermostat)
    : options_(options), cell_{options.freedom}, thermostat_(std::move(thermostat)) {}

SymmetricTensor FlexibleCell::target(const Tick& tick) const {
  return options_.pressure.value_or(SymmetricTensor{tick.pressure, tick.pressure, tick.pressure, 0, 0, 0});
}

double FlexibleCell::mass(const ParticleSystem& system) const {
  return (system.degrees_of_freedom + 3) * options_.inertia_kt * options_.relaxation_time *
         options_.relaxation_time / 3;
}

void FlexibleCell::accelerate(const Exec& exec, const ParticleSystem& system, const Tick& tick) {
  const double volume = system.atoms.box.volume();
  const auto kinetic = total_kinetic_tensor(exec, system);
  const auto pressure = pressure_tensor(kinetic, system.total.virial, volume), wanted = target(tick);
  SymmetricTensor force;
  for (int c = 0; c < 6; ++c) force[c] = volume * (pressure[c] - wanted[c]);
  for (int k = 0; k < 3; ++k) force[k] += 2 * trace(kinetic) / system.degrees_of_freedom;
  force = cell_.freedom.allowed(force);
  for (int c = 0; c < 6; ++c) cell_.rate[c] += tick.dt / 2 * force[c] / cell_.mass;
}

/// v = v exp(-(nu + Tr nu / N_f) dt / 2).
void FlexibleCell::slow_atoms(const Exec& exec, ParticleSystem& system, const Tick& tick) const {
  SymmetricTensor exponent;
  for (int c = 0; c < 6; ++c) exponent[c] = -tick.dt / 2 * cell_.rate[c];
  for (int k = 0; k < 3; ++k) exponent[k] -= tick.dt / 2 * trace(cell_.rate) / system.degrees_of_freedom;
  transform_velocities(exec, system.atoms, exponential(full(exponent)));
}

void FlexibleCell::before(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  cell_.mass = mass(system);
  if (thermostat_) thermostat_->before(cell_, tick);
  accelerate(exec, system, tick);
  slow_atoms(exec, system, tick);
}

void FlexibleCell::middle(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  SymmetricTensor strain;
  for (int c = 0; c < 6; ++c) {
    strain[c] = cell_.rate[c] * tick.dt;
    if (!(std::abs(strain[c]) < 0.1))
      throw NumericalError(
          fmt::format("step {}: the cell would change by {:.3g} % in one step; lengthen "
                      "integrator.barostat.relaxation_time, minimise first, or start nearer to the target",
                      tick.step, 100 * strain[c]));
  }
  const double growth = trace(strain), volume = system.atoms.box.volume();
  work_ += contraction(target(tick), strain) * volume * (growth == 0 ? 1 : std::expm1(growth) / growth);
  deform_cell(exec, system.atoms, exponential(full(strain)));
  if (squareness(system.atoms.box) < least_squareness)
    throw NumericalError(fmt::format(
        "step {}: the cell has become too skew (its volume is {:.3g} of the product of its edges); start "
        "anew from the last frame with shorter rows (b - a for b, ...), or choose coupling anisotropic",
        tick.step, squareness(system.atoms.box)));
}

void FlexibleCell::after(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  slow_atoms(exec, system, tick);
  accelerate(exec, system, tick);
  if (thermostat_) work_ -= thermostat_->after(cell_, tick);
  energy_ = cell_.kinetic() + work_ + (thermostat_ ? thermostat_->energy() : 0);
}

std::vector<double> FlexibleCell::state() const {
  std::vector<double> values{energy_, work_};
  values.insert(values.end(), cell_.rate.begin(), cell_.rate.end());
  if (thermostat_) {
    const auto rest = thermostat_->state();
    values.insert(values.end(), rest.begin(), rest.end());
  }
  return values;
}

void FlexibleCell::restore(std::span<const double> state) {
  energy_ = state[0];
  work_ = state[1];
  std::copy_n(state.begin() + 2, 6, cell_.rate.begin());
  if (thermostat_) thermostat_->restore(state.subspan(8));
}

}  // namespace quintet
