#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "io/device/device.hpp"
#include "surrogates/flow/data/block.hpp"
#include "surrogates/flow/model/flow_model.hpp"
#include "surrogates/flow/prediction/encoder_windows.hpp"

namespace quintet::flow {

/// Latents of coarse fields, a range of nodes along the first axis at a time.
///
/// q(node) = sum_w weight_w(node) q_w(node)/sum_w weight_w(node) over the windows w that hold it; weights are
/// products over the axes. A range does not depend on what was asked for before. A convolutional model has
/// fields on its fine grid in place of latents, `refinement` nodes a coarse one.
class LatentField {
 public:
  /// `model` and `coarse` must outlive it. @param parameters [parameter] in the model's order @param device
  /// of the encoder
  LatentField(const FlowModel& model, const FieldBlock& coarse, std::vector<double> parameters,
              EncoderCover cover, const DeviceSession& device = {});

  [[nodiscard]] GridShape refinement() const { return refinement_; }
  [[nodiscard]] int n_channels() const { return n_channels_; }
  /// Nodes along each axis, refined ones where the model is convolutional.
  [[nodiscard]] GridShape shape() const;
  /// Latents [t][z][x][channel] of `count` coarse nodes along the first axis from `first` on (refined: count
  /// refinement_t); where that is periodic, beyond its last node the first ones again.
  [[nodiscard]] std::vector<float> of_range(int first, int count) const;
  /// Memory (bytes) that of_range() needs for one window at a time, beside what it returns.
  [[nodiscard]] double window_bytes() const;

 private:
  /// Add the latents of window (t, z, x) of the three axes to those of the range.
  void add_window(const std::array<int, 3>& start, int first, int count, std::vector<float>& latents) const;

  const FlowModel* model_;
  const FieldBlock* coarse_;
  std::vector<double> parameters_;
  DeviceSession device_;
  std::array<AxisWindows, 3> windows_;
  std::array<std::vector<double>, 3> weight_sums_;  ///< [axis][refined node] over all windows
  GridShape refinement_ = {1, 1, 1};
  int n_channels_ = 0;
};

}  // namespace quintet::flow
