#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/file.hpp"
#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/distribution.hpp"
#include "physics/kinetics/space/species.hpp"

namespace quintet::kinetics {

/// A scalar field over time: a component of a DG field on uniform points.
struct PointField {
  std::string name;  ///< "e_x", "elc_density"
  std::string units = "1";
  std::string text;  ///< one sentence
  ConfField coefficients;
  int component = 0;
};

/// All that a frame holds; empty parts are not written. Every frame must bring the same fields and moments.
struct Frame {
  std::int64_t step = 0;
  double time = 0;
  std::vector<Distribution> f;  ///< one a species, or none
  struct Coefficients {
    std::string name;  ///< "m0"; "field"
    std::string text;
    ConfField values;
  };
  std::vector<std::vector<Coefficients>> moments;  ///< of each species
  std::vector<Coefficients> fields;
  std::vector<PointField> points;
};

/// Writes frames into run.h5:
///
///     frames/step, frames/time           [n_frames]; a frame counts when it is here and whole
///     frames/frame_checksum              [n_frames], over the values that the attribute `covers` names
///     species/NAME                       attributes charge, mass, cells, lower, upper, periodic, family, ...
///     species/NAME/f/frame_I             [N_x, ..., N_vx, ..., n_modes], as write() of distribution_io.hpp
///     species/NAME/moments/M             [n_frames, N_x, ..., components, n_modes]
///     coefficients/FIELD                 the same
///     fields                             values on uniform points, for any program: see below
///     pictures/NAME_x_vx                 [n_frames, points in vx, points in x] of every x and v, if f is
///     written
///
/// Group `fields` has the schema of fields over time of all applications: `time` [n_t], coordinates `x`, `y`,
/// `z` (those there are) of points, `mask` [(n_z), (n_y), n_x] (1: a value, 0: none), and the named fields
/// [n_t, (n_z), (n_y), n_x], float64, each with `units`. It and every picture have an XDMF file beside
/// run.h5, for ParaView and VisIt; FieldSeriesReader (io/fields) reads both.
class FrameWriter {
 public:
  /// @param file run.h5, open for writing; its path gives the names of the XDMF files
  /// @param points a cell and direction; 0: order + 1
  /// @param restart_step absent: a new run. Present: frames after this step are dropped, those before it
  /// kept, if whole. Collective. Throws InputError if what is there belongs to another run.
  /// @param restart_frames the frames that the checkpoint counts: no more are kept; size() says how many are
  FrameWriter(hdf5::File& file, const Decomposition& decomposition, const PhaseBasis& basis,
              const std::vector<Species>& species, int points, std::optional<std::int64_t> restart_step,
              std::optional<std::uint64_t> restart_frames = {});
  ~FrameWriter();
  FrameWriter(FrameWriter&&) noexcept;
  FrameWriter& operator=(FrameWriter&&) noexcept;

  /// Append a frame. Collective. Throws ResourceError if the disk is full, InputError if fields or moments
  /// are not those of the frames before.
  void append(const Frame& frame);
  [[nodiscard]] std::int64_t size() const;  ///< frames so far
  /// Step of the last frame; -1 without frames.
  [[nodiscard]] std::int64_t last_step() const;
  /// Message of a restart on the frames that it keeps: "frame 3 does not agree with its checksum", or "".
  /// Only the last frames are looked at, about 256 MiB of them.
  [[nodiscard]] const std::string& altered() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Reads a frame of a run.h5, on any number of ranks: to begin a run from it.
class FrameReader {
 public:
  /// @param frame from 0; negative ones count from the end. Collective. Throws InputError: no such file or
  /// frame.
  FrameReader(const Comm& comm, const std::string& path, std::int64_t frame = -1);

  [[nodiscard]] std::int64_t frame() const { return frame_; }
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] double time() const { return time_; }
  /// f of a species. Collective. Throws InputError: no such species, no f in this frame, other grid or basis
  /// (both are printed), values that are not finite.
  void read(const std::string& species, const Decomposition& decomposition, const PhaseBasis& basis,
            const Distribution& f) const;
  /// A field of `coefficients`, on all ranks. Collective. Errors as above.
  void read(const std::string& field, const Decomposition& decomposition, const PhaseGrid& grid,
            const PhaseBasis& basis, const ConfField& values) const;

 private:
  hdf5::File file_;
  std::string path_;
  std::int64_t frame_ = 0, step_ = 0;
  double time_ = 0;
};

}  // namespace quintet::kinetics
