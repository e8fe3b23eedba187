#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "surrogates/sequence/hindcast/combine.hpp"
#include "surrogates/sequence/hindcast/pooled_scores.hpp"
#include "surrogates/sequence/hindcast/sea/sea_scores.hpp"
#include "surrogates/sequence/hindcast/sea/seasonal_quantiles.hpp"

namespace quintet::sequence {

constexpr int n_lanes = 64;  ///< points that are judged at once
using Lanes = std::array<double, n_lanes>;

/// Sums over all judged windows at 64 neighbouring points. Each point's numbers are the same whichever points
/// are beside it.
class SeaLanes {
 public:
  SeaLanes(const Hindcasts& hindcasts, const std::vector<SeaAtOrigin>& seas, const SeaScoreOptions& options,
           const std::vector<JudgedWindow>& windows, int n_blocks);

  /// Judge the points from `first` on; fewer than 64 at the end of the sea. Adds to `sea` [methods, leads,
  /// blocks, n_sea_sums].
  void judge(std::size_t first, double* sea);
  /// Sums of a point that was judged: [n_point_sums].
  [[nodiscard]] std::array<double, n_point_sums> sums(int method, int i_lead, int lane) const;
  /// Squares of errors by blocks, [blocks, n_lanes].
  [[nodiscard]] const std::vector<Lanes>& squares(int method, int i_lead) const {
    return squares_[number(method, i_lead)];
  }

 private:
  /// Thresholds at a date: terciles and warmth.
  struct Thresholds {
    Lanes low, high, warm;
  };
  [[nodiscard]] std::size_t number(int method, int i_lead) const {
    return std::int64_t{method} * options_.leads.size() + i_lead;
  }
  /// What a score needs of one window: anomalies of all leads, and whether steps are warm, [lane, past +
  /// out].
  struct Course {
    std::vector<Lanes> values;
    std::vector<std::uint8_t> warm;
  };
  void enter(const SeaAtOrigin& sea);
  void find_thresholds(const SeaAtOrigin& sea);
  [[nodiscard]] Thresholds thresholds_at(double day) const;
  void judge_window(const JudgedWindow& place, int block, double* sea);
  /// Fill in the steps that all courses share: those before the window.
  void remember(const SeaAtOrigin& sea, const Windows& windows, int window, Course& course) const;
  void follow(const double* coefficients, const double* normal, const std::vector<Thresholds>& thresholds,
              Course& course) const;
  void tally(const Course& truth, const Course& forecast, const double* covariance, const Thresholds& limits,
             int method, int i_lead, int block, double* sea);

  const Hindcasts& hindcasts_;
  const std::vector<SeaAtOrigin>& seas_;
  const SeaScoreOptions& options_;
  const std::vector<JudgedWindow>& windows_;
  int n_blocks_, past_, out_;
  std::size_t first_ = 0;
  int n_here_ = 0;  ///< points of these lanes that are sea
  const ocean::OceanModes* entered_ = nullptr;
  std::vector<Lanes> shapes_;                ///< [modes]
  std::vector<Lanes> anomalies_;             ///< [times] of the record
  std::vector<Lanes> quantiles_;             ///< [terciles and warmth, phases]
  std::vector<std::vector<Lanes>> sums_;     ///< [methods, leads][n_point_sums]
  std::vector<std::vector<Lanes>> squares_;  ///< [methods, leads][blocks]
};

}  // namespace quintet::sequence
