#pragma once

#include <cstdint>

#include "io/config/schema_fwd.hpp"
#include "surrogates/training/schedule/learning_rate.hpp"

namespace quintet::flow {

/// Norm that is minimised: mean |difference| or mean difference^2.
enum class LossNorm { l1, l2 };

/// Section `loss`.
struct FlowLossOptions {
  LossNorm norm = LossNorm::l1;
  double gamma = 0.0125;              ///< weight of the equations' residuals
  double boundary = 0;                ///< weight of boundary conditions
  std::int64_t boundary_points = 64;  ///< a wall and crop
  double spectral = 0;                ///< weight of the spectra of rows
  std::int64_t spectral_rows = 8;     ///< a crop
  double spectral_floor = 1e-5;       ///< added to a mode's power, in variances of a field
};
void describe(Schema& schema, FlowLossOptions& options);

/// Section `learning_rate`.
struct FlowRateOptions {
  RateKind schedule = RateKind::plateau;
  double start = 1e-2, factor = 0.1, least = 0;
  std::int64_t interval = 1000;  ///< steps (exponential)
  std::int64_t patience = 10;    ///< validations (plateau)
  double threshold = 1e-4;       ///< a better loss is lower by this share (plateau)
};
void describe(Schema& schema, FlowRateOptions& options);

}  // namespace quintet::flow
