#pragma once

#include <string>

#include "apps/vlasov/setup/theory_setup.hpp"
#include "apps/vlasov/state/history.hpp"
#include "physics/kinetics/theory/growth_fit.hpp"
#include "physics/kinetics/theory/wave_modes.hpp"

namespace quintet::vlasov {

/// A rate and where it comes from.
struct Rates {
  double gamma = 0, gamma_uncertainty = 0, omega = 0, omega_uncertainty = 0;
  kinetics::Window window;
  std::string how;     ///< window and method
  std::string reason;  ///< why there is none
};

/// Compare with the branch whose frequency is nearest to that of the run's strongest wave: the least damped
/// root need not be what was excited. Returns whether that is another one than was expected.
bool choose_measured(Theory& theory, const kinetics::WaveFit& waves, const History& history);

/// Fit the rates of the energy or, where that has none or less certain ones, take those of the wave nearest
/// to the theory's.
[[nodiscard]] Rates rates_of(const Theory& theory, const kinetics::WaveFit& waves, const History& history);

}  // namespace quintet::vlasov
