#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "apps/dpmd/label/label_program.hpp"

namespace quintet::dpmd {

/// A program that is started once and labels frame after frame: it connects to us as a driver of i-PI's
/// protocol. One thread's own.
///
/// It is started anew for a frame of another kind (atoms, boundaries, what the recipe says), after a failure,
/// and where it has ended. A frame that fails in a program that has labelled others is tried once more in a
/// fresh one.
class LabelDriver {
 public:
  /// @param command, text of the program's start and template @param folder for it, made at each start
  LabelDriver(const LabelRecipe& recipe, const LabelOptions& options, std::string command, std::string text,
              std::string folder);
  /// Tells the program to end, and waits for that.
  ~LabelDriver();
  LabelDriver(const LabelDriver&) = delete;
  LabelDriver& operator=(const LabelDriver&) = delete;

  /// The frame with energy, forces and, if the program gave one, virial. Throws NoLabel if the program ended,
  /// was too late or is to stop; InputError for results that are no labels.
  [[nodiscard]] Configuration label(const Configuration& frame);
  /// The program's output, for messages.
  [[nodiscard]] std::string output() const;

 private:
  void start(const Configuration& frame);
  /// Tell the program to end, and wait for that; it may.
  void part();
  /// End the program now.
  void end();
  [[nodiscard]] Configuration ask(const Configuration& frame);
  /// What the program says before it takes positions, or after: the answer to STATUS.
  [[nodiscard]] std::string status();
  /// Wait until the output since `from` is whole, and look at what it says.
  void read_output(std::size_t from, double energy);
  /// Throws NoLabel if there is nothing to wait for any more.
  void while_waiting();
  [[noreturn]] void tell_end(const ProcessEnd& end) const;

  const LabelRecipe& recipe_;
  const LabelOptions& options_;
  std::string command_, text_, folder_, kind_;
  std::optional<LoopbackListener> listener_;
  std::optional<RunningProgram> program_;
  std::optional<ipi::Connection> connection_;
  std::chrono::steady_clock::time_point begin_;                      ///< of the frame in work
  std::optional<std::chrono::steady_clock::time_point> gone_since_;  ///< the program has ended
  std::size_t n_labelled_ = 0;                                       ///< by the program that runs
};

}  // namespace quintet::dpmd
