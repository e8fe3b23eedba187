#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>

namespace quintet {

/// Memory for large blocks, whole pages each, of which no more is resident than the blocks have taken at most
/// so far and an eighth.
///
/// A general allocator keeps what a step of a training frees in bins of its own and maps the largest blocks
/// anew: between them up to twice of what is in use stays resident, and mapped pages are cleared each time.
/// Here freed pages stay and serve the next block; where more would be resident than the eighth allows, the
/// largest free ranges are given back to the system. A block is put into the smallest free range with pages
/// that holds it, else where most pages are there already. May be called from any thread.
class PageArena {
 public:
  /// Smaller blocks are better off elsewhere.
  static constexpr std::size_t least_block = 128 << 10;
  /// Share of the blocks' peak that may stay resident beside them, as 1 / slack_share.
  static constexpr std::size_t slack_share = 8;

  /// @param addresses bytes of address space to reserve, without memory. If the system refuses, no block
  /// fits.
  explicit PageArena(std::size_t addresses);
  ~PageArena();
  PageArena(const PageArena&) = delete;
  PageArena& operator=(const PageArena&) = delete;

  /// The one of this process: of four times the machine's memory, or none where addresses are limited
  /// (ulimit -v). It is never destroyed.
  [[nodiscard]] static PageArena& of_process();

  /// Null: no room. What is in it is not defined.
  [[nodiscard]] void* allocate(std::size_t bytes);
  void deallocate(void* place);
  [[nodiscard]] bool owns(const void* place) const;
  /// All pages of a block, also those beyond what was asked for.
  [[nodiscard]] std::span<std::byte> pages_of(const void* place) const;
  /// Somebody has given back pages of a block that is in use (bytes > 0), or they are there again (< 0).
  void note_absent(std::int64_t bytes);

  [[nodiscard]] bool has_addresses() const { return data_ != nullptr; }
  struct Use {
    std::size_t live = 0, resident = 0;            ///< bytes of blocks; with free ranges that have pages
    std::size_t most_live = 0, most_resident = 0;  ///< so far
  };
  [[nodiscard]] Use use() const;

 private:
  /// A free range.
  struct Range {
    std::size_t size = 0;
    bool has_pages = false;
  };
  using Ranges = std::map<std::size_t, Range>;  ///< by where they begin; neighbours of a kind are one
  [[nodiscard]] std::size_t place_for(std::size_t size) const;
  void take(std::size_t from, std::size_t size);
  void insert(std::size_t from, Range range);
  void keep_within(std::size_t bytes);

  std::size_t addresses_ = 0;
  std::byte* data_ = nullptr;
  mutable std::mutex mutex_;
  Ranges free_;
  std::unordered_map<std::size_t, std::size_t> blocks_;  ///< size by place
  std::size_t with_pages_ = 0;                           ///< of free ranges
  Use use_;
};

}  // namespace quintet
