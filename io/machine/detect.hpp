#pragma once

#include "io/machine/machine.hpp"

namespace quintet {

/// Detect the properties of this computer: processor, sockets, cores that this process may use, memory (of a
/// control group, or a parent of it, where that is less), GPUs (by nvidia-smi), scratch folder and its size,
/// and the scheduler whose commands are on the PATH. Others stay unknown.
[[nodiscard]] Machine detected_machine();

/// Whether mpirun, srun or the like has started this process as one of several.
[[nodiscard]] bool launched_in_parallel();

/// Put what `detected` knows where `machine` knows nothing.
void fill_in(Machine& machine, const Machine& detected);

/// The processor's name as the system gives it, such as "AMD EPYC 9R14"; "" if it gives none.
[[nodiscard]] std::string processor_name();

/// Full path of a program on the PATH, "" if it is not there.
[[nodiscard]] std::string program_on_path(const std::string& name);

}  // namespace quintet
