#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/application/life/context_fwd.hpp"

namespace quintet {

/// Whether a run goes on with a file beside run.h5 that holds frames ("trajectory.h5"). One that a kill has
/// damaged is put aside; of one that is not there, although the checkpoint counts frames of it, the run
/// tells. Collective.
[[nodiscard]] bool goes_on_with(Context& context, const std::string& name);

/// The number of frames of a file, or of a group of run.h5 ("frames"), for checkpoints: also for the one that
/// is written when its writer has gone.
class FrameCount {
 public:
  /// @param n the frames that a run begins or goes on with; it tells if the checkpoint counts more
  FrameCount(Context& context, const std::string& name, std::uint64_t n);
  void set(std::uint64_t n) { *n_ = n; }
  void add_one() { ++*n_; }

 private:
  std::shared_ptr<std::uint64_t> n_;
};

}  // namespace quintet
