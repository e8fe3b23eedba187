#include "physics/particles/dynamics/relaxing_cell.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/flexible_cell.hpp"

namespace quintet {

void RelaxingCell::begin(const Exec& exec, const ParticleSystem& system) {
  n_atoms_ = system.atoms.n_global;
  spacing_ = std::cbrt(system.atoms.box.volume() / n_atoms_);
  mass_ = system.domain.comm().sum(momentum_and_mass(exec, system.atoms)[3]) / n_atoms_;
  stop();
}

SymmetricTensor RelaxingCell::force(const ParticleSystem& system) const {
  const double volume = system.atoms.box.volume();
  SymmetricTensor force = pressure_tensor({}, system.total.virial, volume);
  for (int c = 0; c < 6; ++c) force[c] = volume * (force[c] - goal_.pressure[c]);
  return goal_.freedom.allowed(force);
}

std::array<double, 3> RelaxingCell::products(const ParticleSystem& system) const {
  const double square = n_atoms_ * spacing_ * spacing_;  // L^2
  const auto f = force(system);
  return {contraction(f, rate_), square * contraction(rate_, rate_), contraction(f, f) / square};
}

void RelaxingCell::kick(const ParticleSystem& system, double dt) {
  const auto f = force(system);
  const double mass = mass_ * n_atoms_ * spacing_ * spacing_;
  for (int c = 0; c < 6; ++c) rate_[c] += f[c] * dt / mass * units::force_to_acceleration;
}

void RelaxingCell::mix(const ParticleSystem& system, double mixing, double ratio) {
  const auto f = force(system);
  for (int c = 0; c < 6; ++c)
    rate_[c] = (1 - mixing) * rate_[c] + mixing * ratio * f[c] / (n_atoms_ * spacing_ * spacing_);
}

void RelaxingCell::deform(const Exec& exec, ParticleSystem& system, double dt) const {
  const auto& r = rate_;
  deform_cell(exec, system.atoms,
              exponential({r[0] * dt, r[3] * dt, r[4] * dt, r[3] * dt, r[1] * dt, r[5] * dt, r[4] * dt,
                           r[5] * dt, r[2] * dt}));
  constexpr double most = 8;  // lengths twice those of the start
  const double growth = system.atoms.box.volume() / (n_atoms_ * spacing_ * spacing_ * spacing_);
  if (!(growth < most && growth > 1 / most))
    throw NumericalError(fmt::format(
        "the cell has {:.3g} times the volume it began with, and does not come to rest: nothing holds the "
        "atoms together at this pressure, or the start is far from a structure; give another pressure or "
        "start, or leave out integrator.minimiser.cell",
        growth));
  if (squareness(system.atoms.box) < least_squareness)
    throw NumericalError(fmt::format(
        "the cell has become too skew (its volume is {:.3g} of the product of its edges): start anew from "
        "the last frame with shorter rows (b - a for b, ...), or choose coupling anisotropic",
        squareness(system.atoms.box)));
}

double RelaxingCell::speed() const {
  double most = 0;
  for (const double component : rate_) most = std::max(most, std::abs(component));
  return spacing_ * most;
}

double RelaxingCell::largest_stress(const ParticleSystem& system) const {
  double most = 0;
  for (const double component : force(system)) most = std::max(most, std::abs(component));
  return most / system.atoms.box.volume();
}

std::vector<double> RelaxingCell::state() const {
  std::vector<double> values(rate_.begin(), rate_.end());
  values.insert(values.end(), {spacing_, n_atoms_, mass_});
  return values;
}

void RelaxingCell::restore(std::span<const double> state) {
  std::copy_n(state.begin(), 6, rate_.begin());
  spacing_ = state[6];
  n_atoms_ = state[7];
  mass_ = state[8];
}

}  // namespace quintet
