#pragma once

#include <string>
#include <vector>

#include "apps/application/context.hpp"
#include "apps/submatrix/evaluate.hpp"
#include "apps/submatrix/system.hpp"

namespace quintet::submatrix {

/// Names of the matrices that can be written: "density" D, "energy_weighted" W = Z P A Z (D K D where P P =
/// P), "orthogonal" A = S^-1/2 K S^-1/2, "orthogonal_density" P, "inverse_sqrt" S^-1/2, "kohn_sham" and
/// "overlap" as read.
[[nodiscard]] const std::vector<std::string>& output_names();
/// Names of the formats.
[[nodiscard]] const std::vector<std::string>& output_formats();

/// Write the matrices that the options ask for to the run's folder as NAME + `suffix` + ENDING; `threshold`:
/// that of the evaluation. Collective.
void write_outputs(Context& context, const OutputOptions& options, const std::string& suffix,
                   double threshold, const System& system, const electronic::Orthogonalised& basis,
                   const electronic::SubmatrixResult& sign, const electronic::DensityResult& density);

}  // namespace quintet::submatrix
