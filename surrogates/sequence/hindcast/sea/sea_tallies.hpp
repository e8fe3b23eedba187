#pragma once

#include <span>

/// What is summed over windows, and the scores made of it.
namespace quintet::sequence {

/// Sums over windows at a point.
enum class PointSum {
  windows,
  square,          ///< of the error (degC^2)
  truth_forecast,  ///< products of anomalies about the verifying climatology (degC^2)
  truth_truth,
  forecast_forecast,
  crps,  ///< (degC)
  rps,
  rps_normal,  ///< of terciles of the place and season; of the probabilities 1/3
  brier,
  brier_normal  ///< of being warmer than 90 % of the season; of the probability 0.1
};
constexpr int n_point_sums = 10;

/// Sums at a point that a map may need, [n_point_sums] each: of a method, of the climatology (null: it is not
/// among the methods), and of the method that all are compared with.
struct PointSums {
  const double* own;
  const double* climatology;
  const double* against;
};

/// A map: a score at each point.
struct SeaMapRow {
  const char* name;
  const char* title;
  const char* unit;
  const char* doc;
  double (*of)(const PointSums& sums);
};
/// rmse, acc, crps, crps_skill, rmse_gain, rpss, warm_brier_skill.
[[nodiscard]] std::span<const SeaMapRow> sea_map_rows();

/// Sums over windows and all points, weighted by area.
enum class SeaSum {
  area,
  hits,
  misses,
  false_alarms,  ///< of steps within a marine heat wave
  brier,
  brier_normal,  ///< of being warmer than 90 % of the season; of the probability 0.1
  bins           ///< the first of the classes of reliability
};
constexpr int n_bins = 10;  ///< classes of probability
/// Sums of a class: forecasts of a probability in it, the probabilities, and what came.
enum class BinSum { forecasts, probability, came };
constexpr int n_bin_sums = 3;
constexpr int n_sea_sums = static_cast<int>(SeaSum::bins) + n_bins * n_bin_sums;

/// A score of marine heat waves: sums [n_sea_sums] -> number.
struct HeatWaveRow {
  const char* name;
  const char* doc;
  double (*of)(const double* sums);
};
/// hit_rate, false_alarm_ratio, frequency_bias, brier, brier_skill.
[[nodiscard]] std::span<const HeatWaveRow> heat_wave_rows();

}  // namespace quintet::sequence
