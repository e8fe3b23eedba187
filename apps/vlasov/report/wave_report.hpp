#pragma once

#include <complex>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/vlasov/setup/theory_setup.hpp"
#include "apps/vlasov/state/history.hpp"
#include "physics/kinetics/theory/wave_modes.hpp"

namespace quintet::vlasov {

/// The waves in the signed amplitude of the history's columns `name`_real and _imag, until velocity cells
/// give the wave back, and between the times of theory.window if there are any.
[[nodiscard]] kinetics::WaveFit fit_history(const std::string& name, const Theory& theory,
                                            const History& history);

/// The wave nearest to a root, or to its mirror image of the other direction; null if none is within half of
/// |root|.
[[nodiscard]] const kinetics::WaveMode* nearest_wave(const kinetics::WaveFit& fit, std::complex<double> root);

/// "Fitted between times 4 and 20 (...) by a matrix pencil ...".
[[nodiscard]] std::string waves_window_text(const Theory& theory, const kinetics::WaveFit& waves);

/// A row for each wave into the report, their numbers into the summary, and the roots of the theory beside
/// them.
void report_waves(Context& context, const Theory& theory, const kinetics::WaveFit& waves);

}  // namespace quintet::vlasov
