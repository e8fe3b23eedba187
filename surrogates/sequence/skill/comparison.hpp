#pragma once

#include <string>
#include <vector>

#include "surrogates/sequence/skill/bootstrap.hpp"
#include "surrogates/sequence/skill/scores.hpp"

namespace quintet::sequence {

/// Forecasts of the same windows by one method.
struct Contender {
  std::string name;
  std::vector<double> forecast;  ///< [n, out, modes]
};

/// Score of a contender, with block-bootstrap errors. Leads: [out], and all of them together.
struct Score {
  std::string name;
  Estimate r2, r2_pooled;  ///< of all coefficients, whatever the metric
  Estimate metric_r2;      ///< of the metric's own series, in the mean over leads
  Estimate rmse;
  std::vector<Estimate> metric_r2_at, rmse_at;
  std::vector<Estimate> correlation_at;  ///< of anomalies; empty without a climatology
};

/// Whether a contender is better than a reference: the difference in units of its own error decides.
enum class Verdict { better, tie, worse };
[[nodiscard]] const char* verdict_text(Verdict verdict);
/// Verdict on a gain (positive: better): a tie if it is less than two errors, or if the error is not known.
[[nodiscard]] Verdict verdict_of(const Estimate& gain);

/// A contender against a reference: RMSE of the reference minus its own (degC), and skill 1 -
/// MSE/MSE_reference.
struct Gain {
  std::string reference;
  Estimate rmse, skill, r2, metric_r2;
  std::vector<Estimate> rmse_at, skill_at;
};

/// A contender's sums over windows, for every sample of the bootstrap.
struct Sampled {
  std::string name;
  std::vector<double> errors;    ///< [samples, out modes] squares of each output's errors
  std::vector<double> squares;   ///< [samples, out] in the metric
  std::vector<double> products;  ///< [samples, out, 3] of anomalies; empty without a climatology
};

/// What else the forecasts of a comparison are judged by.
struct Beside {
  Truncation truncation;  ///< what the modes leave out of the truth: errors, R2 of the metric and
                          ///< correlations are then of whole fields, the other R2 are of coefficients still
  std::vector<double> climatology;  ///< [n, out, modes] of all contenders' anomalies; empty: no correlations
};

/// Scores of forecasts of the same windows, and gains over each other, from the same draws.
class Comparison {
 public:
  /// @param block windows of a bootstrap block
  Comparison(std::vector<double> truth, SampleShape shape, Metric metric, int block, Beside beside = {});

  [[nodiscard]] Sampled sample(const Contender& contender) const;
  [[nodiscard]] Score score(const Sampled& contender) const;
  [[nodiscard]] Gain gain(const Sampled& contender, const Sampled& reference) const;
  [[nodiscard]] const SampleShape& shape() const { return shape_; }
  [[nodiscard]] const Metric& metric() const { return metric_; }
  [[nodiscard]] const Bootstrap& bootstrap() const { return bootstrap_; }
  [[nodiscard]] bool of_whole_fields() const { return !beside_.truncation.empty(); }
  /// Root mean square of what the modes leave out, of whole fields (degC).
  [[nodiscard]] double truncation_rmse() const;

 private:
  [[nodiscard]] int outputs() const { return shape_.out * shape_.modes; }
  [[nodiscard]] double r2(const Sampled& contender, int sample) const;
  [[nodiscard]] double metric_r2(const Sampled& contender, int sample) const;
  /// Mean square over leads, of one sample.
  [[nodiscard]] double mean_square(const Sampled& contender, Leads leads, int sample) const;

  std::vector<double> truth_;
  SampleShape shape_;
  Metric metric_;
  Bootstrap bootstrap_;
  Beside beside_;
  std::vector<double> variations_;         ///< [samples, out modes] squares of the truth about its mean
  std::vector<double> metric_variations_;  ///< [samples, out] in the metric, about each sample's mean
};

}  // namespace quintet::sequence
