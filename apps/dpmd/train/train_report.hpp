#pragma once

#include <cstdint>

#include "apps/application/life/context_fwd.hpp"
#include "apps/dpmd/train/train_options.hpp"
#include "apps/dpmd/train/training.hpp"

namespace quintet::dpmd {

/// Accuracy on all frames held out and on some that were learnt from, parity pictures, speed: into the
/// summary and the report. A run that stops early has no time for the accuracy. Collective.
void report_training(Context& context, const TrainOptions& options, const Training& training,
                     const potential::Model& model, std::int64_t steps, double seconds);

}  // namespace quintet::dpmd
