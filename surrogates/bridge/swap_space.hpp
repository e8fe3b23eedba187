#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/tiers/ledger.hpp"
#include "surrogates/bridge/torch_memory.hpp"

namespace quintet {

/// Memory of torch's (CPU) that leaves over a link and comes back to the addresses where it was.
///
/// What torch allocates between begin() and end() and has not freed by then is a bundle. send() copies a
/// bundle away, after which its places read as 0 and their pages are given back to the system; fetch() brings
/// its bytes back. Both return at once, a thread copies, one bundle after the other. Nobody may read a bundle
/// in between. So it stands for an accelerator's memory and the link to its host: on a CPU, bytes that are
/// away are in memory all the same (the ledger counts them as staging), and a copy takes the time of the link
/// that is stated, or what copying takes where that is longer. Calls belong to the thread that torch
/// allocates on.
class SwapSpace : private TorchMemory::Observer {
 public:
  /// @param bandwidth of the link (bytes/s)
  SwapSpace(Ledger& ledger, double bandwidth);
  ~SwapSpace() override;
  SwapSpace(const SwapSpace&) = delete;
  SwapSpace& operator=(const SwapSpace&) = delete;

  /// A pass begins, of which no tensor is there yet: bundles of another one are forgotten. What has left is
  /// counted no more by `memory`, which outlives the pass's tensors.
  void start(TorchMemory& memory);
  void begin();
  /// The bundle of what is there since begin(), without the memory of tensors that `stay`.
  [[nodiscard]] int end(const std::vector<at::Tensor>& stay);

  void send(int bundle);
  void fetch(int bundle);
  /// Whether the last send() or fetch() of a bundle has ended. What has left is counted no more from here on.
  [[nodiscard]] bool is_done(int bundle);
  void wait(int bundle);

  struct Traffic {
    std::int64_t bytes = 0;  ///< both ways
    double link = 0;         ///< seconds that the link was at it
    double waited = 0;       ///< seconds that wait() has waited
  };
  [[nodiscard]] Traffic traffic() const;

 private:
  struct State;
  void allocated(void* place, std::size_t bytes) override;
  void freed(void* place) override;

  std::unique_ptr<State> state_;
};

}  // namespace quintet
