#include "surrogates/sequence/forecast/rolling_origins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/skill/comparison.hpp"
#include "surrogates/sequence/skill/normal.hpp"

namespace quintet::sequence {

namespace {

constexpr int least_origins = 3;
constexpr int most_networks = 2;
constexpr double days_a_year = 365.2425;

/// Forecasts of a block; empty where the base could not be fitted before it.
struct BlockForecasts {
  std::vector<double> base, networks;  ///< [n, out, modes]
};

/// A trend may be carried on over all of the blocks, however long they are.
ReferenceOptions valid_for(ReferenceOptions references, const CoefficientSeries& series, const Split& split) {
  auto& years = references.climatology.valid_years;
  const double needed = (split.test.dates.back() - series.time[split.constants.begin]) / days_a_year;
  years = std::max(years.value_or(ClimatologyOptions::usual_validity), needed);
  return references;
}

BlockForecasts forecast_block(const TrialInput& input, const Split& split, const ForecastOptions& options,
                              const ReferenceOptions& references, const std::function<bool()>& go_on) {
  const auto own = valid_for(references, input.series, split);
  std::optional<TrainingSet> set;
  try {
    set = make_training_set(input.series, split, input.irregular, options, own);
  } catch (const InputError& error) {
    log::info("rolling origin of {} times is left out: {}", split.constants.size(), error.what());
    return {};
  }
  ForecastTraining training(Comm::self(), std::move(*set), options, ForecastTraining::by_members, {},
                            input.device);
  while (!training.finished()) {
    training.advance();
    if (go_on && !go_on()) throw Interrupted();
  }
  const auto model = training.result().model;
  return {model.base.forecast(input.series, split.test), forecast(model, input.series, split.test).mean};
}

double rmse_of(const std::vector<double>& truth, const std::vector<double>& forecast,
               const SampleShape& shape, const Metric& metric) {
  return rmse(squared_errors(truth, forecast, shape, metric), shape.n, shape.out, {1, shape.out});
}

/// sqrt(sum (d - <d>)^2/(K (K - 1))) of the gains d after K origins.
double error_over_origins(const std::vector<OriginScore>& origins) {
  const double n = origins.size();
  double mean = 0, square = 0;
  for (const auto& origin : origins) mean += (origin.base_rmse - origin.networks_rmse) / n;
  for (const auto& origin : origins) square += std::pow(origin.base_rmse - origin.networks_rmse - mean, 2);
  return std::sqrt(square / (n * (n - 1)));
}

}  // namespace

std::vector<Split> rolling_origins(const CoefficientSeries& series, Rows period, const WindowShape& shape,
                                   Irregular irregular, int n) {
  std::vector<Split> splits;
  const int length = period.size() / 2 / n;
  for (int k = 0; k < n; ++k) {
    const int origin = period.end - (n - k) * length;
    Split split;
    split.constants = {period.begin, origin - length};
    split.validation_rows = {origin - length, origin};
    split.test_rows = {origin, origin + length};
    if (split.constants.size() < 1 ||
        series.time[split.constants.end - 1] - series.time[period.begin] < days_a_year)
      continue;
    split.train = windows_of(series, shape, split.constants, irregular);
    split.validation = windows_of(series, shape, split.validation_rows, irregular);
    split.test = windows_of(series, shape, split.test_rows, irregular);
    if (split.train.size() > 0 && split.validation.size() > 0 && split.test.size() > 0)
      splits.push_back(std::move(split));
  }
  return splits;
}

double NetworksTrial::margin(int among) {
  constexpr double one = 2;
  return among <= 1 ? one : -normal_quantile(normal_share(-one) / among);
}

bool NetworksTrial::earned(int among) const { return gain.value > margin(among) * gain.error; }

NetworksTrial try_networks(const Comm& comm, const TrialInput& input, const ForecastOptions& options,
                           const ReferenceOptions& references, const std::function<bool()>& go_on) {
  auto fewer = options;
  fewer.members = std::min(options.members, most_networks);
  // An origin's networks have one rank, whatever shares out the graph of the run.
  if (fewer.network.graph) fewer.network.graph->spmm = SpmmKind::automatic;
  const auto splits =
      rolling_origins(input.series, input.period, input.shape, input.irregular, options.origins);
  std::vector<BlockForecasts> blocks(splits.size());
  const int n_blocks = splits.size();
  together(comm, [&] {
    for (int k = comm.rank(); k < n_blocks; k += comm.size())
      blocks[k] = forecast_block(input, splits[k], fewer, references, go_on);
  });
  NetworksTrial trial;
  trial.networks = fewer.members;
  std::vector<double> truth, base, networks;
  const auto append = [](std::vector<double>& all, const std::vector<double>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  for (int k = 0; k < n_blocks; ++k) {
    const auto& split = splits[k];
    auto& block = blocks[k];
    const int owner = k % comm.size();
    const SampleShape shape{split.test.size(), input.shape.out, input.series.n_modes};
    if (!comm.broadcast(!block.base.empty(), owner)) continue;
    for (auto* values : {&block.base, &block.networks}) {
      values->resize(shape.size());
      comm.broadcast(std::span<double>(*values), owner);
    }
    const auto came = targets(input.series, split.test);
    trial.origins.push_back({input.series.time[split.constants.end - 1], split.test.dates.front(),
                             split.test.dates.back(), shape.n, rmse_of(came, block.base, shape, input.metric),
                             rmse_of(came, block.networks, shape, input.metric)});
    append(truth, came), append(base, block.base), append(networks, block.networks);
  }
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  trial.gain = {unknown, unknown};
  if (trial.origins.empty()) return trial;
  int n = 0;
  for (const auto& origin : trial.origins) n += origin.windows;
  const Comparison comparison(std::move(truth), {n, input.shape.out, input.series.n_modes}, input.metric,
                              input.block);
  const auto base_sample = comparison.sample({"base", base}),
             networks_sample = comparison.sample({"networks", networks});
  trial.gain = comparison.gain(networks_sample, base_sample).rmse;
  trial.gain.error = static_cast<int>(trial.origins.size()) < least_origins
                         ? unknown
                         : std::max(error_over_origins(trial.origins), trial.gain.error);
  return trial;
}

void write_trial(hdf5::Group& root, const NetworksTrial& trial) {
  auto group = root.group("rolling_origins");
  group.set_attribute("networks", trial.networks);
  std::vector<double> rows;
  for (const auto& origin : trial.origins)
    rows.insert(rows.end(), {origin.trained_until, origin.from, origin.until,
                             static_cast<double>(origin.windows), origin.base_rmse, origin.networks_rmse});
  if (!rows.empty())
    group.write<double>(
        "origins", rows, {trial.origins.size(), 6},
        {"1",
         {"origin", "number"},
         "Days since 1800-01-01 that training ends, the test begins and ends; windows; RMSE of "
         "the base and with networks"});
  const std::vector<double> gain = {trial.gain.value, trial.gain.error};
  group.write<double>("gain", gain, {2},
                      {"1", {"number"}, "RMSE of the base minus that with networks, and its standard error"});
}

std::optional<NetworksTrial> read_trial(const hdf5::Group& root) {
  if (!root.has("rolling_origins")) return std::nullopt;
  const auto group = root.open_group("rolling_origins");
  NetworksTrial trial;
  trial.networks = group.integer_attribute("networks");
  if (group.has("origins")) {
    const auto rows = group.read<double>("origins");
    for (std::size_t i = 0; i + 5 < rows.size(); i += 6)
      trial.origins.push_back(
          {rows[i], rows[i + 1], rows[i + 2], static_cast<int>(rows[i + 3]), rows[i + 4], rows[i + 5]});
  }
  const auto gain = group.read<double>("gain", {2});
  trial.gain = {gain[0], gain[1]};
  return trial;
}

}  // namespace quintet::sequence
