#pragma once

#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/sparse/layout.hpp"

namespace quintet::submatrix {

/// How products of A with so many random vectors are shared out, as the key `spmm` says; `section` is whose.
/// Log and summary (`check_spmm`, `spectrum_spmm`, of the second spin `..._down`) say why. Costs of messages
/// are those of the links of options.machine, or assumed where it does not know them. Throws InputError if
/// the ranks cannot take the kind. Collective.
[[nodiscard]] SpmmLayout layout_for(Context& context, const EvaluateOptions& options,
                                    const electronic::BlockMatrix& a, SpmmKind kind, int vectors,
                                    const std::string& section, const std::string& suffix);

}  // namespace quintet::submatrix
