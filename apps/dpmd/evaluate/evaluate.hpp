#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::dpmd {

/// Flags of `dpmd evaluate`, in the order in which evaluate() takes their values.
[[nodiscard]] std::vector<Application::Flag> evaluate_flags();
/// `dpmd evaluate --model M SYSTEM...`: every frame's energy, forces, virial and atomic energies as JSON with
/// full precision and as extended XYZ. Collective.
void evaluate(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::dpmd
