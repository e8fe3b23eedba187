#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/runtime/process_family.hpp"

namespace quintet::dpmd {

/// How a program ended.
struct ProcessEnd {
  int code = 0;            ///< exit code, or 128 + signal
  bool timed_out = false;  ///< killed at its time limit
  bool stopped = false;    ///< killed because we were asked to stop
  /// Ended by a signal that we did not send: nothing is said of what it was to compute.
  [[nodiscard]] bool died() const { return code > 128 && code <= 128 + 64 && !timed_out && !stopped; }
  /// By one that comes from outside (a node's memory at its end, a scheduler, somebody): not by its own
  /// fault.
  [[nodiscard]] bool was_killed() const;
  [[nodiscard]] bool good() const { return code == 0 && !timed_out && !stopped; }
  [[nodiscard]] std::string text() const;  ///< "exit code 1", "signal 9", ...
};

/// A shell command that runs in a folder, output and errors into a file there; one that is destroyed is
/// stopped, with all its children (ProcessFamily), also where it has ended and they have not.
///
/// What an MPI launcher told this process is kept from the program, which may be an MPI program of its own.
class RunningProgram {
 public:
  /// Throws ResourceError if no process can be made.
  RunningProgram(const std::string& command, const std::string& folder, const std::string& output);
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram();
  /// How it ended, if it has.
  [[nodiscard]] std::optional<ProcessEnd> ended();
  /// Wait for its end for so long.
  [[nodiscard]] std::optional<ProcessEnd> ended_within(double seconds);
  /// Whether one of its processes holds this socket.
  [[nodiscard]] bool holds_socket(std::uint64_t number) const { return family_.holds_socket(number); }
  /// Ask all that is left of it to end, wait two seconds, then force it.
  void stop();

 private:
  RunningProgram(const std::string& command, const std::string& folder, const std::string& output,
                 const std::string& mark);
  int pid_;
  ProcessFamily family_;
  bool is_reaped_ = false;
  std::optional<ProcessEnd> end_;
};

/// Run a program and wait for it. `stop` is looked at ten times a second: then it and all its children are
/// killed. Throws ResourceError if no process can be made.
[[nodiscard]] ProcessEnd run_program(const std::string& command, const std::string& folder,
                                     const std::string& output, std::optional<double> limit_s,
                                     const std::atomic<bool>& stop);

/// Throws InputError if the program that a shell command begins with (behind VAR=value) is not found.
void require_program(const std::string& command, const std::string& what_to_do);

/// While one lives, SIGTERM, SIGINT and SIGUSR1 set a flag instead of what they did before. May be nested.
class StopWatch {
 public:
  StopWatch();
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;
  [[nodiscard]] static const std::atomic<bool>& seen();
};

/// The last lines of a program's output, for messages; without lines that are empty, of dashes or Open MPI's,
/// and with CP2K's reason in a line.
[[nodiscard]] std::string last_lines(const std::string& path, int n);

}  // namespace quintet::dpmd
