#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/parallel/comm.hpp"
#include "surrogates/bridge/device_torch.hpp"

namespace quintet {

/// Sums and gathers of slices, one each a rank, between arrays on the ranks' devices: from their memory where
/// MPI reads it, else through the host's. One message pass at a time.
///
/// The host waits for the device before MPI touches its memory: what was asked for before a start is done.
template <class Real>
class DeviceMessages {
 public:
  /// For slices of up to `slice` numbers. @param sums whether slices are summed, too
  DeviceMessages(const Comm& comm, const TorchDevice& device, std::int64_t slice, bool sums);

  /// Begin to sum the ranks' arrays `parts` [N, s], which stay as they are until finish_sum().
  void start_sum(const at::Tensor& parts);
  /// Slice r of the sum, in the order of the ranks, to rank r. @param own [s]; may be its part of `parts`
  void finish_sum(const at::Tensor& own);
  /// Begin to send this rank's slice of `all` [N, s] to all, and to take theirs.
  void start_gather(const at::Tensor& all);
  void finish_gather();
  void gather(const at::Tensor& all) {
    start_gather(all);
    finish_gather();
  }
  /// Let messages under way go on.
  void progress();

  [[nodiscard]] std::size_t device_bytes() const;
  [[nodiscard]] std::size_t host_bytes() const;
  [[nodiscard]] std::int64_t bytes_sent() const { return bytes_sent_; }
  [[nodiscard]] std::int64_t bytes_copied() const { return bytes_copied_; }

 private:
  /// Rank r's part of an array of all ranks'.
  [[nodiscard]] at::Tensor part(const at::Tensor& all, int rank) const;
  /// Arrays that MPI reads and writes in place of one on the device.
  [[nodiscard]] at::Tensor room_for(const at::Tensor& all) const;
  [[nodiscard]] at::Tensor arrived(int rank, std::int64_t slice) const;
  void count(const at::Tensor& copied) { bytes_copied_ += copied.nbytes(); }

  Comm comm_;
  TorchDevice device_;
  at::Tensor staged_, arrived_;  ///< [N slices] on the host, or none; [N - 1 slices] from other ranks
  at::Tensor array_, sent_;      ///< under way; where MPI has it
  std::vector<Comm::Pending> pending_;
  std::int64_t bytes_sent_ = 0, bytes_copied_ = 0;
};

}  // namespace quintet
