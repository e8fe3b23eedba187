#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/file.hpp"

/// Checkpoints that survive a kill at any moment.
namespace quintet::hdf5 {

/// The checkpoints of one run directory: `DIR/step_000000001000.h5`.
///
/// A checkpoint is written to a temporary name, flushed to the disk, checksummed (64-bit over the file's bytes, kept
/// in a side file `.sum` or a trailing user block: see checkpoint.cpp) and renamed; then all but the last `keep` go.
class CheckpointStore {
 public:
  CheckpointStore(Comm comm, std::string directory, int keep);

  /// Write the state at `step`; `write` fills the root group. Collective. Throws ResourceError if the disk is full; the
  /// checkpoints that were there before stay.
  void write(std::int64_t step, const Provenance& provenance, const std::function<void(Group&)>& write) const;

  /// The newest checkpoint that is whole. A truncated or corrupt one is passed over with a warning that names it.
  /// Collective; std::nullopt if there is none at all; throws InputError if there are some but none is whole.
  [[nodiscard]] std::optional<std::string> newest() const;

  /// Steps of the checkpoints that are there, oldest first.
  [[nodiscard]] std::vector<std::int64_t> steps() const;

 private:
  Comm comm_;
  std::string directory_;
  int keep_;
};

/// Throws InputError if the file is not a whole checkpoint (absent, truncated, checksum differs). Collective.
void verify_checkpoint(const Comm& comm, const std::string& path);

}  // namespace quintet::hdf5
