#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/application/life/context_fwd.hpp"
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
  void begin_xyz(Context& context, std::int64_t step);
  void add_xyz(const Simulation& simulation, double time) const;

  const Comm& comm_;
  std::optional<TrajectoryOptions> options_;
  std::string xyz_;  ///< path, or ""
  std::optional<H5mdWriter> h5md_;
  std::optional<FrameCount> count_, xyz_count_;  ///< of its frames, and of those of trajectory.xyz
};

}  // namespace quintet::dpmd
