#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/atoms/atoms.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

/// Content of a trajectory, and how it begins.
struct H5mdOptions {
  bool velocities = true;
  bool forces = false;
  bool single_precision = false;  ///< positions, velocities and forces as float32: half the size
  std::string author = "unknown";
  hdf5::Provenance provenance = {};  ///< also names the creator
  /// Continue the file that is there, without its frames after this step. Absent: write a new file in place
  /// of an older one.
  std::optional<std::int64_t> restart_step = {};
  /// The frames that the checkpoint counts: no more are kept; n_frames() says how many there are.
  std::optional<std::uint64_t> restart_frames = {};
};

/// A number or a few that belong to a frame (temperature, pressure tensor), for /observables.
struct H5mdObservable {
  std::string name;
  std::string unit;            ///< H5MD's notation: "K", "eV", "eV Angstrom-3"; "" if dimensionless
  std::vector<double> values;  ///< one: a scalar; their number must not change between frames
};

/// Writes an H5MD 1.1 trajectory from atoms that are distributed over ranks.
///
/// `/particles/atoms` (also reachable as `/particles/trajectory`, where MDAnalysis looks for a topology)
/// holds `position`, `velocity`, `force` and `image`, `box` (`edges`, rows a b c, and beside the standard
/// `origin`), `species`, `id` and `mass`; `/observables` what is given with each frame. All share one `step`
/// and one `time` by hard links. A row is always the same atom: rows are in the order of ids, on any number
/// of ranks. Each rank sorts and writes one range of ids, so that a frame passes through one all-to-all and
/// no rank holds more than its share (for ids without large gaps). Units (H5MD module `units`): Angstrom, ps,
/// Angstrom ps-1, amu; forces eV Angstrom-1 (MDAnalysis, which knows no eV, reads them with
/// convert_units=False). The names of species i is entry i of the attribute `type_names` of the group.
/// Source: de Buyl, Colberg, Höfling (2014), Comput. Phys. Commun. 185, 1546; H5MD specification,
/// version 1.1.
class H5mdWriter {
 public:
  /// `atoms` gives ids, types, masses and boundaries, which do not change. Collective.
  /// Throws InputError (continuing: no such file, other atoms), ResourceError.
  H5mdWriter(const Comm& comm, const std::string& path, const Atoms& atoms, const H5mdOptions& options = {});
  ~H5mdWriter();
  H5mdWriter(H5mdWriter&&) noexcept;
  H5mdWriter& operator=(H5mdWriter&&) noexcept;

  /// Append a frame; time in ps. Every frame must bring the same observables. Collective.
  /// Throws NumericalError if atoms were lost or doubled, ResourceError if the disk is full.
  void append(std::int64_t step, double time, const Atoms& atoms,
              const std::vector<H5mdObservable>& observables = {});
  [[nodiscard]] std::int64_t n_frames() const;
  /// Message of a restart on the frames that it keeps: "frame 3 does not agree with its checksum", or "".
  /// Only the last frames are looked at, about 256 MiB of them.
  [[nodiscard]] const std::string& altered() const;
  void flush();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Read frames of a trajectory that H5mdWriter wrote; images are folded into the positions.
/// @param frame from 0, negative ones count from the end; none: all. Throws InputError.
[[nodiscard]] std::vector<Configuration> read_h5md(const std::string& path,
                                                   std::optional<std::int64_t> frame = -1);

}  // namespace quintet
