#pragma once

#include <memory>

#include "physics/convection/linear/line_operator.hpp"
#include "physics/transforms/line_basis.hpp"
#include "physics/transforms/row_basis.hpp"

namespace quintet::convection {

/// In which basis second differences of an unknown along x are diagonal, where cells are equal.
[[nodiscard]] LineBasis line_basis(const Problem& problem, Unknown unknown);

/// Fourier, cosine or sine transforms of rows of equal cells. Throws InputError where their number has no
/// fast transform.
[[nodiscard]] std::unique_ptr<RowBasis> transform_basis(const Problem& problem, const Grid& grid,
                                                        Unknown unknown);
/// Eigenvectors of the differences along x, whatever its cells.
[[nodiscard]] std::unique_ptr<RowBasis> modes_basis(const Problem& problem, const Grid& grid,
                                                    Unknown unknown);

}  // namespace quintet::convection
