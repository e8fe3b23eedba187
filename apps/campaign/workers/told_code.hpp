#pragma once

#include <optional>
#include <string>

namespace quintet::campaign {

/// A name for a start of a program, which no other start has: what its last word is known by (LastWord).
[[nodiscard]] std::string new_start();
/// The variable by which the program is told.
[[nodiscard]] std::string variable_of_start(const std::string& start);

/// The exit code of a start, as the program itself has told it in a run directory that lies somewhere in
/// `folder`; nothing where it has not: it was killed, or had no run directory yet. What starts MPI ends with
/// codes of its own. The word is `.quintet/last_word` from then on, as that of any run.
[[nodiscard]] std::optional<int> told_code(const std::string& folder, const std::string& start);

}  // namespace quintet::campaign
