#pragma once

#include "apps/application/loop/size_times.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"

namespace quintet::submatrix {

/// `submatrix evaluate` of ever smaller boxes: all submatrices at the first threshold, each of one block
/// column (method.columns_together would make others of fewer columns), without the estimate of errors, whose
/// time does not follow the size of the box: of water at 1e-2 it takes 6 ms of 256 block columns, 20 of 128.
///
/// Work: block columns of the largest box, by operations of the kernels. In a box narrower than twice the
/// range of A submatrices have fewer rows, since their atoms meet themselves behind the wall.
[[nodiscard]] SizeSeries sizes(Context& context, const EvaluateOptions& options);

}  // namespace quintet::submatrix
