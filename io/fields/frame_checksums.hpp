#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/fields/field_layout.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"

/// Checksums of the frames of files with fields: how they are written, and compared. Not for users of the
/// room.
namespace quintet::field_layout {

constexpr const char* checksum_name = "frame_checksum";

/// The dataset frame_checksum, [n_samples, n_t], of a file that is being written.
class FrameChecksums {
 public:
  FrameChecksums(const Comm& comm, const FieldSeriesHeader& header) : comm_(comm), header_(header) {}

  /// Make it, unless it is there. Of the first n_t frames those that lack one, which another program or an
  /// earlier version wrote, have none. Collective.
  void make(hdf5::Group& root, std::uint64_t n_times) const;
  /// Cut to n_t frames, or make room for as many. Collective.
  void resize(hdf5::Group& root, std::uint64_t n_times) const;
  /// Part of a frame's checksum from this rank's values [axes..., components] of a dataset, in a box of the
  /// grid. It is computed from the values as they are stored.
  template <class Real>
  [[nodiscard]] std::uint64_t part(const FieldDataset& dataset, const std::vector<Real>& values,
                                   const hdf5::Box& box) const;
  /// Write the checksum of a frame: the sum of these parts over datasets and ranks. Collective.
  void write(hdf5::Group& root, std::uint64_t sample, std::uint64_t frame, std::uint64_t part) const;

 private:
  const Comm& comm_;
  const FieldSeriesHeader& header_;
};

/// Compares the frames of a file with their checksums, each when values of it are first read. Files without
/// checksums pass, and so do those with a seal: all of their bytes were compared as they were opened.
class ComparedFrames {
 public:
  /// Collective.
  /// @param path of the file, which open_verified() has opened
  /// @param checksums path of the dataset in it, with axes [n_samples, n_t] or [n_t]
  ComparedFrames(const Comm& comm, std::string path, std::string checksums);
  /// Throws InputError, on all ranks, unless frames [first, first + n) of a sample are as they were written.
  /// Each rank may ask for others. Collective.
  void require(std::uint64_t sample, std::uint64_t first, std::uint64_t n);

 private:
  Comm comm_;
  std::string path_, checksums_;
  bool is_sealed_;
  std::optional<hdf5::File> file_;                              ///< this rank's own
  std::set<std::pair<std::uint64_t, std::uint64_t>> compared_;  ///< sample and frame
};

}  // namespace quintet::field_layout
