#pragma once

#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// Each rank's text on rank 0, in order of rank (empty elsewhere). Collective.
[[nodiscard]] std::vector<std::string> gather_texts(const Comm& comm, const std::string& text);
/// What the ranks have to say: their texts that are not empty, each once, in order of rank, on rank 0.
/// Collective.
[[nodiscard]] std::vector<std::string> words_of_ranks(const Comm& comm, const std::string& text);

}  // namespace quintet
