#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "surrogates/sequence/hindcast/combine.hpp"
#include "surrogates/sequence/skill/bootstrap.hpp"

namespace quintet::sequence {

/// A season in which forecasts start: months, all twelve for the whole year.
struct StartSeason {
  const char* name;
  int first_month, n_months;
};
/// The whole year, then December to February and so on.
[[nodiscard]] const std::array<StartSeason, 5>& start_seasons();

/// Numbers that are summed over windows for each lead.
enum class Tally {
  windows,
  square,          ///< of the error in the measure (degC^2)
  truth_forecast,  ///< products of anomalies about the verifying climatology, for correlations
  truth_truth,
  forecast_forecast,
  variance,  ///< that the forecast gives itself
  crps,      ///< (degC)
  rps,
  rps_normal,  ///< of terciles; of the probabilities 1/3. Indices alone
  within_half,
  within_most  ///< whether the truth lies in the central 50 % and 90 %
};
constexpr int n_tallies = 11;

/// A score made of tallies: sums over windows and leads [n_tallies] -> number.
struct ScoreRow {
  const char *name, *unit, *doc;
  bool more_is_better;
  double (*of)(const double* sums);
};
/// rmse, r2, correlation, crps, rpss, spread over error, coverage.
[[nodiscard]] const std::vector<ScoreRow>& score_rows();
[[nodiscard]] const ScoreRow& score_row(const std::string& name);

/// First lead and last lead (1 the first) over which a score is taken.
struct LeadRange {
  int first = 1, last = 1;
};

/// A window of an origin that is judged.
struct JudgedWindow {
  std::size_t origin;
  int window;
};
/// The windows of all judged origins but the first `warm_up`, in order of time.
[[nodiscard]] std::vector<JudgedWindow> judged_windows(const Hindcasts& hindcasts, int warm_up);

/// Reliability of probabilities that an index lies in its lowest or highest third: forecasts sorted by
/// probability.
struct ReliabilityBin {
  double probability = 0, frequency = 0;  ///< means: of the forecast, and how often it came
  int forecasts = 0;
};

/// Scores over the windows of all judged origins but the first `warm_up`. For each method and measure; errors
/// by a bootstrap of blocks of neighbouring windows, the same draws for all, so that differences are paired.
class PooledScores {
 public:
  PooledScores(const Hindcasts& hindcasts, int warm_up, int block, int draws = 1000);

  [[nodiscard]] int n_windows() const { return n_; }
  [[nodiscard]] int out() const { return out_; }
  [[nodiscard]] const Bootstrap& bootstrap() const { return bootstrap_; }
  /// Tallies of one method in one measure for starts in a season, [samples, out, n_tallies].
  [[nodiscard]] std::vector<double> sums(int method, int measure, const StartSeason& season) const;
  [[nodiscard]] Estimate score(const std::vector<double>& sums, const ScoreRow& row, LeadRange leads) const;
  /// How much better `a` is than `b`: positive where it is, in the score's unit.
  [[nodiscard]] Estimate gain(const std::vector<double>& a, const std::vector<double>& b, const ScoreRow& row,
                              LeadRange leads) const;
  /// 1 - score(a)/score(b): skill of a score that is 0 at best.
  [[nodiscard]] Estimate skill(const std::vector<double>& a, const std::vector<double>& b,
                               const ScoreRow& row, LeadRange leads) const;
  /// [ten bins] for an index, over leads.
  [[nodiscard]] std::vector<ReliabilityBin> reliability(int method, int measure, LeadRange leads) const;

 private:
  struct Terciles {
    std::array<double, 12> low{}, high{};  ///< anomalies, by month of the date that is forecast
  };
  [[nodiscard]] std::vector<double> tallies(int method, int measure) const;
  void tally_index(const OriginForecasts& one, int method, int measure, std::size_t row, int month,
                   double* tallies) const;
  void tally_points(const OriginForecasts& one, int method, int measure, std::size_t row,
                    double* tallies) const;
  void find_terciles();
  [[nodiscard]] double aggregate(const std::vector<double>& sums, const ScoreRow& row, LeadRange leads,
                                 int sample) const;

  const Hindcasts& hindcasts_;
  std::vector<JudgedWindow> places_;
  int n_ = 0, out_ = 0;
  Bootstrap bootstrap_;
  std::vector<Terciles> terciles_;  ///< [measures]
};

}  // namespace quintet::sequence
