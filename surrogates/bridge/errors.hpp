#pragma once

#include <functional>
#include <string>
#include <utility>

#include "io/log/error.hpp"

/// The one place where torch's errors become ours.
namespace quintet {

/// Call it in a catch block: it throws the exception in flight as one of ours, with the message "<doing>
/// failed: <torch's text>".
///
/// Errors of ours pass unchanged. Out of memory becomes ResourceError, a failed matrix factorisation
/// NumericalError, all other errors of torch the error of the exit code `otherwise`. The C++ backtrace is
/// left out.
[[noreturn]] void rethrow_torch_error(const std::string& doing, ExitCode otherwise = ExitCode::internal);

/// Calls `action` and returns what it returns; torch's errors are translated by rethrow_torch_error(). For
/// reading a model file, `otherwise` is ExitCode::input.
template <class Action>
decltype(auto) translate_torch_errors(const std::string& doing, Action&& action,
                                      ExitCode otherwise = ExitCode::internal) {
  try {
    return std::invoke(std::forward<Action>(action));
  } catch (...) {
    rethrow_torch_error(doing, otherwise);
  }
}

}  // namespace quintet
