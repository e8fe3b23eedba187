#pragma once

#include <cstdint>
#include <memory>

#include "io/tiers/ledger.hpp"

namespace quintet {

/// While it lives, memory that torch allocates on this thread (CPU) is counted in the ledger as activations;
/// what is still there at its end is no activation any more and is taken off.
class TorchMemory {
 public:
  explicit TorchMemory(Ledger& ledger);
  ~TorchMemory();
  TorchMemory(const TorchMemory&) = delete;
  TorchMemory& operator=(const TorchMemory&) = delete;

  /// Bytes now, and at most since the last call of take_peak().
  [[nodiscard]] std::int64_t held() const;
  [[nodiscard]] std::int64_t take_peak();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet
