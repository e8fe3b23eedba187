#pragma once

#include <vector>

#include "surrogates/sequence/forecast/forecast_options.hpp"
#include "surrogates/sequence/training/training.hpp"
#include "surrogates/sequence/windows/split.hpp"

namespace quintet::sequence {

/// Training set of networks of any architecture: a model without networks, its base fitted to the training
/// period, and what they read and are to give, ((truth - base) - offset)/scale, on the windows of training
/// and validation.
struct TrainingSet {
  ForecastModel model;  ///< without architecture, networks and the fingerprint of its modes
  int n_training = 0, n_validation = 0;
  std::vector<double> training_inputs, training_targets;      ///< [n, in, n_inputs], [n, out, modes]
  std::vector<double> validation_inputs, validation_targets;  ///< the same

  [[nodiscard]] SequenceData training() const { return {n_training, training_inputs, training_targets}; }
  [[nodiscard]] SequenceData validation() const {
    return {n_validation, validation_inputs, validation_targets};
  }
};

/// Throws InputError: a mode that never varies in training, and as fit_reference().
[[nodiscard]] TrainingSet make_training_set(const CoefficientSeries& series, const Split& split,
                                            Irregular irregular, const ForecastOptions& options,
                                            const ReferenceOptions& references);

/// The architecture of a model's networks.
[[nodiscard]] Architecture architecture_for(const ForecastModel& model, const ArchitectureOptions& options);

}  // namespace quintet::sequence
