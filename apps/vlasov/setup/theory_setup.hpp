#pragma once

#include <complex>
#include <limits>
#include <optional>

#include "apps/vlasov/setup/setup.hpp"
#include "physics/kinetics/theory/growth_fit.hpp"

namespace quintet::vlasov {

/// What linear theory says of a run, and where to look for it.
struct Theory {
  std::complex<double> omega;  ///< wave ~ exp(-i omega t): frequency and growth rate of the amplitude
  std::string quantity, label;
  std::optional<kinetics::Window> window;
  /// Damped waves: until when velocity cells do not disturb them, and the recurrence time behind it.
  double clean_until = std::numeric_limits<double>::infinity(), recurrence = clean_until;

  [[nodiscard]] double growth_rate() const { return omega.imag(); }
  [[nodiscard]] double frequency() const { return omega.real(); }
  /// Damped waves are fitted at their maxima, growing ones everywhere.
  [[nodiscard]] bool oscillates() const { return growth_rate() < 0 && frequency() > 0; }
};

/// The theory of the options, if there is one. Throws InputError for values without meaning, NumericalError
/// where no root is found.
[[nodiscard]] std::optional<Theory> make_theory(const std::optional<TheoryOptions>& options,
                                                const Setup& setup);

}  // namespace quintet::vlasov
