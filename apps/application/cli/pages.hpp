#pragma once

#include <string>
#include <vector>

/// The manual page of a program and what completes its words in a shell, of the declarations that --help is
/// made of.
namespace quintet {

/// A flag as it is parsed and shown: "--output DIR", "what it does".
struct FlagText {
  std::string name, value, about;  ///< value "" for a switch
};

/// A command of a program.
struct CommandText {
  std::string name, about;
  std::vector<FlagText> flags;
  std::vector<std::string> keys;  ///< of its YAML file, "time.steps": what --set takes
};

struct ProgramText {
  std::string name, about, version;
  std::vector<CommandText> commands;
};

/// Page 1 of the manual, for man(7): `dpmd man > dpmd.1`.
[[nodiscard]] std::string manual_page(const ProgramText& program);
/// What `source` gives bash: commands, flags, keys behind --set, else files.
[[nodiscard]] std::string bash_completion(const ProgramText& program);
/// Likewise for zsh: a file _NAME in one of $fpath.
[[nodiscard]] std::string zsh_completion(const ProgramText& program);

}  // namespace quintet
