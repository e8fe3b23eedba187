#include "surrogates/bridge/errors.hpp"

#include <stdexcept>
#include <string_view>

#include <c10/util/Exception.h>

#include "io/log/out_of_memory.hpp"

namespace quintet {
namespace {

[[noreturn]] void throw_as(ExitCode code, const std::string& message) {
  switch (code) {
    case ExitCode::usage:
      throw UsageError(message);
    case ExitCode::input:
      throw InputError(message);
    case ExitCode::numerical:
      throw NumericalError(message);
    case ExitCode::resource:
      throw ResourceError(message);
    default:
      throw InternalError(message);
  }
}

/// The host allocator of torch throws the general error; only its text tells, as does that of CUDA's errors.
bool is_out_of_memory(std::string_view text) {
  return text.find("can't allocate memory") != std::string_view::npos ||
         text.find("out of memory") != std::string_view::npos;
}

}  // namespace

void rethrow_torch_error(const std::string& doing, ExitCode otherwise) {
  const auto message = [&](const char* text) { return fmt::format("{} failed: {}", doing, text); };
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    throw ResourceError(message(error.what_without_backtrace()));
  } catch (const c10::LinAlgError& error) {
    throw NumericalError(message(error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    const char* text = error.what_without_backtrace();
    throw_as(is_out_of_memory(text) ? ExitCode::resource : otherwise, message(text));
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw ResourceError(message("out of memory"));
    throw_as(otherwise, message(error.what()));
  }
}

}  // namespace quintet
