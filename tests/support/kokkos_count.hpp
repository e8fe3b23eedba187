#pragma once

#include <cstdint>
#include <cstring>

#include <Kokkos_Core.hpp>

namespace quintet {

/// What Kokkos's hooks see of named work of a device ("room::what"): on the host's space each launch, copy
/// and allocation is there that a device would make, but only a device's has such labels.
struct KokkosCounts {
  std::int64_t launches = 0;
  std::int64_t allocations = 0, live_bytes = 0;  ///< allocated and not given back
  std::int64_t copies = 0, bytes = 0;            ///< between such memory and other memory
};

/// Counts while it lives. One at a time; not beside a CopyCount.
class KokkosCount {
 public:
  /// @param room counted are the labels that begin with this one
  explicit KokkosCount(const char* room) {
    room_() = room;
    n() = {};
    namespace tools = Kokkos::Tools::Experimental;
    const auto launch = [](const char* label, std::uint32_t, std::uint64_t*) {
      n().launches += is_own(label);
    };
    tools::set_begin_parallel_for_callback(launch);
    tools::set_begin_parallel_scan_callback(launch);
    tools::set_begin_parallel_reduce_callback(launch);
    tools::set_allocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, const char* label, const void*, std::uint64_t size) {
          if (!is_own(label)) return;
          ++n().allocations;
          n().live_bytes += size;
        });
    tools::set_deallocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, const char* label, const void*, std::uint64_t size) {
          if (is_own(label)) n().live_bytes -= size;
        });
    tools::set_begin_deep_copy_callback([](Kokkos_Profiling_SpaceHandle, const char* to, const void*,
                                           Kokkos_Profiling_SpaceHandle, const char* from, const void*,
                                           std::uint64_t size) {
      // A fill: Kokkos has had both words for it.
      const auto is_number = [](const char* label) {
        return std::strcmp(label, "Scalar") == 0 || std::strcmp(label, "(none)") == 0;
      };
      if (is_number(from) || is_own(to) == is_own(from)) return;
      ++n().copies;
      n().bytes += size;
    });
  }
  ~KokkosCount() {
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(nullptr);
    tools::set_begin_parallel_scan_callback(nullptr);
    tools::set_begin_parallel_reduce_callback(nullptr);
    tools::set_allocate_data_callback(nullptr);
    tools::set_deallocate_data_callback(nullptr);
    tools::set_begin_deep_copy_callback(nullptr);
  }
  KokkosCount(const KokkosCount&) = delete;
  KokkosCount& operator=(const KokkosCount&) = delete;
  /// So far.
  [[nodiscard]] static KokkosCounts so_far() { return n(); }

 private:
  static bool is_own(const char* label) { return std::strncmp(label, room_(), std::strlen(room_())) == 0; }
  static KokkosCounts& n() {
    static KokkosCounts counts;
    return counts;
  }
  static const char*& room_() {
    static const char* label = "";
    return label;
  }
};

}  // namespace quintet
