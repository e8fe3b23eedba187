#pragma once

#include <exception>
#include <optional>
#include <string>

#include "io/log/error.hpp"
#include "io/parallel/comm_fwd.hpp"

/// An error on one rank is thrown on all of them, as its own kind.
namespace quintet {

/// Long work was given up because the run is to stop; nothing is wrong.
struct Interrupted : Error {
  explicit Interrupted(const std::string& message = "stopped before its end")
      : Error(ExitCode::stopped_early, message) {}
};

/// Base of every error that together() throws, beside its own kind: the rank that failed.
struct OnRank {
  int rank = 0;
};
/// The rank that failed, where together() threw the error.
[[nodiscard]] std::optional<int> rank_of(const std::exception& error);

/// Throw the error of the lowest rank that has one (`mine` is not null) on all ranks; return if none has.
/// Collective; on one rank nothing travels.
///
/// The kind is that of the exit code: UsageError, InputError, NumericalError, ResourceError, InternalError,
/// Interrupted; a finer kind is lost on all ranks alike. Other exceptions are converted: out of memory and
/// failures of the operating system to ResourceError, all else to InternalError.
void throw_lowest(const Comm& comm, const std::exception_ptr& mine);

/// Run `action` on every rank; if it throws on any, all ranks throw the error of the lowest one that failed,
/// see throw_lowest(). Collective. `action` must not wait for other ranks once it may have failed on one.
template <class Action>
void together(const Comm& comm, const Action& action) {
  std::exception_ptr mine;
  try {
    action();
  } catch (...) {
    mine = std::current_exception();
  }
  throw_lowest(comm, mine);
}

/// Whether this rank is rank 0, as Comm::is_root() says.
[[nodiscard]] bool is_root(const Comm& comm);

/// Run `action` on rank 0 alone; what it throws is thrown on all ranks, see together(). Collective.
template <class Action>
void on_root(const Comm& comm, const Action& action) {
  together(comm, [&] {
    if (is_root(comm)) action();
  });
}

/// Throw Kind(message) on all ranks if any rank's message is not empty: that of the lowest such rank.
/// Collective.
template <class Kind = InputError>
void throw_together(const Comm& comm, const std::string& message) {
  together(comm, [&] {
    if (!message.empty()) throw Kind(message);
  });
}

}  // namespace quintet
