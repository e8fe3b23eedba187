#pragma once

#include "apps/application/cli/application.hpp"

/// `quintet bench`: what a machine and its messages cost.
namespace quintet::bench {

/// Flags of `quintet bench`: WHAT, FILE, those of an application, those of MetgOptions.
[[nodiscard]] std::vector<Application::Flag> flags();
/// quintet bench metg: METG of a graph of tasks on the ranks of `comm`. Errors: ResourceError on a busy
/// machine.
void metg(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::bench
