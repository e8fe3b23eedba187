#pragma once

#include <cstdint>
#include <cstring>

#include <Kokkos_Core.hpp>

namespace quintet {

/// Bytes that Kokkos copies between named memory of a device ("room::what") and the rest, as its profiling
/// hooks see them: on the host's space both are the host's, but only a device's has such labels.
struct CopyCount {
  CopyCount() {
    bytes() = copies() = 0;
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(
        [](Kokkos_Profiling_SpaceHandle, const char* to, const void*, Kokkos_Profiling_SpaceHandle,
           const char* from, const void*, std::uint64_t size) {
          // A fill: Kokkos has had both words for it.
          const auto is_number = [](const char* label) {
            return std::strcmp(label, "Scalar") == 0 || std::strcmp(label, "(none)") == 0;
          };
          const auto is_named = [](const char* label) { return std::strchr(label, ':') != nullptr; };
          if (is_number(from) || is_named(to) == is_named(from)) return;
          ++copies();
          bytes() += size;
        });
  }
  ~CopyCount() { Kokkos::Tools::Experimental::set_begin_deep_copy_callback(nullptr); }
  CopyCount(const CopyCount&) = delete;
  CopyCount& operator=(const CopyCount&) = delete;
  static std::int64_t& bytes() {
    static std::int64_t n = 0;
    return n;
  }
  static std::int64_t& copies() {
    static std::int64_t n = 0;
    return n;
  }
};

}  // namespace quintet
