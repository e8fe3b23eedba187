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

}  // namespace

double largest_force(const Exec& exec, const ParticleSystem& system) {
  return std::sqrt(system.domain.comm().maximum(largest_force_squared(exec, system.atoms)));
}

FireMinimiser::FireMinimiser(const MinimiserOptions& options, double dt, std::optional<CellGoal> cell)
    : options_(options), dt_start_(dt), dt_(dt), mixing_(mixing_start) {
  if (cell) cell_.emplace(*cell);
}

std::string FireMinimiser::description() const {
  return fmt::format("FIRE 2.0 until no force is longer than {:g} eV/angstrom{}", options_.force_tolerance,
                     cell_ ? " and the cell is at rest" : "");
}

/// F.v, v.v and F.F over all ranks, the cell's with them.
std::array<double, 3> FireMinimiser::products(const Exec& exec, const ParticleSystem& system) const {
  auto sums = force_velocity_products(exec, system.atoms);
  system.domain.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  if (!cell_) return sums;
  const auto more = cell_->products(system);
  for (int k = 0; k < 3; ++k) sums[k] += more[k];
  return sums;
}

void FireMinimiser::stop(const Exec& exec, ParticleSystem& system) {
  scale_velocities(exec, system.atoms, {0, 0, 0});
  if (cell_) cell_->stop();
}

void FireMinimiser::move(const Exec& exec, ParticleSystem& system, double dt) {
  drift(exec, system.atoms, dt);
  if (cell_) cell_->deform(exec, system, dt);
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
  move(exec, system, -dt_ / 2);
  stop(exec, system);
}

void FireMinimiser::finish_if_converged(const Exec& exec, ParticleSystem& system) {
  largest_force_ = quintet::largest_force(exec, system);
  finished_ = largest_force_ <= options_.force_tolerance && (!cell_ || cell_->is_at_rest(system));
  if (finished_) stop(exec, system);
}

void FireMinimiser::step(const Exec& exec, ParticleSystem& system, std::int64_t) {
  if (downhill_ < 0) {
    if (cell_) cell_->begin(exec, system);
    stop(exec, system);
    finish_if_converged(exec, system);
  }
  if (finished_) return;
  adapt(exec, system, products(exec, system)[0]);
  kick(exec, system.atoms, dt_);
  if (cell_) cell_->kick(system, dt_);
  const auto [fv, vv, ff] = products(exec, system);
  mix_velocities(exec, system.atoms, mixing_, std::sqrt(vv / ff));
  if (cell_) cell_->mix(system, mixing_, std::sqrt(vv / ff));
  double speed = std::sqrt(system.domain.comm().maximum(largest_velocity_squared(exec, system.atoms)));
  if (cell_) speed += cell_->speed();
  move(exec, system, std::min(dt_, options_.max_displacement / speed));
  system.update_forces(exec);
  finish_if_converged(exec, system);
}

IntegratorState FireMinimiser::state() const {
  IntegratorState all{cell_ ? "minimise, cell" : "minimise",
                      {dt_, mixing_, static_cast<double>(downhill_), finished_ ? 1.0 : 0.0, largest_force_}};
  if (!cell_) return all;
  const auto more = cell_->state();
  all.values.insert(all.values.end(), more.begin(), more.end());
  return all;
}

void FireMinimiser::restore(const IntegratorState& state) {
  const IntegratorState mine = this->state();
  QUINTET_CHECK(
      state.kind == mine.kind && state.values.size() == mine.values.size(),
      "the checkpoint holds the state of integrator '{}' ({} numbers), the options ask for '{}' ({} "
      "numbers); restart with the options of the first run, or start anew from its last frame",
      state.kind, state.values.size(), mine.kind, mine.values.size());
  dt_ = state.values[0];
  mixing_ = state.values[1];
  downhill_ = state.values[2];
  finished_ = state.values[3] != 0;
  largest_force_ = state.values[4];
  if (cell_) cell_->restore(std::span(state.values).subspan(5));
}

}  // namespace quintet
