#pragma once

#include <optional>

#include "apps/submatrix/system_options.hpp"
#include "io/parallel/comm.hpp"
#include "physics/electronic/blocking.hpp"

namespace quintet::submatrix {

/// The blocks that the options ask for, or those that the matrix file names. Throws InputError. Collective.
[[nodiscard]] electronic::Blocking make_blocking(const Comm& comm, const BlocksOptions& options, int n_rows,
                                                 const std::optional<electronic::Blocking>& of_file);

}  // namespace quintet::submatrix
