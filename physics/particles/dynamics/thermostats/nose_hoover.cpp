#include "physics/particles/dynamics/thermostats/nose_hoover.hpp"

#include <cmath>

namespace quintet {

NoseHooverChain::NoseHooverChain(double relaxation_time, int length, double initial_kt)
    : relaxation_time_(relaxation_time), initial_kt_(initial_kt), rate_(length, 0.0) {}

double NoseHooverChain::mass(std::size_t k) const {
  return (k == 0 ? degrees_ : 1) * initial_kt_ * relaxation_time_ * relaxation_time_;
}

double NoseHooverChain::acceleration(std::size_t k, double kt, double kinetic) const {
  const double force = k == 0 ? 2 * kinetic - degrees_ * kt : mass(k - 1) * rate_[k - 1] * rate_[k - 1] - kt;
  return force / mass(k);
}

double NoseHooverChain::advance(double h, double kt, double& kinetic) {
  const std::size_t last = rate_.size() - 1;
  const auto push = [&](std::size_t k) {  // w_k = (w_k a + G_k h / 4) a, a = exp(-w_{k+1} h / 8)
    const double a = k < last ? std::exp(-rate_[k + 1] * h / 8) : 1.0;
    rate_[k] = (rate_[k] * a + acceleration(k, kt, kinetic) * h / 4) * a;
  };
  for (std::size_t k = last + 1; k-- > 0;) push(k);
  const double factor = std::exp(-rate_[0] * h / 2);
  kinetic *= factor * factor;
  for (std::size_t k = 0; k <= last; ++k) potential_ += (k == 0 ? degrees_ : 1) * kt * rate_[k] * h / 2;
  for (std::size_t k = 0; k <= last; ++k) push(k);
  return factor;
}

double NoseHooverChain::thermalise(double dt, double kt, double degrees, double kinetic) {
  const double outer = 1 / (2 - std::cbrt(2.0));
  degrees_ = degrees;
  double factor = 1;
  for (const double weight : {outer, 1 - 2 * outer, outer}) factor *= advance(weight * dt, kt, kinetic);
  energy_ = potential_;
  for (std::size_t k = 0; k < rate_.size(); ++k) energy_ += 0.5 * mass(k) * rate_[k] * rate_[k];
  return factor;
}

void NoseHooverChain::half_step(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  const double factor =
      thermalise(tick.dt, tick.kt, system.degrees_of_freedom, total_kinetic_energy(exec, system));
  scale_velocities(exec, system.atoms, {factor, factor, factor});
}

std::vector<double> NoseHooverChain::state() const {
  std::vector<double> values{energy_, potential_};
  values.insert(values.end(), rate_.begin(), rate_.end());
  return values;
}

void NoseHooverChain::restore(std::span<const double> state) {
  energy_ = state[0];
  potential_ = state[1];
  rate_.assign(state.begin() + 2, state.end());
}

void CellNoseHoover::half_step(CellMotion& cell, const Tick& tick) {
  const double factor = chain_.thermalise(tick.dt, tick.kt, cell.freedom.degrees(), cell.kinetic());
  for (double& component : cell.rate) component *= factor;
}

}  // namespace quintet
