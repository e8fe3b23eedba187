#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/emulation/ptx/decoder.hpp"

namespace quintet::emulation {

enum class Where { parameter, lane, shared, dynamic_shared, address };
struct Symbol {
  Where where = Where::address;
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

struct Operand {
  enum What { reg, pred, memory, list, none } what = none;
  int id = -1;  // slot or predicate
  bool negated = false;
  std::int64_t offset = 0;
  std::optional<Space> space;  // known by a symbol
  std::vector<Operand> items;
  std::string text;
};

/// What the names in a function stand for: registers, predicates and symbols, scope by scope. Gives a kernel
/// its registers and the places of its variables. Errors: unknown().
class Names {
 public:
  using Symbols = std::map<std::string, Symbol>;
  struct Register {
    int id = -1;
    bool is_predicate = false;
  };
  using Registers = std::map<std::string, Register>;
  /// Scopes of one function, the innermost last.
  struct Scopes {
    std::vector<Registers> registers;
    std::vector<Symbols> symbols;
  };

  Names(const ModuleText &text, Kernel &kernel) : text_(text), kernel_(kernel) {}

  void open(Symbols formals = {});
  void close();
  /// The scopes there are, taken away: a function that is called does not see its caller's.
  [[nodiscard]] Scopes hide();
  void show(Scopes scopes) { scopes_ = std::move(scopes); }

  /// `.reg`, `.local`, `.param` or `.shared`: of the innermost scope.
  void declare(const std::string &s);
  [[nodiscard]] Symbol symbol(const std::string &name);
  [[nodiscard]] int predicate(const std::string &name) const;
  [[nodiscard]] Operand operand(const std::string &text);

  [[nodiscard]] int n_registers() const { return n_registers_; }
  /// The register of each value that stands in the text.
  [[nodiscard]] const std::map<std::uint64_t, int> &constants() const { return constants_; }

 private:
  int constant(std::uint64_t value);
  Symbol shared(const Declaration &d);

  const ModuleText &text_;
  Kernel &kernel_;
  int n_registers_ = n_special;
  std::map<std::uint64_t, int> constants_;
  Scopes scopes_;
  Symbols module_shared_;
};

}  // namespace quintet::emulation
