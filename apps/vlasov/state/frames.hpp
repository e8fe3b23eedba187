#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/application/table/side_file.hpp"
#include "apps/vlasov/setup/setup.hpp"
#include "apps/vlasov/state/openpmd_frames.hpp"
#include "physics/kinetics/files/frames.hpp"
#include "physics/kinetics/files/gkyl_writer.hpp"

namespace quintet::vlasov {

class Simulation;

/// Fill f of species s from a frame (from 0; negative ones count from the end; absent: the last) of another
/// run's run.h5, or from a .gkyl file. Collective. Throws InputError.
void read_frame(const std::string& file, std::optional<std::int64_t> frame, const Setup& setup, int s,
                const kinetics::Distribution& f);

/// Frames of a run at some times: f, moments M0 to M3 and fields as coefficients; density, mean velocity,
/// temperature, heat flux and fields at points; and, if asked for, Gkeyll's files in `gkyl/` and openPMD's in
/// `openpmd/`.
class Frames {
 public:
  /// On a restart frames later than `step` and `time` are dropped. Collective.
  Frames(Context& context, const OutputOptions& options, const Setup& setup, std::int64_t step, double time);

  /// Schedule of the frames: start and end, and after the first step that reaches the time of a frame.
  [[nodiscard]] Schedule schedule() const;
  /// Write a frame, unless there is one of this step. Collective.
  void write(const Simulation& simulation);
  /// Note a row of Gkeyll's time series.
  void note(const kinetics::Sample& sample);
  /// Bring what was noted to the files: before a checkpoint and at the end. Collective.
  void flush();

 private:
  void write_gkyl(const kinetics::Frame& frame, const Setup& setup) const;

  OutputOptions options_;
  double interval_ = 0;
  kinetics::FrameWriter writer_;
  FrameCount count_;
  std::optional<kinetics::GkylWriter> gkyl_;
  std::optional<OpenPmdFrames> openpmd_;
  std::vector<std::string> names_;  ///< of the species
  int vdim_;
};

}  // namespace quintet::vlasov
