#include "surrogates/sequence/hindcast/pooled_scores.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/kernels/rounded_root.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "surrogates/sequence/skill/normal.hpp"

namespace quintet::sequence {

namespace {

double at(const double* sums, Tally tally) { return sums[static_cast<int>(tally)]; }
double& at(double* sums, Tally tally) { return sums[static_cast<int>(tally)]; }

double rmse_of(const double* s) { return std::sqrt(at(s, Tally::square) / at(s, Tally::windows)); }
double r2_of(const double* s) { return 1 - at(s, Tally::square) / at(s, Tally::truth_truth); }
double correlation(const double* s) {
  return at(s, Tally::truth_forecast) /
         std::sqrt(at(s, Tally::truth_truth) * at(s, Tally::forecast_forecast));
}
double crps_of(const double* s) { return at(s, Tally::crps) / at(s, Tally::windows); }
double rpss_of(const double* s) { return 1 - at(s, Tally::rps) / at(s, Tally::rps_normal); }
double spread_of(const double* s) { return std::sqrt(at(s, Tally::variance) / at(s, Tally::square)); }
double half_of(const double* s) { return at(s, Tally::within_half) / at(s, Tally::windows); }
double most_of(const double* s) { return at(s, Tally::within_most) / at(s, Tally::windows); }

int month_of(double day) { return ocean::date_of(day).month - 1; }

bool starts_in(const StartSeason& season, double day) {
  return (month_of(day) + 1 - season.first_month + 12) % 12 < season.n_months;
}

double dot(const std::vector<double>& g, const double* a) {
  double sum = 0;
  for (std::size_t m = 0; m < g.size(); ++m) sum += g[m] * a[m];
  return sum;
}

/// Tallies that one number with a normal distribution has, times `share`.
void tally_number(double mean, double sd, double truth, double share, double* tallies) {
  constexpr double half = 0.6744897501960817, most = 1.6448536269514722;  // quantiles .75 and .95
  at(tallies, Tally::crps) += share * normal_crps(mean, sd, truth);
  if (std::isnan(mean) || std::isnan(sd)) {
    at(tallies, Tally::within_half) = at(tallies, Tally::within_most) = std::nan("");
    return;
  }
  at(tallies, Tally::within_half) += std::abs(truth - mean) <= half * sd ? share : 0;
  at(tallies, Tally::within_most) += std::abs(truth - mean) <= most * sd ? share : 0;
}

int judged_out(const Hindcasts& hindcasts) {
  return hindcasts.origins.empty() ? 0 : hindcasts.origins[0].out();
}

}  // namespace

const std::array<StartSeason, 5>& start_seasons() {
  static const std::array<StartSeason, 5> seasons = {{{"all year", 1, 12},
                                                      {"December to February", 12, 3},
                                                      {"March to May", 3, 3},
                                                      {"June to August", 6, 3},
                                                      {"September to November", 9, 3}}};
  return seasons;
}

const std::vector<ScoreRow>& score_rows() {
  static const std::vector<ScoreRow> rows = {
      {"rmse", "degC", "root mean square error", false, rmse_of},
      {"r2", "1", "1 - mean square error/mean square of anomalies about the verifying climatology", true,
       r2_of},
      {"acc", "1", "anomaly correlation about the verifying climatology", true, correlation},
      {"crps", "degC", "continuous ranked probability score, of the modes or the index", false, crps_of},
      {"rpss", "1", "ranked probability skill of terciles against probabilities of 1/3", true, rpss_of},
      {"spread_error", "1", "spread that the forecast gives itself over its root mean square error", true,
       spread_of},
      {"within_50", "1", "share of truths within the central 50 % of the forecast", true, half_of},
      {"within_90", "1", "share of truths within the central 90 % of the forecast", true, most_of}};
  return rows;
}

const ScoreRow& score_row(const std::string& name) {
  for (const auto& row : score_rows())
    if (name == row.name) return row;
  throw InternalError("no score " + name);
}

std::vector<JudgedWindow> judged_windows(const Hindcasts& hindcasts, int warm_up) {
  std::vector<JudgedWindow> places;
  for (std::size_t i = warm_up; i < hindcasts.origins.size(); ++i)
    for (int w = 0; hindcasts.origins[i].origin.judged && w < hindcasts.origins[i].origin.windows.size(); ++w)
      places.push_back({i, w});
  return places;
}

PooledScores::PooledScores(const Hindcasts& hindcasts, int warm_up, int block, int draws)
    : hindcasts_(hindcasts),
      places_(judged_windows(hindcasts, warm_up)),
      n_(places_.size()),
      out_(judged_out(hindcasts)),
      bootstrap_(n_, block, draws) {
  find_terciles();
}

// Boundaries of thirds: quantiles of all anomalies of the judged dates of a month, however many leads give
// one date. A month without dates has none, and no forecast asks for them.
void PooledScores::find_terciles() {
  const auto n_measures = hindcasts_.origins[0].indices.size();
  terciles_.resize(n_measures);
  for (std::size_t measure = 0; measure < n_measures; ++measure) {
    std::array<std::vector<double>, 12> anomalies;
    for (const auto& place : places_) {
      const auto& one = hindcasts_.origins[place.origin];
      const auto& g = one.indices[measure];
      for (int lead = 0; !g.empty() && lead < out_; ++lead) {
        const auto row = (std::int64_t{place.window} * out_ + lead) * one.modes;
        anomalies[month_of(one.origin.windows.dates_of(place.window)[lead])].push_back(
            dot(g, one.truth.data() + row) - dot(g, one.normal.data() + row));
      }
    }
    for (int month = 0; month < 12; ++month) {
      auto& values = anomalies[month];
      std::sort(values.begin(), values.end());
      if (values.empty()) continue;
      terciles_[measure].low[month] = values[values.size() / 3];
      terciles_[measure].high[month] = values[values.size() * 2 / 3];
    }
  }
}

void PooledScores::tally_index(const OriginForecasts& one, int method, int measure, std::size_t row,
                               int month, double* tallies) const {
  const std::size_t modes = one.modes;
  const auto& g = one.indices[measure];
  const auto& forecast = one.methods[method];
  const double normal = dot(g, one.normal.data() + row * modes),
               truth = dot(g, one.truth.data() + row * modes) - normal,
               mean = dot(g, forecast.mean.data() + row * modes) - normal;
  double variance = 0;
  for (std::size_t m = 0; m < modes; ++m)
    variance += g[m] * dot(g, forecast.covariance.data() + (row * modes + m) * modes);
  const double sd = rounded_root(variance);
  at(tallies, Tally::square) = (mean - truth) * (mean - truth);
  at(tallies, Tally::truth_forecast) = mean * truth;
  at(tallies, Tally::truth_truth) = truth * truth;
  at(tallies, Tally::forecast_forecast) = mean * mean;
  at(tallies, Tally::variance) = sd * sd;
  tally_number(mean, sd, truth, 1, tallies);
  const double low = terciles_[measure].low[month], high = terciles_[measure].high[month];
  const int category = truth < low ? 0 : truth < high ? 1 : 2;
  const auto below = [&](double bound) {
    return sd > 0 ? normal_share((bound - mean) / sd) : (mean < bound ? 1.0 : 0.0);
  };
  at(tallies, Tally::rps) =
      std::isnan(mean + sd) ? mean + sd : ranked_probability_score(below(low), below(high), category);
  at(tallies, Tally::rps_normal) = ranked_probability_score(1.0 / 3, 2.0 / 3, category);
}

void PooledScores::tally_points(const OriginForecasts& one, int method, int measure, std::size_t row,
                                double* tallies) const {
  const std::size_t modes = one.modes;
  const auto& gram = one.grams[measure];
  const auto& forecast = one.methods[method];
  std::vector<double> error(modes), truth(modes), mean(modes);
  for (std::size_t m = 0; m < modes; ++m) {
    const auto i = row * modes + m;
    error[m] = forecast.mean[i] - one.truth[i];
    truth[m] = one.truth[i] - one.normal[i];
    mean[m] = forecast.mean[i] - one.normal[i];
  }
  for (std::size_t m = 0; m < modes; ++m) {
    for (std::size_t n = 0; n < modes; ++n) {
      const double g = gram[m * modes + n];
      at(tallies, Tally::square) += g * error[m] * error[n];
      at(tallies, Tally::truth_forecast) += g * truth[m] * mean[n];
      at(tallies, Tally::truth_truth) += g * truth[m] * truth[n];
      at(tallies, Tally::forecast_forecast) += g * mean[m] * mean[n];
      at(tallies, Tally::variance) += g * forecast.covariance[(row * modes + m) * modes + n];
    }
    const double scale = std::sqrt(gram[m * (modes + 1)]),
                 sd = std::sqrt(forecast.covariance[(row * modes + m) * modes + m]);
    tally_number(scale * mean[m], scale * sd, scale * truth[m], 1.0 / modes, tallies);
  }
}

std::vector<double> PooledScores::tallies(int method, int measure) const {
  std::vector<double> all(std::int64_t{n_} * out_ * n_tallies, 0.0);
  for (int i = 0; i < n_; ++i) {
    const auto& one = hindcasts_.origins[places_[i].origin];
    const int window = places_[i].window;
    for (int lead = 0; lead < out_; ++lead) {
      double* row = all.data() + (std::int64_t{i} * out_ + lead) * n_tallies;
      const std::size_t place = std::int64_t{window} * out_ + lead;
      at(row, Tally::windows) = 1;
      if (one.indices[measure].empty())
        tally_points(one, method, measure, place, row);
      else
        tally_index(one, method, measure, place, month_of(one.origin.windows.dates_of(window)[lead]), row);
    }
  }
  return all;
}

std::vector<double> PooledScores::sums(int method, int measure, const StartSeason& season) const {
  auto all = tallies(method, measure);
  const int width = out_ * n_tallies;
  for (int i = 0; i < n_; ++i) {
    const auto& windows = hindcasts_.origins[places_[i].origin].origin.windows;
    // A window starts, for its season, on the first day that it forecasts.
    if (!starts_in(season, windows.dates_of(places_[i].window)[0]))
      std::fill_n(all.begin() + std::int64_t{i} * width, width, 0.0);
  }
  return bootstrap_.sums(all, width);
}

double PooledScores::aggregate(const std::vector<double>& sums, const ScoreRow& row, LeadRange leads,
                               int sample) const {
  std::array<double, n_tallies> total{};
  for (int lead = leads.first - 1; lead < leads.last; ++lead) {
    const auto first = (std::int64_t{sample} * out_ + lead) * n_tallies;
    for (int k = 0; k < n_tallies; ++k) total[k] += sums[first + k];
  }
  return row.of(total.data());
}

Estimate PooledScores::score(const std::vector<double>& sums, const ScoreRow& row, LeadRange leads) const {
  return bootstrap_.estimate([&](int sample) { return aggregate(sums, row, leads, sample); });
}

Estimate PooledScores::gain(const std::vector<double>& a, const std::vector<double>& b, const ScoreRow& row,
                            LeadRange leads) const {
  const double sign = row.more_is_better ? 1 : -1;
  return bootstrap_.estimate([&](int sample) {
    return sign * (aggregate(a, row, leads, sample) - aggregate(b, row, leads, sample));
  });
}

Estimate PooledScores::skill(const std::vector<double>& a, const std::vector<double>& b, const ScoreRow& row,
                             LeadRange leads) const {
  return bootstrap_.estimate(
      [&](int sample) { return 1 - aggregate(a, row, leads, sample) / aggregate(b, row, leads, sample); });
}

std::vector<ReliabilityBin> PooledScores::reliability(int method, int measure, LeadRange leads) const {
  constexpr int n_bins = 10;
  std::vector<ReliabilityBin> bins(n_bins);
  const auto add = [&](double probability, bool came) {
    if (std::isnan(probability)) return;
    auto& bin = bins[std::min<int>(n_bins - 1, probability * n_bins)];
    ++bin.forecasts;
    bin.probability += probability, bin.frequency += came ? 1 : 0;
  };
  for (const auto& place : places_) {
    const auto& one = hindcasts_.origins[place.origin];
    const auto& g = one.indices[measure];
    const std::size_t modes = one.modes;
    for (int lead = leads.first - 1; lead < leads.last; ++lead) {
      const std::size_t row = std::int64_t{place.window} * out_ + lead;
      const int month = month_of(one.origin.windows.dates_of(place.window)[lead]);
      const double normal = dot(g, one.normal.data() + row * modes),
                   truth = dot(g, one.truth.data() + row * modes) - normal,
                   mean = dot(g, one.methods[method].mean.data() + row * modes) - normal;
      double variance = 0;
      for (std::size_t m = 0; m < modes; ++m)
        variance += g[m] * dot(g, one.methods[method].covariance.data() + (row * modes + m) * modes);
      const double sd = rounded_root(variance);
      add(normal_share((terciles_[measure].low[month] - mean) / sd), truth < terciles_[measure].low[month]);
      add(1 - normal_share((terciles_[measure].high[month] - mean) / sd),
          truth >= terciles_[measure].high[month]);
    }
  }
  for (auto& bin : bins) {
    bin.probability /= bin.forecasts;
    bin.frequency /= bin.forecasts;
  }
  return bins;
}

}  // namespace quintet::sequence
