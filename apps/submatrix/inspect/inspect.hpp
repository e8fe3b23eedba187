#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"
#include "io/hdf5/file.hpp"

namespace quintet::submatrix {

/// `submatrix inspect FILE`: what is understood of a file of matrices.
[[nodiscard]] std::vector<Application::Flag> inspect_flags();
void inspect(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::submatrix
