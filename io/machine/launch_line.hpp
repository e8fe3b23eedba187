#pragma once

#include <string>

#include "io/machine/rules.hpp"

namespace quintet {

/// A machine's line of shell that starts MPI ("mpirun -np {ranks}") with its placeholders replaced: {nodes},
/// {ranks}, {ranks_per_node}, {threads}, {gpus_per_node}; {variables} by what a job's script sets
/// (apps/quintet/submit/script.hpp).
[[nodiscard]] std::string launch_line(const std::string& command, const JobShape& shape);

}  // namespace quintet
