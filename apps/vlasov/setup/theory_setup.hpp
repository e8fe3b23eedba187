#pragma once

#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "apps/vlasov/setup/setup.hpp"
#include "physics/kinetics/theory/grid_dispersion.hpp"
#include "physics/kinetics/theory/growth_fit.hpp"

namespace quintet::vlasov {

/// Prediction of linear theory for a run, and where to look for it.
struct Theory {
  std::complex<double> omega;  ///< wave ~ exp(i k.x - i omega t): frequency and growth rate of the amplitude
  /// Others that grow nearly as fast or are damped little more, of both directions (electrostatic).
  std::vector<std::complex<double>> others;
  std::string quantity, label;
  std::optional<kinetics::Window> window;
  /// Damped waves: until when velocity cells do not disturb them, and the recurrence time behind it.
  double clean_until = std::numeric_limits<double>::infinity(), recurrence = clean_until;
  double wave_number = 1;
  /// Growing waves: by what part velocity cells may change the rate (resonance_error()).
  double resonance_error = 0;
  /// What cells change of frequency and rate, and whether they are known (electrostatic waves along an axis).
  kinetics::WaveErrors of_grid;
  bool knows_grid = false;
  /// Split collisions: the rate at which they damp heat flux (3 nu of lbo, nu of bgk); else 0.
  double split_rate = 0;

  [[nodiscard]] double growth_rate() const { return omega.imag(); }
  [[nodiscard]] double frequency() const { return omega.real(); }
  [[nodiscard]] double phase_velocity() const { return omega.real() / wave_number; }
  /// Damped waves are fitted at their maxima, growing ones everywhere.
  [[nodiscard]] bool oscillates() const { return growth_rate() < 0 && frequency() > 0; }
};

/// The theory of the options, if there is one: of the run's operator of collisions and, where the input names
/// none, of its collision frequency and its Maxwellians. Throws InputError for values without meaning and for
/// those that the run contradicts, NumericalError where no root is found.
[[nodiscard]] std::optional<Theory> make_theory(const RunOptions& options, const Setup& setup);

/// The wave of the theory in the field that its quantity is made of; nothing without theory, or of another
/// quantity.
[[nodiscard]] std::optional<WaveSignal> wave_signal(const RunOptions& options, const Formulas& formulas,
                                                    const kinetics::PhaseGrid& grid);

}  // namespace quintet::vlasov
