#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

/// Errors by who has to act on them. Nothing but apps/application prints a final error or chooses an exit
/// code.
namespace quintet {

/// Exit code of a run; the same for all executables (docs/running.md has them as a table).
enum class ExitCode : int {
  done = 0,            ///< finished
  usage = 1,           ///< the command line
  input = 2,           ///< configuration or input file
  numerical = 3,       ///< numerical failure; an emergency checkpoint is written
  resource = 4,        ///< out of memory, disk or another resource
  internal = 70,       ///< a bug of ours
  stopped_early = 75,  ///< stopped with a checkpoint (walltime, SIGTERM, SIGUSR1): resubmit
};

/// Base of all errors of ours: a message for people and the exit code it leads to.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// A mistake on the command line.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};
/// A mistake in the configuration or an input file: what, the offending value, what was expected, what to do.
struct InputError : Error {
  explicit InputError(const std::string& message) : Error(ExitCode::input, message) {}
};
/// NaN, a blown conservation law, no convergence: names step, field, rank and place.
struct NumericalError : Error {
  explicit NumericalError(const std::string& message) : Error(ExitCode::numerical, message) {}
};
/// Memory, disk space or another resource ran out.
struct ResourceError : Error {
  explicit ResourceError(const std::string& message) : Error(ExitCode::resource, message) {}
};
/// A bug of ours.
struct InternalError : Error {
  explicit InternalError(const std::string& message) : Error(ExitCode::internal, message) {}
};

}  // namespace quintet

/// Check what the user gave; throws InputError with the fmt-formatted message.
#define QUINTET_CHECK(condition, ...)                        \
  do {                                                       \
    if (!(condition)) [[unlikely]]                           \
      throw ::quintet::InputError(fmt::format(__VA_ARGS__)); \
  } while (false)

namespace quintet {

/// Whether this build evaluates QUINTET_ASSERT.
#ifdef QUINTET_ASSERTIONS
constexpr bool has_assertions = true;
#else
constexpr bool has_assertions = false;
#endif

}  // namespace quintet

/// Check ourselves; throws InternalError with place and message. Every build compiles the condition and the
/// message; only those with QUINTET_ASSERTIONS evaluate them.
#define QUINTET_ASSERT(condition, ...)                                             \
  do {                                                                             \
    if (::quintet::has_assertions && !(condition)) [[unlikely]]                    \
      throw ::quintet::InternalError(                                              \
          fmt::format("{}:{}: {}", __FILE__, __LINE__, fmt::format(__VA_ARGS__))); \
  } while (false)
