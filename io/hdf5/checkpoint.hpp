#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"

/// Checkpoints that survive a kill at any moment.
namespace quintet::hdf5 {

/// Schema of a checkpoint's header; what the groups in it mean is the application's.
inline constexpr const char* checkpoint_schema = "quintet.checkpoint";
inline constexpr int checkpoint_version = 1;

/// "step_000000001000.h5"
[[nodiscard]] std::string checkpoint_name(std::int64_t step);
/// The newest step of a folder's checkpoints by their names alone, whole or not; nothing if the folder has
/// none.
[[nodiscard]] std::optional<std::int64_t> newest_step(const std::string& directory);

/// The checkpoints of one run directory: `DIR/step_000000001000.h5`.
///
/// A checkpoint is written to a temporary name (`.tmp` appended), flushed to the disk, sealed and renamed;
/// then all but the last `keep` go. The seal is 24 bytes after the end of the HDF5 data, where HDF5 tools do
/// not look: a magic number, the bytes before the seal, and a 64-bit checksum of them. So one file holds all,
/// and one rename brings it.
///
/// A checkpoint of a later step than the one just written belongs to a continuation that was given up. It is
/// renamed, with `.superseded` at the end and a warning, so that newest() does not bring it
/// back.
class CheckpointStore {
 public:
  /// Throws InputError if keep < 1. The folder is made by the first write.
  CheckpointStore(const Comm& comm, std::string directory, int keep);

  /// Write the state at `step`; `write` fills the root group. Collective. Throws ResourceError if the disk is
  /// full; the checkpoints that were there before stay.
  void write(std::int64_t step, const Provenance& provenance, const std::function<void(Group&)>& write) const;

  /// The newest checkpoint that is whole. A truncated or corrupt one is passed over with a warning that names
  /// it. Collective; std::nullopt without any checkpoint; throws InputError if there are checkpoints but all
  /// are damaged.
  [[nodiscard]] std::optional<std::string> newest() const;

  /// Steps of the checkpoints that are there, oldest first. Collective.
  [[nodiscard]] std::vector<std::int64_t> steps() const;

  /// Give checkpoints of later steps the name of such a continuation, before write() does. Collective.
  void supersede_after(std::int64_t step) const;

  /// Path of the checkpoint of a step.
  [[nodiscard]] std::string path(std::int64_t step) const;

 private:
  /// Set aside what is later than a step; on rank 0. Returns the steps that stay.
  std::vector<std::int64_t> set_aside_after(std::int64_t step) const;
  /// Set aside what is later than a step, and remove all but the last `keep` checkpoints; on rank 0.
  void tidy(std::int64_t newest_step) const;

  std::shared_ptr<const Comm> comm_;
  std::string directory_;
  int keep_;
};

/// Throws InputError if the file is not a whole checkpoint (absent, truncated, checksum differs). Collective.
void verify_checkpoint(const Comm& comm, const std::string& path);

/// The step at which a checkpoint was written. Throws InputError if the file is not a checkpoint.
[[nodiscard]] std::int64_t checkpoint_step(const File& file);

}  // namespace quintet::hdf5
