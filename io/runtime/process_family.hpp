#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quintet {

/// What a program that this process has started consists of, whoever of it has ended: its first process, the
/// head of a session; whatever was born into that session or bears the program's mark in its environment; and
/// the children of all these. Only a process that has left the session, cleared its environment and lost its
/// parent is not found. Source: proc(5), setsid(2).
class ProcessFamily {
 public:
  /// Variable of the environment with the marks of all programs that a process is part of.
  static constexpr const char* variable = "QUINTET_PROGRAM";
  /// "NAME=value" for the next program: a new mark behind those of this process.
  [[nodiscard]] static std::string new_mark();

  /// @param head of the session @param mark of new_mark(), which is in its environment
  ProcessFamily(int head, const std::string& mark);

  /// The living ones, without those that have ended and wait for their parents to ask.
  [[nodiscard]] std::vector<int> processes() const;
  /// Whether one of them holds the socket of this number (that of the link /proc/PROCESS/fd/N).
  [[nodiscard]] bool holds_socket(std::uint64_t number) const;
  /// Ask all to end, wait so long (s), then force those that are left and are born meanwhile, also those that
  /// lose their parents meanwhile. Returns false if one is there still after ten seconds more.
  bool end(double patience_s) const;

 private:
  /// These, and all others that are found.
  [[nodiscard]] std::vector<int> with_relatives(std::vector<int> found) const;

  int head_;
  std::string mark_;
};

}  // namespace quintet
