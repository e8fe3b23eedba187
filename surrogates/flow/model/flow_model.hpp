#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/flow/model/flow_equations.hpp"
#include "surrogates/flow/model/flow_model_options.hpp"

namespace quintet::flow {

/// A range of numbers that a model has met in training.
struct Range {
  double least = 0, most = 0;
};

/// An axis as the training data had it.
struct ModelAxis {
  std::string name, units = "1";
  bool periodic = false;
  double lower = 0, upper = 0;  ///< ends of the domain (space)
  Range spacing;                ///< between nodes of the coarse grid
  Range extent;                 ///< of a block that the encoder saw
};

struct ModelField {
  std::string name, units = "1";
  double mean = 0, deviation = 1;  ///< over the training samples
  double offset = 0;               ///< taken off in double precision: the model is of the field without it
};

/// A number of the flow ("Ra"), and what it was in training.
struct ModelParameter {
  std::string name;
  Range range;
};

/// All that a model is but its weights.
struct FlowModelHeader {
  FlowModelOptions options;
  std::array<ModelAxis, n_axes> axes;  ///< time first; of volumes three of space
  std::vector<ModelField> fields;
  std::vector<ModelParameter> parameters;
  GridShape block{};       ///< coarse nodes of a training block
  GridShape refinement{};  ///< fine points a coarse node along each axis
  EquationOptions equations;
  bool reference_compatible = false;  ///< trained with the released reference's wrong conventions
  /// Fingerprints of frames that it learned from, and of those that chose it among its steps; ascending.
  std::vector<std::int64_t> trained_on, chosen_by;

  [[nodiscard]] std::vector<std::string> field_names() const;
  [[nodiscard]] std::array<std::string, n_axes> axis_names() const;
  [[nodiscard]] std::array<bool, n_axes> axis_periods() const;
  /// Whether it refines volumes, each frame by itself: its first axis is not time.
  [[nodiscard]] bool of_volumes() const { return is_space(axes[0].name); }
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  /// The equations, ready for use.
  [[nodiscard]] FlowEquations flow_equations() const;
};

/// A model: what it is, and its numbers.
struct FlowModel {
  FlowModelHeader header;
  std::vector<float> parameters;   ///< encoder's, then decoder's
  std::vector<double> statistics;  ///< running means and variances of the encoder's normalisations
};

inline constexpr const char* flow_model_schema = "quintet.flow_model";
inline constexpr int flow_model_version = 1;

/// Write a model to one HDF5 file, by way of a temporary name. Collective.
void save_flow_model(const Comm& comm, const std::string& path, const FlowModel& model,
                     const hdf5::Provenance& provenance);
/// Read it. Collective. Throws InputError (file, what): no such model, numbers that are missing, too many or
/// not finite, options that make no network.
[[nodiscard]] FlowModel load_flow_model(const Comm& comm, const std::string& path);

/// Setting of a prediction.
struct PredictionSetting {
  std::map<std::string, double> parameters;
  std::array<ModelAxis, n_axes> axes;  ///< spacing and extent of the coarse fields given
};
/// In what a prediction goes beyond the training data, a sentence each: parameters, spacings, walls, names.
/// Empty: in nothing. Spacings may differ by `tolerance` of themselves.
[[nodiscard]] std::vector<std::string> beyond_training(const FlowModelHeader& header,
                                                       const PredictionSetting& setting,
                                                       double tolerance = 1e-3);

}  // namespace quintet::flow
