#include "io/parallel/together.hpp"

#include <stdexcept>
#include <system_error>

#include "io/log/out_of_memory.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {

namespace {

/// An error as it travels.
struct Failure {
  ExitCode code = ExitCode::done;
  int rank = 0;
  std::string message;
};

Failure described(const std::exception_ptr& exception, int rank) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return {error.code(), rank_of(error).value_or(rank), error.what()};
  } catch (const std::length_error&) {  // more elements than any memory holds
    return {ExitCode::resource, rank, "out of memory"};
  } catch (const std::system_error& error) {
    return {ExitCode::resource, rank, error.what()};
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) return {ExitCode::resource, rank, "out of memory"};
    return {ExitCode::internal, rank, error.what()};
  } catch (...) {
    return {ExitCode::internal, rank, "an error of unknown kind"};
  }
}

template <class Kind>
struct KindOnRank : Kind, OnRank {
  explicit KindOnRank(const Failure& failure) : Kind(failure.message), OnRank{failure.rank} {}
};

[[noreturn]] void raise(const Failure& failure) {
  switch (failure.code) {
    case ExitCode::usage:
      throw KindOnRank<UsageError>(failure);
    case ExitCode::input:
      throw KindOnRank<InputError>(failure);
    case ExitCode::numerical:
      throw KindOnRank<NumericalError>(failure);
    case ExitCode::resource:
      throw KindOnRank<ResourceError>(failure);
    case ExitCode::stopped_early:
      throw KindOnRank<Interrupted>(failure);
    case ExitCode::internal:
    case ExitCode::done:  // no error has it
      break;
  }
  throw KindOnRank<InternalError>(failure);
}

}  // namespace

std::optional<int> rank_of(const std::exception& error) {
  const auto* const place = dynamic_cast<const OnRank*>(&error);
  return place == nullptr ? std::nullopt : std::optional(place->rank);
}

bool is_root(const Comm& comm) { return comm.is_root(); }

void throw_lowest(const Comm& comm, const std::exception_ptr& mine) {
  const int none = comm.size();
  const int here = mine ? comm.rank() : none;
  const int first = none == 1 ? here : comm.minimum(here);
  if (first == none) return;
  Failure failure;
  if (mine) failure = described(mine, comm.rank());
  if (none > 1) {
    failure.code = comm.broadcast(failure.code, first);
    failure.rank = comm.broadcast(failure.rank, first);
    failure.message = comm.broadcast(failure.message, first);
  }
  raise(failure);
}

}  // namespace quintet
