#pragma once

#include <string_view>

namespace quintet {

/// Have threads of OpenMP sleep where they wait (OMP_WAIT_POLICY=passive), unless the user has said how they
/// wait. Threads that spin, as by default, keep the cores from whoever else computes there, and a step on
/// shared cores took up to 40 times as long. A library that is there already has read its environment: the
/// process then begins anew, so that this must come before anything else.
void wait_passively(char** argv);

/// Tells OpenMP and BLAS, loaded or yet to be loaded, how many threads they get.
void set_library_threads(int threads);

/// Number of threads set last, 1 before: for libraries that are loaded later and take no number from the
/// environment.
[[nodiscard]] int library_threads();

/// Whether wait_passively() or set_library_threads() put a variable ("OMP_NUM_THREADS=2") into the
/// environment for the libraries of this process. The user did not set it, so other programs must not see it.
[[nodiscard]] bool is_of_runtime(std::string_view variable);

}  // namespace quintet
