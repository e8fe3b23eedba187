#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/meshfreeflow/setup/flow_input.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

/// Frames of fields on three axes of space, read one at a time and in slabs of the first axis: of a fine
/// frame no more is in memory than a slab.
class VolumeInput {
 public:
  /// Open the file and look at its first values. Collective. Throws InputError: what flow::open_series() and
  /// flow::find_offsets() refuse; samples and frames that are not there; points that the factors do not
  /// divide.
  VolumeInput(const Comm& comm, const FlowInputOptions& options, const flow::FlowModelHeader& model,
              const flow::LowResolutionOptions& low_resolution);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::map<std::string, double>& parameters() const { return parameters_; }
  [[nodiscard]] const flow::BlockAxes& axes() const { return axes_; }  ///< of the file, not made coarser
  [[nodiscard]] const std::vector<double>& times() const { return times_; }  ///< of the frames asked for
  [[nodiscard]] const std::string& time_units() const { return time_units_; }
  /// Whether fields are made coarser, so that the file itself is the truth.
  [[nodiscard]] bool is_truth() const;

  /// Frame number i of those asked for, made coarser. Collective. Throws InputError (values that are not
  /// finite, frames unlike their checksums).
  [[nodiscard]] flow::FieldBlock coarse(int i) const;
  /// Values [field][row][...] of rows first ... first + count - 1 of the first axis, not made coarser. Of
  /// this rank alone.
  [[nodiscard]] std::vector<float> rows(int i, int first, int count) const;
  /// Memory (bytes) that reading takes beside what it gives.
  [[nodiscard]] double bytes() const;

 private:
  [[nodiscard]] std::size_t row_points() const { return std::size_t(axes_[1].size()) * axes_[2].size(); }
  /// Rows of a slab, a multiple of the factor.
  [[nodiscard]] int slab_rows() const;

  Comm comm_;
  std::string name_, time_units_;
  flow::FlowDataOptions data_;
  flow::Coarsening coarsening_;
  int sample_, first_frame_;
  std::vector<double> times_;
  std::map<std::string, double> parameters_;
  flow::BlockAxes axes_;
};

}  // namespace quintet::meshfreeflow
