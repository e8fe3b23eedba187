#pragma once

#include <string>

#include "io/log/error.hpp"

namespace quintet {

/// Record that a start of a program leaves for whoever waits for it: the file `.quintet/last_word` of the run
/// directory, with code, reason, newest checkpoint. The exit code of a launcher says less: mpirun ends with 1
/// for a signal, a node that does not answer and a mistake in the input alike.
///
/// A job script names its start in the variable QUINTET_START and believes the word of that start alone: it
/// is written as `last_word_START`, so that nobody else's stands in its place, and the script renames it.
/// A start of such a name that is stopped early ends with exit code 0: its word says 75.
/// Programs that this one starts do not inherit the name.
class LastWord {
 public:
  /// `speaks`: whether this rank writes.
  LastWord(std::string directory, std::string program, bool speaks);

  /// Whether a job script waits for the word.
  [[nodiscard]] bool is_awaited() const { return !start_.empty(); }
  void set_speaks(bool speaks) { speaks_ = speaks; }
  /// The run writes to its directory now: its word holds without a script, too.
  void set_begun() { has_begun_ = true; }
  /// Another run has the directory: not a word about that one.
  void set_in_use() { in_use_ = true; }

  /// Write how this start ends; the last one holds. Does nothing where it cannot be written.
  void leave(ExitCode code, const std::string& reason) const;
  /// Write the last word as leave() does, from a rank that ends all others, whether or not it is the one that
  /// speaks.
  void leave_alone(ExitCode code, const std::string& reason) const;

 private:
  std::string directory_, program_, start_;
  bool speaks_, has_begun_ = false, in_use_ = false;
};

}  // namespace quintet
