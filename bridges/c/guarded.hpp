#pragma once

#include <cfenv>
#include <exception>
#include <string>
#include <utility>

#include "io/log/error.hpp"
#include "io/log/out_of_memory.hpp"

namespace quintet::bridges {

/// Codes of the C interfaces that are no exit code of ours: see quintet.h.
inline constexpr int done = 0, mistake = 2, no_memory = 4, fault = 70;

/// Keep the text of an error; where there is no memory even for that, a part of it.
inline int keep_error(std::string& kept, int code, const char* text) noexcept {
  try {
    kept = *text == '\0' ? "unknown error" : text;
  } catch (...) {
    kept = "out of memory";  // fits without allocation
  }
  return code;
}

/// The host's floating-point exceptions, put aside and given back. Lanes whose results nobody reads divide by
/// 0, and would end a host that traps that.
class HostsFloatingPoint {
 public:
  HostsFloatingPoint() { std::feholdexcept(&kept_); }
  ~HostsFloatingPoint() { std::fesetenv(&kept_); }
  HostsFloatingPoint(const HostsFloatingPoint&) = delete;
  HostsFloatingPoint& operator=(const HostsFloatingPoint&) = delete;

 private:
  std::fenv_t kept_{};
};

/// Do `work`; no exception leaves it: its text goes to `kept`.
template <class Work>
int guarded(std::string& kept, Work&& work) noexcept {
  const HostsFloatingPoint hosts;
  try {
    kept.clear();
    std::forward<Work>(work)();
    return done;
  } catch (const Error& error) {
    return keep_error(kept, static_cast<int>(error.code()), error.what());
  } catch (const std::exception& error) {
    return is_out_of_memory(error) ? keep_error(kept, no_memory, "out of memory")
                                   : keep_error(kept, fault, error.what());
  } catch (...) {
    return keep_error(kept, fault, "unknown error");
  }
}

}  // namespace quintet::bridges
