#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// One direction of a grid: n points from `first`, `spacing` apart, or those of `points`.
struct XdmfAxis {
  double first = 0, spacing = 1;
  std::uint64_t n = 1;
  std::vector<double> points{};  ///< [n]; empty: equally spaced
};

/// An XDMF file (version 3) that lets ParaView and VisIt open fields over time in an HDF5 file.
///
/// Values belong to the points of a rectilinear grid. The file grows by one frame at a time; it is whole
/// after each.
class XdmfSeries {
 public:
  /// A scalar field: a dataset [(n_samples), n_times, axes..., (n_components)], or a part of it.
  struct Dataset {
    std::string name;                               ///< as it is shown
    std::string path;                               ///< "/fields/b"
    int precision = 8;                              ///< bytes a value
    std::uint64_t sample = 0, n_samples = 0;        ///< n_samples 0: no such axis
    std::uint64_t component = 0, n_components = 0;  ///< the same
    std::uint64_t n_times = 0;                      ///< 0: grows with the frames
  };
  struct Description {
    std::string data_file;  ///< of the HDF5 file, as seen from the XDMF file's folder
    std::vector<Dataset> datasets;
    std::vector<XdmfAxis> axes;  ///< slowest first, 1 to 3
  };

  /// Make the file, or replace it, with frames at `times`; rank 0 writes. Collective. Throws ResourceError.
  XdmfSeries(const Comm& comm, std::string path, Description description, const std::vector<double>& times);
  /// One more frame. Collective. Throws ResourceError.
  void append(double time);

 private:
  void write(const std::string& text);
  [[nodiscard]] std::string geometry() const;
  [[nodiscard]] std::string frame(double time, std::uint64_t number) const;

  std::shared_ptr<const Comm> comm_;
  std::string path_;
  Description description_;
  std::uint64_t n_frames_ = 0;
  long end_ = 0;  ///< where the next frame begins in the file
};

}  // namespace quintet
