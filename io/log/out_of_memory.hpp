#pragma once

#include <exception>
#include <new>
#include <string_view>

namespace quintet {

/// Whether an exception of a library says that memory ran out. Kokkos says so only in its text, for Views on
/// the host and on a GPU.
[[nodiscard]] inline bool is_out_of_memory(const std::exception& error) {
  const std::string_view text(error.what());
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         (text.starts_with("Kokkos") && text.find("failed to allocate") != std::string_view::npos);
}

}  // namespace quintet
