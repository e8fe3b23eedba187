#pragma once

#include <string>

#include "io/config/tree_fwd.hpp"

namespace quintet {

/// citations.bib of a run of this command ("dpmd run"): this program, and the publications whose methods its
/// configuration in force uses, as BibTeX.
[[nodiscard]] std::string bibliography(const std::string& command, const Tree& configuration,
                                       const std::string& version);

}  // namespace quintet
