#include "physics/particles/dynamics/minimise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {

namespace {

// Parameters recommended by Guenole et al. (2020).
constexpr double mixing_start = 0.25, mixing_factor = 0.99, grow = 1.1, shrink = 0.5, dt_min_factor = 0.02;
constexpr std::int64_t delay = 20;

/// F.v, v.v and F.F over all ranks.
std::array<double, 3> products(const Exec& exec, const ParticleSystem& system) {
  auto sums = force_velocity_products(exec, system.atoms);
  system.domain.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  return sums;
}

}  // namespace

double largest_force(const Exec& exec, const ParticleSystem& system) {
  return std::sqrt(system.domain.comm().maximum(largest_force_squared(exec, system.atoms)));
}

FireMinimiser::FireMinimiser(const MinimiserOptions& options, double dt)
    : options_(options), dt_start_(dt), dt_(dt), mixing_(mixing_start) {}

std::string FireMinimiser::description() const {
  return fmt::format("FIRE 2.0 until no force is longer than {:g} eV/angstrom", options_.force_tolerance);
}

void FireMinimiser::adapt(const Exec& exec, ParticleSystem& system, double power) {
  if (power > 0) {
    if (++downhill_ <= delay) return;
    dt_ = std::min(dt_ * grow, options_.dt_max_factor * dt_start_);
    mixing_ *= mixing_factor;
    return;
  }
  // Uphill: go back half a step, stop and turn downhill with shorter steps (not at once: the start is from
  // rest).
  if (downhill_ >= 0) dt_ = std::max(dt_ * shrink, dt_min_factor * dt_start_);
  downhill_ = 0;
  mixing_ = mixing_start;
  drift(exec, system.atoms, -dt_ / 2);
  scale_velocities(exec, system.atoms, {0, 0, 0});
}

void FireMinimiser::finish_if_converged(const Exec& exec, ParticleSystem& system) {
  largest_force_ = quintet::largest_force(exec, system);
  finished_ = largest_force_ <= options_.force_tolerance;
  if (finished_) scale_velocities(exec, system.atoms, {0, 0, 0});
}

void FireMinimiser::step(const Exec& exec, ParticleSystem& system, std::int64_t) {
  if (downhill_ < 0) {
    scale_velocities(exec, system.atoms, {0, 0, 0});
    finish_if_converged(exec, system);
  }
  if (finished_) return;
  adapt(exec, system, products(exec, system)[0]);
  kick(exec, system.atoms, dt_);
  const auto [fv, vv, ff] = products(exec, system);
  mix_velocities(exec, system.atoms, mixing_, std::sqrt(vv / ff));
  const double speed = std::sqrt(system.domain.comm().maximum(largest_velocity_squared(exec, system.atoms)));
  drift(exec, system.atoms, std::min(dt_, options_.max_displacement / speed));
  system.update_forces(exec);
  finish_if_converged(exec, system);
}

IntegratorState FireMinimiser::state() const {
  return {"minimise", {dt_, mixing_, static_cast<double>(downhill_), finished_ ? 1.0 : 0.0, largest_force_}};
}

void FireMinimiser::restore(const IntegratorState& state) {
  QUINTET_CHECK(
      state.kind == "minimise" && state.values.size() == 5,
      "the checkpoint holds the state of integrator '{}' ({} numbers), the options ask for 'minimise' (5 "
      "numbers); restart with the options of the first run, or start anew from its last frame",
      state.kind, state.values.size());
  dt_ = state.values[0];
  mixing_ = state.values[1];
  downhill_ = static_cast<std::int64_t>(state.values[2]);
  finished_ = state.values[3] != 0;
  largest_force_ = state.values[4];
}

}  // namespace quintet
