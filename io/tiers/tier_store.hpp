#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "io/tiers/grain_memory.hpp"
#include "io/tiers/ledger.hpp"
#include "io/tiers/tier_file.hpp"
#include "io/tiers/tier_placement.hpp"

namespace quintet {

/// Traffic in one direction.
struct TierTraffic {
  std::size_t bytes = 0;
  double seconds = 0;  ///< that its thread was at it
};

/// Items of bytes of which as many stay in memory as the ledger's limit of their category has room for; the
/// others live in a file and pass through a few staging buffers.
///
///     bytes = pin(i);  fetch(i + 1), ..., fetch(i + ahead);  ...;  release(i, changed)
///
/// fetch() returns at once, a thread reads; release() returns at once, a thread writes. So with six buffers
/// items i + 1 to i + 3 arrive and two leave while the caller works on i. Items that stay are spread evenly
/// among the others: work on them is time for the disk. The calls themselves belong to one thread.
class TierStore {
 public:
  /// Items that are best fetched ahead: the times of single reads differ, several even them out.
  static constexpr int ahead = 3;
  struct Options {
    ByteCategory category = ByteCategory::optimiser;
    std::string what;  ///< the items, in messages
    std::string help;  ///< what to do where they do not fit
    int n_buffers = tier_buffers;
    TierFile::Options file;  ///< without a folder all items must fit into memory
  };

  /// Items are zero at first (or what was committed, see TierFile::Start). Throws ResourceError before
  /// anything is allocated where the ledger refuses, and what TierFile throws.
  TierStore(Ledger& ledger, const Options& options, std::vector<std::size_t> sizes);
  ~TierStore();
  TierStore(const TierStore&) = delete;
  TierStore& operator=(const TierStore&) = delete;

  [[nodiscard]] Tier home(int item) const;
  /// Begin to bring an item to memory.
  void fetch(int item);
  /// An item's bytes, from now to release(); waits until they are there. Throws ResourceError: what a thread
  /// could not read or write.
  [[nodiscard]] std::span<std::byte> pin(int item);
  /// Done with an item; where it `changed`, it is written.
  void release(int item, bool changed);
  /// All that was released is written, and survives the death of this process under the name `tag`
  /// (TierFile::commit).
  void commit(std::int64_t tag);

  [[nodiscard]] std::size_t host_bytes() const { return host_bytes_; }  ///< without buffers
  [[nodiscard]] std::size_t staging_bytes() const { return staging_bytes_; }
  [[nodiscard]] std::size_t file_bytes() const { return file_ ? file_->bytes() : 0; }
  [[nodiscard]] const TierFile* file() const { return file_.get(); }
  [[nodiscard]] TierTraffic reads() const;
  [[nodiscard]] TierTraffic writes() const;
  /// Time that pin() and commit() have waited (s), which no computation hid.
  [[nodiscard]] double waited() const { return waited_; }

 private:
  enum class State { away, coming, here, leaving };
  struct Item {
    std::size_t size = 0;
    int in_file = -1;             ///< number there; -1: it stays in memory
    std::byte* memory = nullptr;  ///< its own, or a buffer
    State state = State::here;
    int pins = 0;
  };
  void read_items();
  void write_items();
  /// A buffer for the item that is to come next, or none.
  [[nodiscard]] std::byte* buffer_for(int item);
  void wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& until);

  std::vector<Item> items_;
  std::vector<Ledger::Claim> claims_;
  std::vector<GrainMemory> memory_;
  std::unique_ptr<TierFile> file_;
  int n_buffers_;
  std::size_t host_bytes_ = 0, staging_bytes_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::byte*> free_;
  std::deque<int> to_read_, to_write_;
  int wanted_ = -1;  ///< what pin() waits for
  bool ends_ = false;
  std::exception_ptr error_;
  TierTraffic reads_, writes_;
  double waited_ = 0;
  std::thread reader_, writer_;
};

}  // namespace quintet
