#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"

namespace quintet::submatrix {

/// Numbers of one of several K of one S, both spins; what is absent is not known.
struct MatrixNumbers {
  double threshold = 0, tr_dk = 0, electrons = 0, mu = 0, idempotency = 0,
         seconds = 0;             ///< hartree; tr_dk of one spin
  std::optional<double> entropy;  ///< (k_B)
  std::optional<double> gap_ev, energy_error, electrons_error, density_error;
};
/// A K by its file; without numbers: stopped before, or refused.
struct MatrixRow {
  std::string path;
  std::optional<MatrixNumbers> numbers;
};

/// What came out for each K, the first one first: a table of the report, run.h5's group `matrices`, and for
/// the n-th K, n > 1, the summary's numbers that end in _kn. Collective.
void report_further(Context& context, const std::vector<MatrixRow>& matrices);

}  // namespace quintet::submatrix
