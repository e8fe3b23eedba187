#pragma once

#include <cmath>
#include <cstddef>

#include <Kokkos_Core.hpp>

#include "physics/kinetics/collisions/collision_tables.hpp"

namespace quintet::kinetics {

/// The formulas of SpeciesExchange in one configuration cell, as plain data, wherever the fields are.
struct ExchangeCell {
  static constexpr int most_species = 16;
  struct State {
    double density, thermal_square, drift[3];
    [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_positive() const {
      return density > 0 && thermal_square > 0;
    }
  };
  /// Fields of one species: where those of the first configuration cell begin, and the stride to the next
  /// cell.
  struct Fields {
    bool collides = false;
    const double* moments = nullptr;  ///< M0, M1, M2, [.., n_modes]
    double* rate = nullptr;           ///< [n_modes]
    double* gain = nullptr;           ///< [vdim + 1, n_modes]; null: none
    std::ptrdiff_t moments_size = 0, rate_size = 0, gain_size = 0;
  };

  int n_species, vdim, n_modes, n_nodes, n_control;
  bool uniform, with_states, spitzer;  ///< rates are the same everywhere; states are needed
  bool mixture;
  double reference_density, reference_thermal_speed;
  double constant;         ///< the value of the constant basis function
  const double* values;    ///< [n_nodes, n_modes] of the basis
  const double* weights;   ///< [n_nodes]
  const double* control;   ///< [n_control, n_modes]: of the basis, where rates may not be negative
  const double* masses;    ///< [n_species]
  const double* numbers;   ///< [s, r]: of nu_sr
  const int* profile_of;   ///< [s, r]: the profile that multiplies it; -1: none
  const double* profiles;  ///< [profile, n_conf, n_nodes]
  std::ptrdiff_t profile_size;
  Fields of[most_species];

  /// With the tables' numbers; where its arrays are, and the species' fields, is to be said.
  explicit ExchangeCell(const ExchangeTables& t)
      : n_species(t.n_species),
        vdim(t.vdim),
        n_modes(t.n_modes),
        n_nodes(t.n_nodes),
        n_control(t.n_control),
        uniform(t.uniform),
        with_states(t.with_states),
        spitzer(t.spitzer),
        mixture(t.mixture),
        reference_density(t.reference_density),
        reference_thermal_speed(t.reference_thermal_speed),
        constant(t.constant),
        values(t.values.data()),
        weights(t.weights.data()),
        control(t.control.data()),
        masses(t.masses.data()),
        numbers(t.numbers.data()),
        profile_of(t.profile_of.data()),
        profiles(nullptr),
        profile_size(0) {}

  /// False for a density or temperature that is needed and not positive.
  KOKKOS_INLINE_FUNCTION bool operator()(std::ptrdiff_t conf) const {
    for (int s = 0; s < n_species; ++s) {
      if (of[s].rate == nullptr) continue;
      for (int a = 0; a < n_modes; ++a) rate(s, conf)[a] = 0;
      if (of[s].gain != nullptr)
        for (int i = 0; i < (vdim + 1) * n_modes; ++i) gain(s, conf)[i] = 0;
      if (uniform && !with_states)
        for (int r = 0; r < n_species; ++r) rate(s, conf)[0] += numbers[s * n_species + r] / constant;
    }
    if (uniform && !with_states) return true;
    State states[most_species];
    for (int node = 0; node < n_nodes; ++node) {
      for (int s = 0; s < n_species && with_states; ++s) {
        if (!of[s].collides) continue;
        states[s] = state(s, conf, node);
        if (!states[s].is_positive()) return false;
      }
      for (int s = 0; s < n_species; ++s) {
        if (of[s].rate == nullptr) continue;
        double sum = 0;
        for (int r = 0; r < n_species; ++r) sum += frequency(s, r, conf, node, states);
        project(node, sum, rate(s, conf));
        for (int r = 0; r < s; ++r)
          if (of[s].gain != nullptr && of[r].gain != nullptr) exchange(node, s, r, states, conf);
      }
    }
    for (int s = 0; s < n_species && n_control > 0; ++s)
      if (of[s].rate != nullptr) keep_positive(rate(s, conf));
    return true;
  }

  /// State of a species that collides, at a Gauss point.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION State state(int s, std::ptrdiff_t conf, int node) const {
    const double* const modes = of[s].moments + conf * of[s].moments_size;
    State result{};
    result.density = value_at(node, modes);
    double square = 0;
    for (int d = 0; d < vdim; ++d) {
      result.drift[d] = value_at(node, modes + (1 + d) * n_modes) / result.density;
      square += result.drift[d] * result.drift[d];
    }
    result.thermal_square = (value_at(node, modes + (1 + vdim) * n_modes) / result.density - square) / vdim;
    return result;
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double* rate(int s, std::ptrdiff_t conf) const {
    return of[s].rate + conf * of[s].rate_size;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double* gain(int s, std::ptrdiff_t conf) const {
    return of[s].gain + conf * of[s].gain_size;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double value_at(int node, const double* modes) const {
    double sum = 0;
    for (int a = 0; a < n_modes; ++a) sum += values[node * n_modes + a] * modes[a];
    return sum;
  }
  /// Add the projection of x at a Gauss point.
  KOKKOS_INLINE_FUNCTION void project(int node, double x, double* modes) const {
    for (int a = 0; a < n_modes; ++a) modes[a] += weights[node] * values[node * n_modes + a] * x;
  }
  /// nu_sr at a Gauss point.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double frequency(int s, int r, std::ptrdiff_t conf, int node,
                                                        const State* states) const {
    double nu = numbers[s * n_species + r];
    if (const int profile = profile_of[s * n_species + r]; profile >= 0)
      nu *= profiles[profile * profile_size + conf * n_nodes + node];
    if (!spitzer || nu == 0) return nu;
    const double slower = reference_thermal_speed / ::sqrt(states[s].thermal_square);
    return nu * states[r].density / reference_density * ::pow(slower, 3);
  }
  /// The mean stays, the rest is scaled until no control point is negative (Zhang & Shu, J. Comput. Phys.
  /// 229, 3091 (2010)).
  KOKKOS_INLINE_FUNCTION void keep_positive(double* modes) const {
    double least = 0;
    for (int point = 0; point < n_control; ++point) {
      double value = 0;
      for (int a = 0; a < n_modes; ++a) value += control[point * n_modes + a] * modes[a];
      least = value < least ? value : least;
    }
    if (least >= 0) return;
    const double mean = constant * modes[0], factor = mean / (mean - least);
    for (int a = 1; a < n_modes; ++a) modes[a] *= factor;
  }
  /// Energy that a gains from b where both near one Maxwellian of velocity U and temperature T, each at its
  /// rate, k = m n nu.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double mixture_gain(const State& a, const State& b, double m_a,
                                                           double m_b, double k_a, double k_b) const {
    const double w_a = k_a / m_a, w_b = k_b / m_b, t_a = m_a * a.thermal_square, t_b = m_b * b.thermal_square;
    double of_a = 0, of_b = 0;  // u^2 - U^2
    for (int d = 0; d < vdim; ++d) {
      const double u = (k_a * a.drift[d] + k_b * b.drift[d]) / (k_a + k_b);
      of_a += a.drift[d] * a.drift[d] - u * u;
      of_b += b.drift[d] * b.drift[d] - u * u;
    }
    const double t = (w_a * t_a + w_b * t_b + (k_a * of_a + k_b * of_b) / vdim) / (w_a + w_b);
    return 0.5 * vdim * w_a * (t - t_a) - 0.5 * k_a * of_a;
  }
  KOKKOS_INLINE_FUNCTION void exchange(int node, int s, int r, const State* states,
                                       std::ptrdiff_t conf) const {
    const State &a = states[s], &b = states[r];
    const double m_a = masses[s], m_b = masses[r];
    const double k_a = m_a * a.density * frequency(s, r, conf, node, states),
                 k_b = m_b * b.density * frequency(r, s, conf, node, states);
    if (!(k_a > 0 && k_b > 0)) return;
    const double k = k_a * k_b / (k_a + k_b);
    if (mixture) {
      const double gained = mixture_gain(a, b, m_a, m_b, k_a, k_b);
      for (int d = 0; d < vdim; ++d) {
        const double force = -k * (a.drift[d] - b.drift[d]);
        project(node, force / m_a, gain(s, conf) + d * n_modes);
        project(node, -force / m_b, gain(r, conf) + d * n_modes);
      }
      project(node, gained / m_a, gain(s, conf) + vdim * n_modes);
      project(node, -gained / m_b, gain(r, conf) + vdim * n_modes);
      return;
    }
    double power = vdim * (m_a * a.thermal_square - m_b * b.thermal_square) / (m_a + m_b);
    for (int d = 0; d < vdim; ++d) {
      const double u_a = a.drift[d], u_b = b.drift[d], force = -k * (u_a - u_b);
      power += (m_a * u_a + m_b * u_b) / (m_a + m_b) * (u_a - u_b);
      project(node, force / m_a, gain(s, conf) + d * n_modes);
      project(node, -force / m_b, gain(r, conf) + d * n_modes);
    }
    project(node, -k * power / m_a, gain(s, conf) + vdim * n_modes);
    project(node, k * power / m_b, gain(r, conf) + vdim * n_modes);
  }
};

}  // namespace quintet::kinetics
