#pragma once

#include <functional>

#include "io/parallel/comm.hpp"
#include "surrogates/sequence/forecast/forecast_options.hpp"
#include "surrogates/sequence/training/training.hpp"
#include "surrogates/sequence/windows/split.hpp"

namespace quintet::sequence {

/// How one network of the ensemble was trained.
struct MemberHistory {
  std::int64_t seed = 0;
  std::vector<EpochLosses> epochs;
  int best_epoch = 0;
  double cpu_s = 0;
};

struct TrainedForecast {
  ForecastModel model;  ///< without the fingerprint of its modes
  std::vector<MemberHistory> history;
};

/// Fit the base to the training period and the networks to what it leaves over, on the training windows;
/// validation windows decide when each network is best.
///
/// Networks are shared out over the ranks, each on one; the result is the same, to the bit, on any number.
/// Collective. `epoch_done(seed, losses)` is called on the network's rank; false ends all of its training
/// there.
[[nodiscard]] TrainedForecast train_forecast(
    const Comm& comm, const CoefficientSeries& series, const Split& split, Irregular irregular,
    const ForecastOptions& options, const ReferenceOptions& references,
    const std::function<bool(std::int64_t seed, const EpochReport&)>& epoch_done = {});

}  // namespace quintet::sequence
