#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::dpmd {

/// Flags of `dpmd serve`, in the order in which serve() takes their values.
[[nodiscard]] std::vector<Application::Flag> serve_flags();
/// `dpmd serve --model M --unix NAME STRUCTURE...`: answer an i-PI server (i-PI, ASE, ...) with energies,
/// forces and virials until it ends. Collective: the first rank talks.
void serve(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::dpmd
