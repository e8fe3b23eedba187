#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "surrogates/flow/data/block.hpp"

namespace quintet::flow {

/// Mean and standard deviation of each field over the train split; a model sees (value - mean)/deviation.
struct FieldStatistics {
  std::vector<double> mean, deviation;  ///< [field] deviation > 0

  [[nodiscard]] double normalised(std::size_t field, double value) const {
    return (value - mean[field]) / deviation[field];
  }
  [[nodiscard]] double physical(std::size_t field, double value) const {
    return mean[field] + deviation[field] * value;
  }
};

/// Whole rows of points of the high-resolution grid along one axis, for spectra.
struct BatchRows {
  int n_rows = 0, n_points = 0;  ///< rows of a crop, points of a row
  bool whole = false;            ///< a row is a whole period
  std::vector<double> points;    ///< [sample][row][point][axis] physical coordinates
  std::vector<float> targets;    ///< [sample][row][point][field] normalised, as the grid has them
};

/// Batch for one step of training: crops at low resolution, and points in them with the values of the fields.
struct Batch {
  int n_samples = 0, n_fields = 0, n_points = 0;
  std::array<int, 3> low_shape{};  ///< nodes [t, z, x] of a crop at low resolution
  std::vector<float> low;          ///< [sample][field][t][z][x] normalised
  std::vector<BlockAxes> axes;  ///< [sample] the nodes of `low` in physical coordinates, and the crop's ends
  std::vector<double> points;   ///< [sample][point][axis] physical coordinates, within those ends
  std::vector<float> targets;   ///< [sample][point][field] normalised
  BatchRows rows;               ///< none where none were asked for
  std::vector<double> parameters;  ///< [sample][parameter] in the order of FlowDataset::parameter_names()
};

}  // namespace quintet::flow
