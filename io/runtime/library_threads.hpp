#pragma once

#include <string_view>

namespace quintet {

/// Whether a variable ("OMP_NUM_THREADS=2") was put into the environment by Runtime, for the libraries of
/// this process: it is no word of the user's to other programs.
[[nodiscard]] bool is_of_runtime(std::string_view variable);

}  // namespace quintet
