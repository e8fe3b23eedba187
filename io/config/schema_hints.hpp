#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/config/tree_fwd.hpp"

/// What a user probably meant by a value or key that cannot be read.
namespace quintet {

/// "; write 0.5 with a decimal point", "; write 1e5", "; this key takes no unit" ...: the way out for a text
/// that is no number; "" where none is seen.
[[nodiscard]] std::string number_hint(std::string_view text);

/// What is wrong with a formula that is no more than a number: no finite one, or one with a unit; "" if
/// nothing is.
[[nodiscard]] std::string plain_formula_problem(std::string_view text);

/// "; did you mean 'hartree'?" for 'Ha': a choice that is the same unit under another name, else a near name.
[[nodiscard]] std::string choice_hint(std::string_view text, const std::vector<std::string>& choices);

/// "; write 'steps: 1000'" for a key 'steps 1000' without a value, where `names` has 'steps' or is empty, and
/// the way out of {dt: 0,5}, where the comma makes a key of the 5; "" else. `before`: the value in front of
/// it, if any.
[[nodiscard]] std::string bare_key_hint(std::string_view key, const Tree& value, const Tree* before,
                                        const std::vector<std::string>& names);

/// "; did you mean 'runs/fit/modes.h5'?" for a file that is not in `folder`, where one of a near name is
/// there (each folder of its path near or exact); "; there is no folder 'runs/fit'" where a folder of `name`
/// is missing; "" else.
[[nodiscard]] std::string file_hint(const std::filesystem::path& folder, const std::filesystem::path& name);

/// The value that a message is about: that of the path it begins with ("grid.cells: ..."), else of the first
/// path in it that is there ("FILE has 121 frames, but data.crop asks for 3200"), else of the part of the
/// first path that is there. Null where none is.
[[nodiscard]] const Tree* value_named_in(std::string_view message, const Tree& tree);

}  // namespace quintet
