#include "tests/support/riemann.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet::kinetics {
namespace {

double sound_speed(const GasState& s, double gamma) { return std::sqrt(gamma * s.pressure / s.density); }

/// Change of velocity through the outer wave of `s` if the pressure behind it is p; Toro eqs. (4.6), (4.7).
double velocity_change(const GasState& s, double gamma, double p) {
  if (p > s.pressure)
    return (p - s.pressure) * std::sqrt(2 / s.density / ((gamma + 1) * p + (gamma - 1) * s.pressure));
  return 2 * sound_speed(s, gamma) / (gamma - 1) * (std::pow(p / s.pressure, (gamma - 1) / (2 * gamma)) - 1);
}

void check_state(const GasState& s) {
  QUINTET_CHECK(s.density > 0 && s.pressure > 0 && std::isfinite(s.velocity),
                "a gas of density {}, pressure {} and velocity {}; expected > 0, > 0 and finite", s.density,
                s.pressure, s.velocity);
}

}  // namespace

RiemannSolution::RiemannSolution(const GasState& left, const GasState& right, double gamma)
    : left_(left), right_(right), gamma_(gamma) {
  check_state(left);
  check_state(right);
  QUINTET_CHECK(gamma > 1, "adiabatic index {}; expected more than 1", gamma);
  // Steadily rising in p; its zero is the pressure at which both waves leave the same velocity.
  const auto mismatch = [&](double p) {
    return velocity_change(left_, gamma_, p) + velocity_change(right_, gamma_, p) + right_.velocity -
           left_.velocity;
  };
  if (mismatch(0) >= 0) return;  // vacuum
  double below = 0, above = std::max(left.pressure, right.pressure);
  while (mismatch(above) < 0) below = above, above *= 4;
  for (int i = 0; i < 2000; ++i) {
    const double middle = 0.5 * (below + above);
    if (middle == below || middle == above) break;
    (mismatch(middle) < 0 ? below : above) = middle;
  }
  star_pressure_ = 0.5 * (below + above);
  star_velocity_ = 0.5 * (left_.velocity + right_.velocity + velocity_change(right_, gamma_, star_pressure_) -
                          velocity_change(left_, gamma_, star_pressure_));
}

bool RiemannSolution::shock(int side) const { return star_pressure_ > state(side).pressure; }

double RiemannSolution::star_density(int side) const {
  const GasState& s = state(side);
  const double ratio = star_pressure_ / s.pressure, g = (gamma_ - 1) / (gamma_ + 1);
  return s.density * (shock(side) ? (ratio + g) / (g * ratio + 1) : std::pow(ratio, 1 / gamma_));
}

double RiemannSolution::head_speed(int side) const {
  const GasState& s = state(side);
  const double sign = side < 0 ? -1 : 1, c = sound_speed(s, gamma_);
  if (!shock(side)) return s.velocity + sign * c;
  const double ratio = star_pressure_ / s.pressure;
  return s.velocity + sign * c * std::sqrt((gamma_ + 1) / (2 * gamma_) * ratio + (gamma_ - 1) / (2 * gamma_));
}

double RiemannSolution::tail_speed(int side) const {
  if (shock(side)) return head_speed(side);
  const GasState& s = state(side);
  const double sign = side < 0 ? -1 : 1, c = sound_speed(s, gamma_);
  if (star_pressure_ == 0) return s.velocity - sign * 2 * c / (gamma_ - 1);
  return star_velocity_ + sign * c * std::pow(star_pressure_ / s.pressure, (gamma_ - 1) / (2 * gamma_));
}

/// State at x/t = speed on one side of the contact.
GasState RiemannSolution::on_side(int side, double speed) const {
  const GasState& s = state(side);
  const double sign = side < 0 ? -1 : 1, c = sound_speed(s, gamma_);
  if (sign * speed >= sign * head_speed(side)) return s;
  if (sign * speed <= sign * tail_speed(side)) return {star_density(side), star_velocity_, star_pressure_};
  const double local =
      (2 * c + (gamma_ - 1) * sign * (speed - s.velocity)) / (gamma_ + 1);  // sound speed in the fan
  const double density = s.density * std::pow(local / c, 2 / (gamma_ - 1));
  return {density, speed - sign * local, s.pressure * std::pow(density / s.density, gamma_)};
}

GasState RiemannSolution::at(double speed) const {
  if (star_pressure_ > 0) return on_side(speed <= star_velocity_ ? -1 : 1, speed);
  if (speed < tail_speed(-1)) return on_side(-1, speed);
  if (speed > tail_speed(1)) return on_side(1, speed);
  return {0, speed, 0};
}

}  // namespace quintet::kinetics
