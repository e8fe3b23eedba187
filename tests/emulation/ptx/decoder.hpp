#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/emulation/ptx/kernel.hpp"

/// A module as text, and what makes a kernel of a function in it.
namespace quintet::emulation {

[[noreturn]] void unknown(
    const std::string &what);  ///< PTX that is not known here: says so and ends the program
[[nodiscard]] bool word_char(char c);
[[nodiscard]] std::string trim(const std::string &s);
/// Parts between separators that lie in no bracket.
[[nodiscard]] std::vector<std::string> split(const std::string &s, char at);
/// The bits of an immediate: 12, -3, 0x1f, 0f3F800000, 0d3FF0000000000000.
[[nodiscard]] std::uint64_t number(const std::string &text);
[[nodiscard]] std::size_t up(std::size_t n,
                             std::size_t align);  ///< to the next multiple

/// `.align 8 .b8 name[32]`, `.u64 name`, with more words before it.
struct Declaration {
  std::string name;
  std::size_t align = 1, bytes = 0, element = 0;
  bool open = false;  // name[]
};

[[nodiscard]] Declaration declaration(const std::string &text);

struct FunctionText {
  bool entry = false;
  std::string name, directives, body;
  std::vector<Declaration> parameters, results;
  int line = 1;
};

struct Variable {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

struct ModuleText {
  std::map<std::string, FunctionText> functions;
  std::map<std::string, Variable> variables;
  std::map<std::string, Declaration> shared;  // of the module
};

/// Instructions in order, functions that are called in their place. Errors:
/// unknown().
[[nodiscard]] std::unique_ptr<Kernel> decode(const ModuleText &text, const FunctionText &function);

/// Gives registers whose lives do not meet one slot. `registers`: their number;
/// the first n_special and those of `constants` (register of each value) keep
/// one of their own.
void assign_slots(Kernel &kernel, int registers, const std::map<std::uint64_t, int> &constants);

}  // namespace quintet::emulation
