#pragma once

#include <string>
#include <vector>

#include "io/config/tree_fwd.hpp"

namespace quintet {

/// The commands, of all programs, whose YAML files have the keys of this document ("vlasov run"): those that
/// know most of its keys at the top, and at least two of three; none where no such command is known.
[[nodiscard]] std::vector<std::string> commands_that_read(const Tree& document);

/// Share of the keys at the top of a document that files of this command have; 0 for an unknown command.
[[nodiscard]] double known_share(const Tree& document, const std::string& command);

}  // namespace quintet
