#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/tiers/ledger.hpp"

namespace quintet {

/// Counts memory that torch allocates on this thread (CPU) in the ledger as activations, while it lives. At
/// its end what is still allocated is taken off.
class TorchMemory {
 public:
  /// Hears of each allocation, before it is used, and of its end, before its place is free for others.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void allocated(void* place, std::size_t bytes) = 0;
    virtual void freed(void* place) = 0;
  };

  explicit TorchMemory(Ledger& ledger);
  ~TorchMemory();
  TorchMemory(const TorchMemory&) = delete;
  TorchMemory& operator=(const TorchMemory&) = delete;

  /// Bytes now, and at most since the last call of take_peak().
  [[nodiscard]] std::int64_t held() const;
  [[nodiscard]] std::int64_t take_peak();
  /// Null: nobody.
  void observe(Observer* observer);
  /// Bytes of an allocation that have come back (> 0) or are elsewhere meanwhile.
  void count(std::int64_t bytes);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet
