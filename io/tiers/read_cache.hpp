#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/tiers/ledger.hpp"

namespace quintet {

/// Things that are made of bytes in a file and then only read: as many stay in memory as the ledger's limit
/// has room for. Where room is needed, the one that was not used for longest goes; nothing is written back.
///
///     fetch(next);  const auto expert = hold(i);  ... expert.get() ...
///
/// hold() returns a thing that stays as long as the Hold lives. fetch() begins to read one that is to come:
/// a thread brings its bytes, its room is taken at once, and whoever is held or pinned never makes way for
/// it. TierStore is the sibling for what changes: it knows from the start what stays. All calls belong to one
/// thread.
class ReadCache {
 public:
  struct Item {
    std::size_t memory = 0;  ///< bytes that it takes once it is made
    std::size_t bytes = 0;   ///< in the file; they are in memory, too, from fetch() until it is made
  };
  struct Source {
    /// Read an item's bytes; in any thread.
    std::function<void(int item, std::span<std::byte> to)> read;
    /// Make it of them; in the caller's thread.
    std::function<std::shared_ptr<void>(int item, std::span<const std::byte> bytes)> make;
  };
  struct Options {
    ByteCategory category = ByteCategory::parameters;  ///< whose limit counts; bytes in flight are `staging`
    std::string what, help;                            ///< the items, and what to do where they do not fit
    std::vector<int> pinned;                           ///< never make way, once they have been asked for
    int ahead = 0;                                     ///< most items that fetch() brings at a time
  };

  /// Throws InputError where the largest item does not fit beside all that are pinned.
  ReadCache(Ledger& ledger, Options options, std::vector<Item> items, Source source);
  ReadCache(const ReadCache&) = delete;
  ReadCache& operator=(const ReadCache&) = delete;

  /// A thing in use.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept { *this = std::move(other); }
    Hold& operator=(Hold&& other) noexcept;
    ~Hold();
    [[nodiscard]] void* get() const { return value_; }

   private:
    friend class ReadCache;
    ReadCache* cache_ = nullptr;
    int item_ = 0;
    void* value_ = nullptr;
  };
  /// Throws what reading and making throw, and ResourceError where all that is there is in use.
  [[nodiscard]] Hold hold(int item);
  /// Begin to bring an item, if there is room for it that nobody uses.
  void fetch(int item);

  [[nodiscard]] bool holds(int item) const;     ///< made, and in memory
  [[nodiscard]] std::vector<int> held() const;  ///< the one that goes first, first
  struct Counts {
    std::int64_t hits = 0, fetched = 0, misses = 0,
                 evictions = 0;  ///< fetched: fetch() had begun to bring it
    std::size_t bytes_read = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Entry {
    Item size;
    bool pinned = false;
    int holds = 0;
    std::shared_ptr<void> value;
    Ledger::Claim memory, staging;
    std::unique_ptr<std::byte[]> bytes;
    std::future<void> arrival;
    std::optional<std::list<int>::iterator> place;  ///< in order_, while its room is taken
  };
  [[nodiscard]] Entry& at(int item) { return entries_[item]; }
  /// Make room for an item by evicting those unused for longest; false, with nothing changed, if that is not
  /// enough.
  [[nodiscard]] bool make_room(int item);
  void take_room(int item);
  void drop(int item);
  void make(int item);

  Ledger& ledger_;
  Options options_;
  Source source_;
  std::vector<Entry> entries_;
  std::list<int> order_;  ///< whose room is taken; used longest ago first
  Counts counts_;
};

/// In what order a batch is best served: all requests for one item together, first those for items that
/// `is_here`, otherwise by first appearance; those for one item in the order asked. Positions in `items`.
[[nodiscard]] std::vector<int> grouped(std::span<const int> items, const std::function<bool(int)>& is_here);

}  // namespace quintet
