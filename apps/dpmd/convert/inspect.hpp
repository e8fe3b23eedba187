#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::dpmd {

/// Flags of `dpmd inspect`, in the order in which inspect() takes their values.
[[nodiscard]] std::vector<Application::Flag> inspect_flags();
/// `dpmd inspect MODEL`: what a model is, and its networks block by block: shapes, parameters, flops, bytes;
/// of a file of atoms, what was understood (inspect_atoms.hpp).
/// Collective; rank 0 works.
void inspect(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::dpmd
