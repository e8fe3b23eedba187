#pragma once

#include "apps/application/loop/schedule.hpp"
#include "apps/application/table/side_file.hpp"
#include "apps/meshfreeflow/simulate/simulation.hpp"
#include "io/fields/field_series.hpp"

namespace quintet::meshfreeflow {

/// Fields at the centres of cells over time, a sample for each flow: fields.h5 (io/fields) and its XDMF
/// files.
class Frames {
 public:
  /// On a restart frames later than the simulation's time are dropped. Collective.
  Frames(Context& context, const Simulation& simulation);
  /// Each multiple of output.frame_interval from output.from on, at which a step ends, so that times between
  /// frames are equal; without an interval start and end.
  [[nodiscard]] Schedule schedule() const;
  /// Collective.
  void write(const Simulation& simulation);
  /// Bring all to the disk: before a checkpoint. Collective.
  void flush() { writer_.flush(); }

 private:
  double interval_, from_;
  FieldSeriesWriter writer_;
  FrameCount count_;
};

}  // namespace quintet::meshfreeflow
