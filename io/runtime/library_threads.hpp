#pragma once

#include <string_view>

namespace quintet {

/// Tells OpenMP and BLAS, loaded or yet to be loaded, how many threads they get.
void set_library_threads(int threads);

/// What was told last, 1 before: for libraries that are loaded later and take no number from the environment.
[[nodiscard]] int library_threads();

/// Whether a variable ("OMP_NUM_THREADS=2") was put into the environment by set_library_threads(), for the
/// libraries of this process: it is no word of the user's to other programs.
[[nodiscard]] bool is_of_runtime(std::string_view variable);

}  // namespace quintet
