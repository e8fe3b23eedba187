#pragma once

#include <memory>
#include <span>
#include <vector>

#include "io/parallel/interrupt.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/hindcast/combine.hpp"
#include "surrogates/sequence/hindcast/sea/sea_tallies.hpp"
#include "surrogates/sequence/skill/bootstrap.hpp"

namespace quintet::sequence {

class SeaLanes;

/// The sea as the modes of an origin have it, and the record in them.
struct SeaAtOrigin {
  std::shared_ptr<const ocean::OceanModes> modes;
  std::shared_ptr<const CoefficientSeries> anomalies;  ///< of the whole record, verifying climatology
};

struct SeaScoreOptions {
  std::vector<int> leads;    ///< that are judged, 1 the first
  std::vector<double> area;  ///< [points] weights of the mean over the sea
  int warm_up = 0;           ///< leading origins that are not judged
  int block = 1;             ///< windows of a block of the bootstrap
  int draws = 200;
  int against = 0;        ///< method that all are compared with
  int climatology = -1;   ///< method of that name; -1: none
  int least_steps = 1;    ///< of a marine heat wave
  Interrupt interrupt{};  ///< asked between groups of points
};

/// A class of probabilities: how often what was forecast came.
struct SeaReliability {
  double probability = 0;  ///< mean of the forecasts
  Estimate frequency;      ///< how often it came
  double share = 0;        ///< of all forecasts
};

/// Scores of all methods at each point of the sea, in the space of the modes, over the windows of all judged
/// origins; and sums over the sea of marine heat waves and of terciles.
///
/// A forecast at a point is the normal distribution of phi^T a, phi the modes there. Terciles and the
/// threshold of warmth are SeasonalQuantiles of the whole record's anomalies there. A forecast says heat wave
/// where its mean exceeds the threshold, for as many steps as heat_wave::is_within() asks for.
///
/// Errors: a bootstrap of blocks of windows that follow each other without overlap (Carlstein, Ann. Stat. 14,
/// 1171 (1986)), the same draws for all.
class SeaScores {
 public:
  /// Collective. Throws Interrupted. @param seas [origins] of the hindcasts; all have the same points
  SeaScores(const Comm& comm, const Hindcasts& hindcasts, const std::vector<SeaAtOrigin>& seas,
            SeaScoreOptions options);
  /// Memory that they take on a rank (bytes).
  [[nodiscard]] static double bytes(double points, double methods, double leads, double times);

  [[nodiscard]] const SeaScoreOptions& options() const { return options_; }
  [[nodiscard]] int n_windows() const { return n_windows_; }
  [[nodiscard]] int n_methods() const { return n_methods_; }
  [[nodiscard]] std::size_t n_points() const { return points_; }
  [[nodiscard]] const Bootstrap& bootstrap() const { return bootstrap_; }
  /// A map of a method at the lead of that number among the options' leads: [points].
  [[nodiscard]] std::span<const double> map(const SeaMapRow& row, int method, int i_lead) const;
  /// Standard error of rmse_gain: [points]; NaN with fewer than three blocks.
  [[nodiscard]] std::span<const double> gain_error(int method, int i_lead) const;
  [[nodiscard]] Estimate heat_waves(const HeatWaveRow& row, int method, int i_lead) const;
  /// How much larger a score of heat waves is than another method's, by the same draws.
  [[nodiscard]] Estimate difference(const HeatWaveRow& row, int method, int other, int i_lead) const;
  /// Of probabilities that a point lies in the lowest or highest third: ten classes.
  [[nodiscard]] std::vector<SeaReliability> reliability(int method, int i_lead) const;

 private:
  /// Scores of the points from `first` to `end` that were judged last. @param sizes [blocks] windows
  void keep(const SeaLanes& lanes, std::size_t first, std::size_t end, const std::vector<double>& sizes);
  [[nodiscard]] const double* sums_of(int method, int i_lead) const;

  SeaScoreOptions options_;
  int n_methods_, n_windows_;
  std::size_t points_;
  Bootstrap bootstrap_;
  std::vector<double> maps_;        ///< [rows, methods, leads, points]
  std::vector<double> gain_error_;  ///< [methods, leads, points]
  std::vector<double> sums_;        ///< [methods, leads, samples, n_sea_sums]
};

}  // namespace quintet::sequence
