#pragma once

#include <string>
#include <vector>

#include "surrogates/sequence/skill/scores.hpp"

namespace quintet::sequence {

/// Forecasts of the same windows by one method.
struct Contender {
  std::string name;
  std::vector<double> forecast;     ///< [n, out, modes]
  std::vector<double> climatology;  ///< its own, [n, out, modes], for anomaly correlations; empty: none
};

/// What a contender scores, with block-bootstrap errors. Leads: [out], and all of them together.
struct Score {
  std::string name;
  Estimate r2, r2_pooled, rmse;
  std::vector<Estimate> rmse_at, correlation_at;
};

/// Whether a contender is better than a reference: the difference in units of its own error decides.
enum class Verdict { better, tie, worse };
[[nodiscard]] const char* verdict_text(Verdict verdict);
/// Of a gain (positive: better): a tie where it is less than two errors, or where the error is not known.
[[nodiscard]] Verdict verdict_of(const Estimate& gain);

/// A contender against a reference: RMSE of the reference minus its own (degC), and skill 1 -
/// MSE/MSE_reference.
struct Gain {
  std::string reference;
  Estimate rmse, skill, r2;
  std::vector<Estimate> rmse_at, skill_at;
};

/// Scores of forecasts of the same windows, and gains over each other, from the same draws.
class Comparison {
 public:
  /// @param block windows of a bootstrap block
  Comparison(std::vector<double> truth, SampleShape shape, Metric metric, int block);

  [[nodiscard]] Score score(const Contender& contender) const;
  [[nodiscard]] Gain gain(const Contender& contender, const Contender& reference) const;
  [[nodiscard]] const SampleShape& shape() const { return shape_; }
  [[nodiscard]] const Metric& metric() const { return metric_; }
  [[nodiscard]] const Bootstrap& bootstrap() const { return bootstrap_; }
  [[nodiscard]] const std::vector<double>& truth() const { return truth_; }

 private:
  std::vector<double> truth_;
  SampleShape shape_;
  Metric metric_;
  Bootstrap bootstrap_;
};

}  // namespace quintet::sequence
