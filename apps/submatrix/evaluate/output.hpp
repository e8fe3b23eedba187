#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::submatrix {

/// Names of the matrices that can be written: "density" D, "energy_weighted" W = Z P A Z (D K D where P P =
/// P), "orthogonal" A = S^-1/2 K S^-1/2, "orthogonal_density" P, "inverse_sqrt" S^-1/2, "kohn_sham" and
/// "overlap" as read.
[[nodiscard]] std::vector<std::string> output_names();

/// Names of the files that write_outputs() may write of so many K, for Context::go_ahead().
[[nodiscard]] std::vector<std::string> output_files(const OutputOptions& options, int n_matrices);

/// Whether the options want a matrix of the orthogonal basis S^-1/2.
[[nodiscard]] bool wants_orthogonal(const OutputOptions& options);

/// A matrix that can be written, made when it is wanted.
struct Output {
  const char* name;  ///< of output_names()
  std::function<electronic::BlockMatrix()> make;
  double rest = 0;  ///< norm of what the whole matrix has outside of the written blocks; 0: not known
};

/// Write the matrices that the options ask for to the run's folder as NAME + `suffix` + ENDING; `electrons`:
/// of D, both spins alike. Collective.
void write_outputs(Context& context, const OutputOptions& options, const std::string& suffix,
                   double electrons, const std::vector<Output>& outputs);

}  // namespace quintet::submatrix
