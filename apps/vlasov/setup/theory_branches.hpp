#pragma once

#include <array>
#include <complex>
#include <limits>
#include <optional>
#include <vector>

#include "apps/vlasov/setup/plasma_parts.hpp"
#include "apps/vlasov/setup/setup.hpp"
#include "physics/kinetics/theory/grid_dispersion.hpp"
#include "physics/kinetics/theory/theory.hpp"

/// Roots of a dispersion relation, what excites them, and what the run's cells make of them.
namespace quintet::vlasov {

/// One of the waves of a theory, exp(i k.x - i omega t).
struct Branch {
  std::complex<double> omega;  ///< frequency and growth rate of the amplitude
  double wave_number = 1;
  /// Damped waves: until when velocity cells do not disturb them, and the recurrence time behind it.
  double clean_until = std::numeric_limits<double>::infinity(), recurrence = clean_until;
  /// Growing waves: by what part velocity cells may change the rate (resonance_error()).
  double resonance_error = 0;
  /// What cells change of frequency and rate, and whether they are known (electrostatic waves along an axis).
  kinetics::WaveErrors of_grid;
  bool knows_grid = false;
  /// Amplitude at t = 0 in E along k, relative to the most excited root; NaN where that is not known.
  double excited = std::numeric_limits<double>::quiet_NaN();
  bool both_ways = false;  ///< -omega* is a root, too: the plasma looks the same from both sides

  [[nodiscard]] double growth_rate() const { return omega.imag(); }
  [[nodiscard]] double frequency() const { return omega.real(); }
  [[nodiscard]] double phase_velocity() const { return omega.real() / wave_number; }
  /// Damped waves are fitted at their maxima, growing ones everywhere.
  [[nodiscard]] bool oscillates() const { return growth_rate() < 0 && frequency() != 0; }
};

/// The plasma that a theory is of.
struct TheoryPlasma {
  std::vector<kinetics::DriftingMaxwellian> beams;  ///< along the wave
  std::optional<std::vector<PlasmaPart>> parts;     ///< those that the run starts from, where they are known
  std::array<double, 3> k{};
};

/// A wave with what is known of it: recurrence and resonance in velocity cells, errors of the grid
/// (electrostatic waves; collisional ones: of the wave without collisions).
[[nodiscard]] Branch make_branch(const Setup& setup, const TheoryPlasma& plasma, std::complex<double> omega,
                                 TheoryOptions::Kind kind);

/// Set by how much the density waves of the initial state excite each root. Nothing where the Maxwellians are
/// not known or no density is modulated along k.
void set_excitation(const Setup& setup, const TheoryPlasma& plasma, std::vector<Branch>& branches);

/// The branch that a run shows most: the fastest growing one, or else that with the greatest square of E
/// between two times. Where nothing is known of what excites them it is the least damped one. Branches are in
/// descending order of their growth rates.
[[nodiscard]] std::size_t expected_branch(const std::vector<Branch>& branches, double begin, double end);

/// The branch of the frequency nearest to a measured one; of those within 5 % of it the least damped. Nothing
/// where none is within half of the measured frequency. `has_sign`: below 0 the wave runs against k.
[[nodiscard]] std::optional<std::size_t> nearest_branch(const std::vector<Branch>& branches, double frequency,
                                                        bool has_sign);

}  // namespace quintet::vlasov
