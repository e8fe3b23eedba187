#pragma once

#include <optional>
#include <string>

#include "apps/application/launch.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {

/// Make the directory of a run and return its absolute path. Collective.
///
/// One that already holds a run is refused (InputError, nothing is written) unless the request restarts or
/// overwrites it; overwriting removes the former run's files. With --validate it is a new directory beside
/// the real one.
[[nodiscard]] std::string prepare_run_directory(const Comm& comm, const Request& request);

/// Remove the directory that --validate worked in. Root only.
void remove_validation_directory(const std::string& directory);

}  // namespace quintet
