#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/tiers/disk_file.hpp"
#include "io/tiers/ledger.hpp"
#include "surrogates/bridge/torch_memory.hpp"

namespace quintet {

/// Memory of torch's (CPU) that leaves, over a link or to a file, and comes back to the addresses where it
/// was.
///
/// What torch allocates between begin() and end() and has not freed by then is a bundle. send() takes a
/// bundle away, after which its places read as 0 and their pages are given back to the system; fetch() brings
/// its bytes back. Both return at once, a thread moves, one bundle after the other. Nobody may read a bundle
/// in between. Calls belong to the thread that torch allocates on; those that wait or ask throw ResourceError
/// for what the thread could not read or write.
///
/// A link stands for that between an accelerator's memory and its host. On a CPU it is emulated: bytes that
/// are away are in memory all the same (the ledger counts them as staging), and moving takes the time of the
/// link that is stated. Whole pages of a PageArena change their address and are not copied, so that a core
/// that computes beside it is left alone as it would be by such a link; what lies elsewhere is copied.
///
/// A file takes memory's place: pages go straight from where they are to the disk and back.
class SwapSpace : private TorchMemory::Observer {
 public:
  /// @param bandwidth of the link (bytes/s)
  SwapSpace(Ledger& ledger, double bandwidth);
  /// @param file grows as it needs
  SwapSpace(Ledger& ledger, std::shared_ptr<DiskFile> file);
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
    double link = 0;         ///< seconds that the link or the disk was at it
    double waited = 0;       ///< seconds that wait() has waited
  };
  [[nodiscard]] Traffic traffic() const;

 private:
  struct State;
  explicit SwapSpace(std::unique_ptr<State> state);
  void allocated(void* place, std::size_t bytes) override;
  void freed(void* place) override;

  std::unique_ptr<State> state_;
};

}  // namespace quintet
