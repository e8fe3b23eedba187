#pragma once

#include <utility>
#include <vector>

#include "surrogates/flow/training/flow_trainer.hpp"
#include "tests/unit/flow/training/flow_sample.hpp"

/// Trainers of the small model of flow_sample.hpp.
namespace quintet::flow {

inline FlowTrainerOptions small_options(LossNorm norm = LossNorm::l2) {
  FlowTrainerOptions options;
  options.loss = {norm, 0.3, 0.2, 5};
  options.batch = 4;
  options.seed = 5;
  return options;
}

template <class Real>
FlowTrainer<Real> small_trainer(const Comm& comm, const FlowTrainerOptions& options,
                                const FlowModelHeader& header = small_header(),
                                std::vector<float> parameters = {}) {
  return FlowTrainer<Real>(comm, {header, std::move(parameters), {}}, options, small_parameters());
}

template <class Real>
Batch own_crops(const FlowTrainer<Real>& trainer, int n_rows = 3) {
  return small_batch(trainer.first_crop(), trainer.n_crops(), 7, n_rows);
}

inline FlowTrainerOptions spectral_options(LossNorm norm = LossNorm::l2) {
  FlowTrainerOptions options = small_options(norm);
  options.loss.spectral = 0.4;
  options.loss.spectral_floor = 1e-2;
  return options;
}

}  // namespace quintet::flow
