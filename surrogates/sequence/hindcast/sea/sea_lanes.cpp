#include "surrogates/sequence/hindcast/sea/sea_lanes.hpp"

#include <algorithm>
#include <cmath>

#include "surrogates/sequence/hindcast/sea/heat_wave.hpp"
#include "surrogates/sequence/skill/normal.hpp"

namespace quintet::sequence {

namespace {

const std::vector<double> limit_shares = {1.0 / 3, 2.0 / 3, heat_wave::share};

/// phi^T a at each lane.
void combine(const double* coefficients, const double* normal, const std::vector<Lanes>& shapes,
             Lanes& values) {
  values.fill(0);
  for (std::size_t m = 0; m < shapes.size(); ++m) {
    const double a = coefficients[m] - (normal != nullptr ? normal[m] : 0);
    for (int l = 0; l < n_lanes; ++l) values[l] += a * shapes[m][l];
  }
}

/// Root of phi^T C phi at each lane.
void spread(const double* covariance, const std::vector<Lanes>& shapes, Lanes& sd) {
  const std::size_t n = shapes.size();
  sd.fill(0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double c = covariance[i * n + j] + covariance[j * n + i];
      for (int l = 0; l < n_lanes; ++l) sd[l] += c * shapes[i][l] * shapes[j][l];
    }
    for (int l = 0; l < n_lanes; ++l) sd[l] += covariance[i * n + i] * shapes[i][l] * shapes[i][l];
  }
  // A NaN stays one: the method could not be fitted.
  for (int l = 0; l < n_lanes; ++l) sd[l] = sd[l] < 0 ? 0 : std::sqrt(sd[l]);
}

Lanes between(const Lanes& a, const Lanes& b, double share) {
  Lanes value;
  for (int l = 0; l < n_lanes; ++l) value[l] = (1 - share) * a[l] + share * b[l];
  return value;
}

/// Probability of lying below a bound; of a forecast without spread 1 or 0.
double share_below(double bound, double mean, double sd) {
  if (sd > 0) return normal_share((bound - mean) / sd);
  return mean < bound ? 1 : 0;
}

void add_bin(double probability, bool came, double weight, double* sea) {
  if (std::isnan(probability)) return;
  const int bin = std::min<int>(n_bins - 1, probability * n_bins);
  double* sums = sea + static_cast<int>(SeaSum::bins) + bin * n_bin_sums;
  sums[static_cast<int>(BinSum::forecasts)] += weight;
  sums[static_cast<int>(BinSum::probability)] += weight * probability;
  sums[static_cast<int>(BinSum::came)] += came ? weight : 0;
}

}  // namespace

SeaLanes::SeaLanes(const Hindcasts& hindcasts, const std::vector<SeaAtOrigin>& seas,
                   const SeaScoreOptions& options, const std::vector<JudgedWindow>& windows, int n_blocks)
    : hindcasts_(hindcasts),
      seas_(seas),
      options_(options),
      windows_(windows),
      n_blocks_(n_blocks),
      past_(options.least_steps - 1),
      out_(hindcasts.origins.front().out()) {
  const auto n = hindcasts.names.size() * options.leads.size();
  sums_.assign(n, std::vector<Lanes>(n_point_sums));
  squares_.assign(n, std::vector<Lanes>(n_blocks));
}

void SeaLanes::judge(std::size_t first, double* sea) {
  first_ = first;
  entered_ = nullptr;
  for (auto& sums : sums_)
    for (auto& lanes : sums) lanes.fill(0);
  for (auto& blocks : squares_)
    for (auto& lanes : blocks) lanes.fill(0);
  const int block = options_.block;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const auto& here = seas_[windows_[i].origin];
    if (here.modes.get() != entered_) enter(here);
    judge_window(windows_[i], std::min(static_cast<int>(i) / block, n_blocks_ - 1), sea);
  }
}

std::array<double, n_point_sums> SeaLanes::sums(int method, int i_lead, int lane) const {
  std::array<double, n_point_sums> own{};
  for (int k = 0; k < n_point_sums; ++k) own[k] = sums_[number(method, i_lead)][k][lane];
  return own;
}

// The lanes beyond the end of the sea hold zeros, so that all loops have one length.
void SeaLanes::enter(const SeaAtOrigin& sea) {
  entered_ = sea.modes.get();
  const auto points = sea.modes->n_points();
  n_here_ = std::min<std::size_t>(n_lanes, points - first_);
  shapes_.assign(sea.modes->n_modes(), Lanes{});
  for (std::size_t m = 0; m < shapes_.size(); ++m)
    for (int l = 0; l < n_here_; ++l) shapes_[m][l] = sea.modes->modes[m * points + first_ + l];
  const auto& record = *sea.anomalies;
  anomalies_.resize(record.n_times());
  for (int t = 0; t < record.n_times(); ++t) combine(record.row(t), nullptr, shapes_, anomalies_[t]);
  find_thresholds(sea);
}

void SeaLanes::find_thresholds(const SeaAtOrigin& sea) {
  const SeasonalQuantiles seasons(sea.anomalies->time);
  constexpr int phases = SeasonalQuantiles::phases;
  quantiles_.assign(limit_shares.size() * phases, Lanes{});
  std::vector<double> own(quantiles_.size());
  for (int l = 0; l < n_here_; ++l) {
    seasons.of(anomalies_.front().data() + l, n_lanes, limit_shares, own.data());
    for (std::size_t i = 0; i < own.size(); ++i) quantiles_[i][l] = own[i];
  }
}

SeaLanes::Thresholds SeaLanes::thresholds_at(double day) const {
  const auto place = season_place(day);
  const auto limit = [&](int k) {
    const auto* own = quantiles_.data() + std::int64_t{k} * SeasonalQuantiles::phases;
    return between(own[place.before], own[place.after], place.share);
  };
  return {limit(0), limit(1), limit(2)};
}

void SeaLanes::remember(const SeaAtOrigin& sea, const Windows& windows, int window, Course& course) const {
  course.values.resize(out_);
  course.warm.assign(std::int64_t{n_lanes} * (past_ + out_), 0);
  for (int k = 0; k < past_; ++k) {
    const int row = windows.origins[window] - past_ + 1 + k;
    if (row < windows.memory[window]) continue;  // a gap of the record
    const auto limits = thresholds_at(sea.anomalies->time[row]);
    for (int l = 0; l < n_here_; ++l)
      course.warm[std::int64_t{l} * (past_ + out_) + k] = anomalies_[row][l] > limits.warm[l];
  }
}

void SeaLanes::follow(const double* coefficients, const double* normal,
                      const std::vector<Thresholds>& thresholds, Course& course) const {
  const auto n = shapes_.size();
  for (int lead = 0; lead < out_; ++lead) {
    combine(coefficients + lead * n, normal + lead * n, shapes_, course.values[lead]);
    for (int l = 0; l < n_here_; ++l)
      course.warm[std::int64_t{l} * (past_ + out_) + past_ + lead] =
          course.values[lead][l] > thresholds[lead].warm[l];
  }
}

void SeaLanes::judge_window(const JudgedWindow& place, int block, double* sea) {
  const auto& one = hindcasts_.origins[place.origin];
  const std::size_t n = one.modes;
  const std::size_t first = std::int64_t{place.window} * out_;
  std::vector<Thresholds> thresholds;
  for (int lead = 0; lead < out_; ++lead)
    thresholds.push_back(thresholds_at(one.origin.windows.dates_of(place.window)[lead]));
  Course before;
  remember(seas_[place.origin], one.origin.windows, place.window, before);
  Course truth = before, forecast = before;
  follow(one.truth.data() + first * n, one.normal.data() + first * n, thresholds, truth);
  for (std::size_t k = 0; k < one.methods.size(); ++k) {
    const auto& method = one.methods[k];
    follow(method.mean.data() + first * n, one.normal.data() + first * n, thresholds, forecast);
    for (std::size_t i = 0; i < options_.leads.size(); ++i) {
      const int lead = options_.leads[i] - 1;
      tally(truth, forecast, method.covariance.data() + (first + lead) * n * n, thresholds[lead], k, i, block,
            sea);
    }
  }
}

// All scores of one forecast at once, as each needs the same few numbers of a point: y what came, mean and sd
// of the forecast, all as anomalies.
void SeaLanes::tally(const Course& truth, const Course& forecast, const double* covariance,
                     const Thresholds& limits, int method, int i_lead, int block, double* sea) {
  const int lead = options_.leads[i_lead] - 1, width = past_ + out_;
  Lanes spreads;
  spread(covariance, shapes_, spreads);
  auto& sums = sums_[number(method, i_lead)];
  const auto add = [&](PointSum which, int l, double value) { sums[static_cast<int>(which)][l] += value; };
  double* pooled = sea + (number(method, i_lead) * n_blocks_ + block) * n_sea_sums;
  const auto pool = [&](SeaSum which, double value) { pooled[static_cast<int>(which)] += value; };
  const auto wave = [&](const Course& course, int l) {
    return heat_wave::is_within(
        {course.warm.data() + std::int64_t{l} * width, static_cast<std::size_t>(width)}, past_ + lead,
        options_.least_steps);
  };
  for (int l = 0; l < n_here_; ++l) {
    const double y = truth.values[lead][l], mean = forecast.values[lead][l], sd = spreads[l];
    const double square = (mean - y) * (mean - y), weight = options_.area[first_ + l];
    add(PointSum::windows, l, 1);
    add(PointSum::square, l, square);
    add(PointSum::truth_forecast, l, y * mean);
    add(PointSum::truth_truth, l, y * y);
    add(PointSum::forecast_forecast, l, mean * mean);
    add(PointSum::crps, l, normal_crps(mean, sd, y));
    squares_[number(method, i_lead)][block][l] += square;

    // NaN where the forecast or the thresholds are not known.
    const double doubt = 0 * (mean + sd + limits.low[l] + limits.warm[l]);
    const double below = share_below(limits.low[l], mean, sd) + doubt,
                 not_above = share_below(limits.high[l], mean, sd);
    const int third = y < limits.low[l] ? 0 : y < limits.high[l] ? 1 : 2;
    add(PointSum::rps, l, ranked_probability_score(below, not_above, third));
    add(PointSum::rps_normal, l, ranked_probability_score(1.0 / 3, 2.0 / 3, third));
    add_bin(below, third == 0, weight, pooled);
    add_bin(1 - not_above + doubt, third == 2, weight, pooled);

    const double warm = y > limits.warm[l] ? 1 : 0,
                 said_warm =
                     sd > 0 ? 1 - share_below(limits.warm[l], mean, sd) : (mean > limits.warm[l] ? 1 : 0),
                 miss = said_warm - warm + doubt, miss_normal = 1 - heat_wave::share - warm;
    add(PointSum::brier, l, miss * miss);
    add(PointSum::brier_normal, l, miss_normal * miss_normal);
    pool(SeaSum::area, weight);
    pool(SeaSum::brier, weight * miss * miss);
    pool(SeaSum::brier_normal, weight * miss_normal * miss_normal);
    const bool came = wave(truth, l), said = wave(forecast, l);
    pool(SeaSum::hits, came && said ? weight : doubt);
    pool(SeaSum::misses, came && !said ? weight : doubt);
    pool(SeaSum::false_alarms, !came && said ? weight : doubt);
  }
}

}  // namespace quintet::sequence
