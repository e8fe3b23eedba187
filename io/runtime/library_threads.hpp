#pragma once

namespace quintet {

/// Tells OpenMP and BLAS, loaded or yet to be loaded, how many threads they get.
void set_library_threads(int threads);

/// What was told last, 1 before: for libraries that are loaded later and take no number from the environment.
[[nodiscard]] int library_threads();

}  // namespace quintet
