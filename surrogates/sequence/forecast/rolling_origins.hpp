#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "io/device/device.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/sequence/forecast/forecast_options.hpp"
#include "surrogates/sequence/skill/bootstrap.hpp"
#include "surrogates/sequence/skill/metric.hpp"
#include "surrogates/sequence/windows/split.hpp"

namespace quintet::sequence {

/// Rolling origins: the second half of a period in `n` blocks, each with a training of its own.
///
/// Block k is the test of a split whose validation is a block's length before it and whose training is all
/// before that (Tashman 2000, "rolling-origin evaluation"). Blocks too short for a window, and origins with
/// less than a year of training before them, are left out. No row outside `period` is used.
[[nodiscard]] std::vector<Split> rolling_origins(const CoefficientSeries& series, Rows period,
                                                 const WindowShape& shape, Irregular irregular, int n);

/// What a base and networks on it forecast after one origin.
struct OriginScore {
  double trained_until = 0, from = 0, until = 0;  ///< last date of training; first and last date judged
  int windows = 0;
  double base_rmse = 0, networks_rmse = 0;
};

/// Whether networks beat their base on later times, by the forecasts after all origins.
struct NetworksTrial {
  std::vector<OriginScore> origins;  ///< those that could be judged
  int networks = 0;                  ///< trained at each
  /// RMSE of the base minus that with networks, over all windows. Its error is the larger of two: the
  /// standard error over origins, and that of a bootstrap of blocks of neighbouring windows; NaN below three
  /// origins.
  Estimate gain;

  /// Standard errors that the best of so many must gain: z with 1 - Phi(z) = (1 - Phi(2))/among (Bonferroni),
  /// so that luck finds one among them as seldom as two errors of a single one.
  [[nodiscard]] static double margin(int among = 1);
  /// Better by that margin.
  [[nodiscard]] bool earned(int among = 1) const;
};

/// What a trial is of.
struct TrialInput {
  const CoefficientSeries& series;
  Rows period;  ///< training and validation: later rows are not read
  WindowShape shape;
  Irregular irregular = Irregular::avoid;
  Metric metric;         ///< of errors
  int block = 1;         ///< windows of a bootstrap block
  DeviceSession device;  ///< of the networks
};

/// Fit the base and train the networks of `options` anew at each origin, and judge both on the block after
/// it.
///
/// Origins are shared out over the ranks; at each at most two networks are trained, whose mean is no better
/// than that of more, so that the trial is on the cautious side. `go_on` is asked after each epoch, false
/// throws Interrupted. Collective. Throws NumericalError where a loss is no number any more.
[[nodiscard]] NetworksTrial try_networks(const Comm& comm, const TrialInput& input,
                                         const ForecastOptions& options, const ReferenceOptions& references,
                                         const std::function<bool()>& go_on = {});

/// Group `rolling_origins` of a checkpoint. Collective.
void write_trial(hdf5::Group& root, const NetworksTrial& trial);
[[nodiscard]] std::optional<NetworksTrial> read_trial(const hdf5::Group& root);

}  // namespace quintet::sequence
