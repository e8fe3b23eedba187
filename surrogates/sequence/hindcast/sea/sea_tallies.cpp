#include "surrogates/sequence/hindcast/sea/sea_tallies.hpp"

#include <cmath>
#include <limits>

namespace quintet::sequence {

namespace {

double of(const double* sums, PointSum which) { return sums[static_cast<int>(which)]; }
double of(const double* sums, SeaSum which) { return sums[static_cast<int>(which)]; }

double point_rmse(const double* sums) {
  return std::sqrt(of(sums, PointSum::square) / of(sums, PointSum::windows));
}

constexpr SeaMapRow map_rows[] = {
    {"rmse", "RMSE", "degC", "root mean square error", [](const PointSums& s) { return point_rmse(s.own); }},
    {"acc", "Anomaly correlation", "1", "anomaly correlation about the verifying climatology",
     [](const PointSums& s) {
       return of(s.own, PointSum::truth_forecast) /
              std::sqrt(of(s.own, PointSum::truth_truth) * of(s.own, PointSum::forecast_forecast));
     }},
    {"crps", "CRPS", "degC", "continuous ranked probability score",
     [](const PointSums& s) { return of(s.own, PointSum::crps) / of(s.own, PointSum::windows); }},
    {"crps_skill", "CRPS skill over climatology", "1", "1 - CRPS/CRPS of the method climatology",
     [](const PointSums& s) {
       if (s.climatology == nullptr) return std::numeric_limits<double>::quiet_NaN();
       return 1 - of(s.own, PointSum::crps) / of(s.climatology, PointSum::crps);
     }},
    {"rmse_gain", "Gain in RMSE", "degC", "RMSE of the method that all are compared with minus its own",
     [](const PointSums& s) { return point_rmse(s.against) - point_rmse(s.own); }},
    {"rpss", "Skill of terciles", "1", "ranked probability skill of terciles against probabilities of 1/3",
     [](const PointSums& s) { return 1 - of(s.own, PointSum::rps) / of(s.own, PointSum::rps_normal); }},
    {"warm_brier_skill", "Skill of warmth", "1",
     "Brier skill of being warmer than 90 % of the season, against the probability 0.1",
     [](const PointSums& s) { return 1 - of(s.own, PointSum::brier) / of(s.own, PointSum::brier_normal); }}};

constexpr HeatWaveRow wave_rows[] = {
    {"hit_rate", "share of steps within heat waves that were forecast",
     [](const double* s) { return of(s, SeaSum::hits) / (of(s, SeaSum::hits) + of(s, SeaSum::misses)); }},
    {"false_alarm_ratio", "share of forecasts of heat waves that did not come",
     [](const double* s) {
       return of(s, SeaSum::false_alarms) / (of(s, SeaSum::hits) + of(s, SeaSum::false_alarms));
     }},
    {"frequency_bias", "steps within heat waves that were forecast over those that came; 1: as many",
     [](const double* s) {
       return (of(s, SeaSum::hits) + of(s, SeaSum::false_alarms)) /
              (of(s, SeaSum::hits) + of(s, SeaSum::misses));
     }},
    {"brier", "mean square of the probability of being warm minus what came (1 or 0)",
     [](const double* s) { return of(s, SeaSum::brier) / of(s, SeaSum::area); }},
    {"brier_skill", "1 - it/that of the probability 0.1",
     [](const double* s) { return 1 - of(s, SeaSum::brier) / of(s, SeaSum::brier_normal); }}};

}  // namespace

std::span<const SeaMapRow> sea_map_rows() { return map_rows; }

std::span<const HeatWaveRow> heat_wave_rows() { return wave_rows; }

}  // namespace quintet::sequence
