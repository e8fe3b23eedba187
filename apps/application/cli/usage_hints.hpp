#pragma once

#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"

/// What was meant by words of the command line that nobody takes.
namespace quintet {

/// "--set time.steps=3" for `--set time.steps 3`, `--set time.steps = 3` and `--set time.dt=2 fs`: the last
/// setting with the words that were left over, quoted as a shell needs it; "" if it is none of these.
[[nodiscard]] std::string setting_meant(const std::vector<std::string>& settings,
                                        const std::vector<std::string>& words,
                                        const std::vector<std::string>& left_over);

/// "--set time.steps=10" for `--steps 10`, where keys of that name are described; several are divided by
/// "or". `value`: the word behind the flag, "" if there is none.
[[nodiscard]] std::string setting_for_flag(const std::string& flag, const std::string& value,
                                           const Describe& describe);

/// "time.steps", ...: all keys that have a value, those of sections within lists left out.
[[nodiscard]] std::vector<std::string> key_paths(const Describe& describe);

/// Whether a word that stands where a command is expected looks like an input file: it is there, or its name
/// ends like one.
[[nodiscard]] bool looks_like_input(const std::string& word);

/// "dpmd run case.yaml": the command lines that the file is an input of, those of `program` alone where there
/// are any; divided by "or". "" if that cannot be told.
[[nodiscard]] std::string command_line_for(const std::string& program, const std::string& file);

}  // namespace quintet
