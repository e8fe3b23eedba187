#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "physics/electronic/density/probe.hpp"

namespace quintet::submatrix {

/// The density of states of each spin; none, with a warning, where all was diagonalised densely, without
/// forming S^-1/2 K S^-1/2. Throws InputError if the resolution needs too many moments. Collective.
[[nodiscard]] std::vector<electronic::SpectralDensity> spectra_of(Context& context,
                                                                  const EvaluateOptions& options,
                                                                  const std::vector<Basis>& bases);

/// Pictures, run.h5's group `spectrum` and the summary's numbers; the electrons at the chemical potential of
/// `last` beside Tr P. Collective.
void report_spectra(Context& context, const EvaluateOptions& options,
                    const std::vector<electronic::SpectralDensity>& spectra, const Evaluation& last);

}  // namespace quintet::submatrix
