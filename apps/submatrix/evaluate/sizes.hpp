#pragma once

#include "apps/application/loop/size_times.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"

namespace quintet::submatrix {

/// `submatrix evaluate` of ever smaller boxes: all submatrices at the first threshold, each of one block
/// column (method.columns_together would make others of fewer columns). Work: orbitals, that is columns,
/// which are comparable as long as submatrices have the same number of rows.
[[nodiscard]] SizeSeries sizes(Context& context, const EvaluateOptions& options);

}  // namespace quintet::submatrix
