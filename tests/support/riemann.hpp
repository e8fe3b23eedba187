#pragma once

namespace quintet::kinetics {

/// A gas at a point: mass (or number) density, velocity along x, pressure.
struct GasState {
  double density = 1, velocity = 0, pressure = 1;
};

/// Exact solution of the Riemann problem of an ideal gas, the limit of many collisions of a shock tube.
///
///     (rho, u, p)_t + Euler = 0,  (rho, u, p)(x, 0) = left for x < 0, right for x > 0,  energy p/(gamma - 1)
///     + rho u^2/2
///
/// gamma = (d + 2)/d for particles with d velocity directions: 3, 2, 5/3. Self-similar in x/t: a shock or a
/// rarefaction to the left, a contact, a shock or a rarefaction to the right; states that part fast enough
/// leave a vacuum between two rarefactions. Source: Toro, Riemann Solvers (2009), ch. 4.
class RiemannSolution {
 public:
  /// Throws InputError unless densities and pressures are positive and gamma > 1.
  RiemannSolution(const GasState& left, const GasState& right, double gamma);

  [[nodiscard]] double gamma() const { return gamma_; }
  [[nodiscard]] double star_pressure() const {
    return star_pressure_;
  }  ///< between the outer waves; 0: vacuum
  [[nodiscard]] double star_velocity() const {
    return star_velocity_;
  }  ///< of the contact; without meaning in vacuum
  /// Density beside the contact, on its left (side < 0) or right.
  [[nodiscard]] double star_density(int side) const;
  [[nodiscard]] bool shock(int side) const;  ///< the outer wave on this side is a shock
  /// Speeds of the edges of the outer wave: the one farther from and the one nearer to the contact; equal for
  /// a shock.
  [[nodiscard]] double head_speed(int side) const;
  [[nodiscard]] double tail_speed(int side) const;
  /// State at x/t = speed; at a jump the one on its left.
  [[nodiscard]] GasState at(double speed) const;

 private:
  [[nodiscard]] const GasState& state(int side) const { return side < 0 ? left_ : right_; }
  [[nodiscard]] GasState on_side(int side, double speed) const;

  GasState left_, right_;
  double gamma_, star_pressure_ = 0, star_velocity_ = 0;
};

/// (d + 2)/d of an ideal gas whose particles have d velocity directions.
[[nodiscard]] constexpr double adiabatic_index(int velocity_dimensions) {
  return (velocity_dimensions + 2.0) / velocity_dimensions;
}

}  // namespace quintet::kinetics
