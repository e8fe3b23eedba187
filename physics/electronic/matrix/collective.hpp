#pragma once

#include <functional>
#include <string>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::electronic {

/// Throw InputError(message) on all ranks if any rank's message is not empty: that of the first such rank.
/// Collective.
void throw_together(const Comm& comm, const std::string& message);

/// Run `action`, which must not communicate, on every rank; if it throws an error on any rank, the first such
/// rank's is thrown on all, as its own kind. Collective.
void together(const Comm& comm, const std::function<void()>& action);

/// As together(), for a NumericalError. Collective.
template <class Action>
void numerically_together(const Comm& comm, Action&& action) {
  std::string message;
  try {
    action();
  } catch (const NumericalError& error) {
    message = error.what();
  }
  const int rank = comm.minimum(message.empty() ? comm.size() : comm.rank());
  if (rank < comm.size()) throw NumericalError(comm.broadcast(message, rank));
}

}  // namespace quintet::electronic
