#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/application/table/side_file.hpp"
#include "apps/dpmd/run/simulation.hpp"
#include "apps/dpmd/setup/run_options.hpp"
#include "physics/particles/files/h5md.hpp"

namespace quintet::dpmd {

/// Frames of a run: trajectory.h5 (H5MD), trajectory.xyz (extended XYZ, written by one rank in the order of
/// ids), or both. A restart cuts them back to its step, so that they end up as those of an uninterrupted run.
class Trajectory {
 public:
  /// Nothing is written without the section. Collective.
  Trajectory(Context& context, const std::optional<TrajectoryOptions>& options, const Simulation& simulation);
  [[nodiscard]] Schedule schedule() const;
  /// Append the frame. Collective.
  void add(const Simulation& simulation, double time);
  void flush();

 private:
  void begin_xyz(bool restarts, std::int64_t step) const;
  void add_xyz(const Simulation& simulation, double time) const;

  const Comm& comm_;
  std::optional<TrajectoryOptions> options_;
  std::string xyz_;  ///< path, or ""
  std::optional<H5mdWriter> h5md_;
  std::optional<FrameCount> count_;  ///< of its frames
};

/// Length in bytes of the whole frames up to `step` at the start of an extended XYZ file that Trajectory
/// wrote.
[[nodiscard]] std::uintmax_t xyz_length_up_to(const std::string& path, std::int64_t step);

}  // namespace quintet::dpmd
