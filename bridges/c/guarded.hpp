#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "io/log/error.hpp"

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

/// Do `work`; no exception leaves it: its text goes to `kept`.
template <class Work>
int guarded(std::string& kept, Work&& work) noexcept {
  try {
    kept.clear();
    std::forward<Work>(work)();
    return done;
  } catch (const Error& error) {
    return keep_error(kept, static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return keep_error(kept, no_memory, "out of memory");
  } catch (const std::exception& error) {
    return keep_error(kept, fault, error.what());
  } catch (...) {
    return keep_error(kept, fault, "unknown error");
  }
}

}  // namespace quintet::bridges
