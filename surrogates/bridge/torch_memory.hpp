#pragma once

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

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet
