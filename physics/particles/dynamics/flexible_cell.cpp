#include "physics/particles/dynamics/flexible_cell.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/particles/dynamics/dynamics_random.hpp"

namespace quintet {

namespace {

// xx yy zz xy xz yz
constexpr int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};

double trace(const SymmetricTensor& t) { return t[0] + t[1] + t[2]; }

/// A:B = sum_kl A_kl B_kl.
double contraction(const SymmetricTensor& a, const SymmetricTensor& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + 2 * (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

Mat3 full(const SymmetricTensor& t) { return {t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2]}; }

int count(const std::array<bool, 3>& axes) { return int{axes[0]} + int{axes[1]} + int{axes[2]}; }

double degrees_of(const FlexibleCellOptions& options) {
  const int n = count(options.axes);
  if (options.coupling == CellCoupling::isotropic) return 1;
  return options.coupling == CellCoupling::anisotropic ? n : n * (n + 1) / 2;
}

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

FlexibleCell::FlexibleCell(const FlexibleCellOptions& options, std::uint64_t seed)
    : options_(options), seed_(seed), degrees_(degrees_of(options)) {
  if (options.thermostat == NptThermostat::nose_hoover)
    chain_.emplace(options.relaxation_time, options.chain_length, options.inertia_kt);
}

SymmetricTensor FlexibleCell::allowed(const SymmetricTensor& tensor) const {
  const auto& axes = options_.axes;
  SymmetricTensor result{};
  double mean = 0;
  for (int k = 0; k < 3; ++k)
    if (axes[k]) mean += tensor[k] / count(axes);
  for (int k = 0; k < 3; ++k)
    if (axes[k]) result[k] = options_.coupling == CellCoupling::isotropic ? mean : tensor[k];
  if (options_.coupling == CellCoupling::triclinic)
    for (int c = 3; c < 6; ++c)
      if (axes[row[c]] && axes[column[c]]) result[c] = tensor[c];
  return result;
}

SymmetricTensor FlexibleCell::target(const Tick& tick) const {
  return options_.pressure.value_or(SymmetricTensor{tick.pressure, tick.pressure, tick.pressure, 0, 0, 0});
}

double FlexibleCell::mass(const ParticleSystem& system) const {
  return (system.degrees_of_freedom + 3) * options_.inertia_kt * options_.relaxation_time *
         options_.relaxation_time / 3;
}

double FlexibleCell::kinetic(const ParticleSystem& system) const {
  return 0.5 * mass(system) * contraction(rate_, rate_);
}

void FlexibleCell::accelerate(const Exec& exec, const ParticleSystem& system, const Tick& tick) {
  const double volume = system.atoms.box.volume();
  const auto kinetic = total_kinetic_tensor(exec, system);
  const auto pressure = pressure_tensor(kinetic, system.total.virial, volume), wanted = target(tick);
  SymmetricTensor force;
  for (int c = 0; c < 6; ++c) force[c] = volume * (pressure[c] - wanted[c]);
  for (int k = 0; k < 3; ++k) force[k] += 2 * trace(kinetic) / system.degrees_of_freedom;
  force = allowed(force);
  for (int c = 0; c < 6; ++c) rate_[c] += tick.dt / 2 * force[c] / mass(system);
}

/// v = v exp(-(nu + Tr nu / N_f) dt / 2).
void FlexibleCell::slow_atoms(const Exec& exec, ParticleSystem& system, const Tick& tick) const {
  SymmetricTensor exponent;
  for (int c = 0; c < 6; ++c) exponent[c] = -tick.dt / 2 * rate_[c];
  for (int k = 0; k < 3; ++k) exponent[k] -= tick.dt / 2 * trace(rate_) / system.degrees_of_freedom;
  transform_velocities(exec, system.atoms, exponential(full(exponent)));
}

void FlexibleCell::thermalise_chain(const ParticleSystem& system, const Tick& tick) {
  if (!chain_) return;
  const double factor = chain_->thermalise(tick.dt, tick.kt, degrees_, kinetic(system));
  for (double& component : rate_) component *= factor;
}

/// nu = c nu + sqrt((1 - c^2) kT / W) xi, c = exp(-dt / tau), what may move of it; a component off the
/// diagonal counts twice in |nu|^2 and has half the variance.
void FlexibleCell::add_noise(const ParticleSystem& system, const Tick& tick) {
  if (!options_.thermostat || chain_) return;
  const double before = kinetic(system), c = std::exp(-tick.dt / options_.relaxation_time);
  const double sigma = std::sqrt((1 - c * c) * tick.kt / mass(system));
  RandomSequence random(seed_, random_stream::cell, tick.step);
  SymmetricTensor noise;
  for (int k = 0; k < 6; ++k) noise[k] = sigma * random.normal() * (k < 3 ? 1 : std::sqrt(0.5));
  noise = allowed(noise);
  for (int k = 0; k < 6; ++k) rate_[k] = c * rate_[k] + noise[k];
  work_ -= kinetic(system) - before;
}

void FlexibleCell::before(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  thermalise_chain(system, tick);
  accelerate(exec, system, tick);
  slow_atoms(exec, system, tick);
}

void FlexibleCell::middle(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  SymmetricTensor strain;
  for (int c = 0; c < 6; ++c) {
    strain[c] = rate_[c] * tick.dt;
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
  thermalise_chain(system, tick);
  add_noise(system, tick);
  energy_ = kinetic(system) + work_ + (chain_ ? chain_->energy() : 0);
}

std::vector<double> FlexibleCell::state() const {
  std::vector<double> values{energy_, work_};
  values.insert(values.end(), rate_.begin(), rate_.end());
  if (chain_) {
    const auto chain = chain_->state();
    values.insert(values.end(), chain.begin(), chain.end());
  }
  return values;
}

void FlexibleCell::restore(std::span<const double> state) {
  energy_ = state[0];
  work_ = state[1];
  std::copy_n(state.begin() + 2, 6, rate_.begin());
  if (chain_) chain_->restore(state.subspan(8));
}

}  // namespace quintet
