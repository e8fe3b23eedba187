#pragma once

#include "apps/application/cli/application.hpp"

/// `quintet bench`: what a machine and its messages cost.
namespace quintet::bench {

/// Flags of `quintet bench`.
[[nodiscard]] std::vector<Application::Flag> flags();
/// quintet bench metg: METG of a graph of tasks on the ranks of `comm`. Errors: ResourceError on a busy
/// machine, InternalError where a task got a wrong input.
void metg_of_graph(const Comm& comm, const Application::Arguments& arguments);
/// quintet bench metg --app NAME FILE: METG of an application's own step, which it runs beside this program.
void metg_of_application(const Application::Arguments& arguments);

}  // namespace quintet::bench
