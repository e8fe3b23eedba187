#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace quintet {

/// Buffers through which items in a file pass: items i + 1 to i + 3 arrive and two leave while i is worked
/// on.
inline constexpr int tier_buffers = 6;

/// Placement of items by TierStore: before anything is allocated, and for plans.
struct TierPlacement {
  std::vector<int> in_file;                 ///< [item] its number in the file; -1: it stays in memory
  std::vector<std::size_t> file_sizes;      ///< (bytes) of those in the file
  std::size_t buffer = 0;                   ///< bytes of one buffer
  std::size_t host = 0, staging = 0;        ///< bytes of items that stay, of all buffers
  std::size_t file = 0;                     ///< bytes of the file: two generations and its head
  [[nodiscard]] std::size_t moved() const;  ///< bytes that one pass through all items reads, and writes
};
/// Items stay as far as `room` bytes go (none: all), spread evenly among the others: item i where the bytes
/// up to its end pass the next share of what may stay.
[[nodiscard]] TierPlacement place_items(std::span<const std::size_t> sizes, std::optional<std::size_t> room,
                                        int n_buffers = tier_buffers);

/// Numbers of an item where n of them, of so many bytes each, are cut into items: many, so that the pipeline
/// is long beside its ends, but no smaller than disks like and no larger than buffers should be (64 kB to 2
/// MB).
[[nodiscard]] std::size_t numbers_of_item(std::size_t n, std::size_t bytes_a_number);
/// Bytes of the items.
[[nodiscard]] std::vector<std::size_t> item_sizes(std::size_t n, std::size_t bytes_a_number);

}  // namespace quintet
