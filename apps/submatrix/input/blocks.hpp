#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "apps/submatrix/input/system_options.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::submatrix {

/// The blocks, and how many atoms are in them as far as the options tell.
struct Blocks {
  electronic::Blocking blocking;
  std::int64_t n_atoms = 0;
};

/// The blocks that the options ask for, or those that the matrix file names; `elements`: of K, this rank's
/// share. Throws InputError. Collective.
[[nodiscard]] Blocks make_blocks(const Comm& comm, const BlocksOptions& options, int n_rows,
                                 const std::optional<electronic::Blocking>& of_file,
                                 std::span<const electronic::Triplet> elements);

}  // namespace quintet::submatrix
