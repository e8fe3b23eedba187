#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A warm program: loaded once, it forks a process for each run that it is asked for. `NAME warm`, a hidden
/// command, is started by `quintet campaign` with a socket as its stdin, and ends when the other end is gone.
///
/// It forks before MPI, Kokkos and LibTorch are up and has one thread, so that a run is what it would be if
/// it had been started by itself: process, group, folder, memory, signals and exit code are its own. All runs
/// share are pages that none of them has written to, and what made_once() keeps.
namespace quintet {

/// A run to be started.
struct WarmOrder {
  std::string folder;                  ///< it works there
  std::string log;                     ///< file that it adds what it says to
  std::vector<std::string> variables;  ///< "NAME=value", on top of the warm program's environment
  std::vector<std::string> words;      ///< of the command, the program's first
};

/// News from a warm program of itself (process 0) or of a run.
struct WarmNews {
  static constexpr std::int64_t ready = -1, begun = -2, refused = -3;  ///< refused: no process for a run
  std::int64_t process = 0;
  std::int64_t status = ready;  ///< or that of waitpid(), where it has ended
};

/// Send an order through a socket; false if nobody reads there.
[[nodiscard]] bool send_order(int socket, const WarmOrder& order);
/// The next news, waited for up to some milliseconds (-1: for ever); nothing if none came. Throws
/// ResourceError if the other end is gone.
[[nodiscard]] std::optional<WarmNews> next_news(int socket, int patience_ms);

/// Run as a warm program: returns in the process of each run, with its words. Throws UsageError if stdin is
/// not a socket, or if there are several threads.
[[nodiscard]] std::vector<std::string> words_of_warm_run();

}  // namespace quintet
