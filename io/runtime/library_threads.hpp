#pragma once

#include <string_view>

namespace quintet {

/// Tells OpenMP and BLAS, loaded or yet to be loaded, how many threads they get.
void set_library_threads(int threads);

/// Number of threads set last, 1 before: for libraries that are loaded later and take no number from the
/// environment.
[[nodiscard]] int library_threads();

/// Whether set_library_threads() put a variable ("OMP_NUM_THREADS=2") into the environment for the libraries
/// of this process. The user did not set it, so other programs must not see it.
[[nodiscard]] bool is_of_runtime(std::string_view variable);

}  // namespace quintet
