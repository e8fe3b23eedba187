#include "physics/electronic/matrix/collective.hpp"

#include <new>

namespace quintet::electronic {
namespace {

[[noreturn]] void throw_error(ExitCode code, const std::string& message) {
  if (code == ExitCode::input) throw InputError(message);
  if (code == ExitCode::numerical) throw NumericalError(message);
  if (code == ExitCode::resource) throw ResourceError(message);
  throw InternalError(message);
}

}  // namespace

void throw_together(const Comm& comm, const std::string& message) {
  const int first = comm.minimum(message.empty() ? comm.size() : comm.rank());
  if (first < comm.size()) throw InputError(comm.broadcast(message, first));
}

void together(const Comm& comm, const std::function<void()>& action) {
  auto code = ExitCode::done;
  std::string message;
  try {
    action();
  } catch (const Error& error) {
    code = error.code();
    message = error.what();
  } catch (const std::bad_alloc&) {
    code = ExitCode::resource;
    message = "out of memory";
  }
  const int first = comm.minimum(code == ExitCode::done ? comm.size() : comm.rank());
  if (first == comm.size()) return;
  const auto first_code = static_cast<ExitCode>(comm.broadcast(static_cast<int>(code), first));
  throw_error(first_code, comm.broadcast(message, first));
}

}  // namespace quintet::electronic
