#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/application/loop/schedule.hpp"
#include "apps/application/table/side_file.hpp"
#include "apps/meshfreeflow/flow/flow_simulation.hpp"
#include "io/fields/field_series.hpp"

namespace quintet::meshfreeflow::periodic {

/// Fields on the cells: variables, and what is diagnosed.
class CellFields {
 public:
  /// Throws InputError for a name that is no field.
  CellFields(const FlowSimulation& simulation, const std::vector<std::string>& names, const std::string& key);
  /// Values of each field of a flow at this rank's cells [rows_here, n_x]. Collective.
  [[nodiscard]] std::vector<std::vector<double>> values(const FlowSimulation& simulation, int member);
  [[nodiscard]] const spectral::WaveGrid& cells() const { return cells_; }

 private:
  spectral::WaveGrid cells_;
  std::unique_ptr<spectral::FlowMachine> machine_;
  spectral::Modes waves_;
  int n_fields_;
};

/// Fields over time, a sample for each flow: fields.h5 (io/fields) and its XDMF files.
class FlowFrames {
 public:
  /// Names of its fields: those that are asked for, or all. Throws InputError.
  [[nodiscard]] static std::vector<std::string> fields(const FlowSimulation& simulation);
  /// On a restart frames later than the simulation's time are dropped. Collective.
  FlowFrames(Context& context, const FlowSimulation& simulation, CellFields fields);
  /// Each multiple of output.frame_interval from output.from on, at which a step ends; without an interval
  /// start and end.
  [[nodiscard]] Schedule schedule() const;
  void write(const FlowSimulation& simulation);  ///< collective
  void flush() { writer_.flush(); }              ///< collective

 private:
  double interval_, from_;
  CellFields fields_;
  FieldSeriesWriter writer_;
  FrameCount count_;
};

/// Pictures of a field of the first flow at the start, half way and at the end, kept in group `report` of
/// run.h5, so that a restarted run has them all.
class FlowPictures {
 public:
  /// Name of its field. Throws InputError.
  [[nodiscard]] static std::string field(const FlowSimulation& simulation);
  FlowPictures(Context& context, const FlowSimulation& simulation, CellFields field);
  [[nodiscard]] Schedule schedule() const;
  void take(const FlowSimulation& simulation, const Instant& now);  ///< collective
  void report(Context& context, const FlowSimulation& simulation) const;

 private:
  struct Picture {
    double time = 0;
    std::vector<double> values;  ///< [n_y, n_x] pixels
  };
  hdf5::Group group_;
  CellFields field_;
  std::string name_;
  double middle_;
  int every_x_, every_y_, n_x_, n_y_;  ///< a pixel for so many cells
  std::vector<Picture> pictures_;
};

}  // namespace quintet::meshfreeflow::periodic
