#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "surrogates/flow/evaluation/rectilinear_grid.hpp"

namespace quintet::flow {

/// Values in single precision that differ by no more than this share of themselves are one value: what is
/// scored by their deviation is scored by noise.
inline constexpr double constant_share = 1e-6;

/// Errors of a field at the points of a grid, in means over area and frames; sums, so that parts can be
/// merged.
class PointErrors {
 public:
  /// One frame.
  void add(const RectilinearGrid& grid, std::span<const double> truth, std::span<const double> prediction);
  void merge(const PointErrors& other);

  [[nodiscard]] double rms() const;  ///< sqrt(<(p - t)^2>)
  /// Largest |p - t|; NaN where a prediction is.
  [[nodiscard]] double greatest() const { return std::isnan(square_) ? square_ : greatest_; }
  [[nodiscard]] double truth_rms() const;        ///< sqrt(<t^2>)
  [[nodiscard]] double truth_deviation() const;  ///< sqrt(<(t - <t>)^2>)
  [[nodiscard]] double relative() const { return rms() / truth_rms(); }
  /// Whether the truth varies by more than single precision rounds it.
  [[nodiscard]] bool varies() const { return truth_deviation() > constant_share * truth_rms(); }
  /// rms()/truth_deviation(): 1 for a prediction by the mean. NaN where the truth does not vary.
  [[nodiscard]] double scaled() const;
  [[nodiscard]] double r2() const { return 1 - scaled() * scaled(); }

  /// The sums behind them, to be added up over ranks; the last one is `greatest`, of which the largest
  /// counts.
  static constexpr int n_sums = 4;
  [[nodiscard]] std::array<double, n_sums> sums() const { return {frames_, square_, truth_, truth_square_}; }
  static PointErrors of(const std::array<double, n_sums>& sums, double greatest);

 private:
  double frames_ = 0, square_ = 0, truth_ = 0, truth_square_ = 0, greatest_ = 0;
};

/// VRMSE of a frame as The Well defines it: sqrt(<(p - t)^2>/(s^2 + 1e-7)), s^2 = sum (t - <t>)^2/(n - 1).
/// All points weigh the same, wherever they lie. What benchmarks print is the mean over frames, then over
/// fields. Source: Ohana et al. 2024, `nrmse` by `std` of the_well.
[[nodiscard]] double vrmse_of_frame(std::span<const double> truth, std::span<const double> prediction);

/// The highest wavenumber up to which all means of a spectrum, from mode 1 on, are those of the truth to a
/// share `tolerance`; 0 where the first is not. Modes in which the truth has nothing but rounding end it.
[[nodiscard]] double right_up_to(std::span<const double> wavenumbers, std::span<const double> truth,
                                 std::span<const double> prediction, double tolerance);

/// Wavenumbers between two ends.
struct WavenumberRange {
  double from, to;
};
/// The middle third, on a logarithmic axis, of the modes from 1 on that hold more than rounding.
[[nodiscard]] WavenumberRange middle_third(std::span<const double> wavenumbers,
                                           std::span<const double> spectrum);

/// Mean |ln(E/E of the truth)| over the modes with from < k <= to in which the truth has more than a
/// millionth of its power: 0.69 is half or twice the power. NaN where there is none. A prediction of less
/// than that millionth counts as it.
[[nodiscard]] double spectrum_log_error(std::span<const double> wavenumbers, std::span<const double> truth,
                                        std::span<const double> prediction, const WavenumberRange& range);

/// A power law E = factor k^exponent.
struct PowerLaw {
  double exponent, factor;
};
/// Fit a power law to the modes of a range: least squares of log E over log k, a mode weighted by 1/k, so
/// that equal ratios of wavenumbers count alike. NaN where fewer than three modes lie there, or one holds
/// nothing.
[[nodiscard]] PowerLaw fit_power_law(std::span<const double> wavenumbers, std::span<const double> spectrum,
                                     const WavenumberRange& range);

/// How well a series in time is predicted.
struct SeriesScore {
  double nmae;  ///< sum |p - t|/sum |t|: 100 nmae is the paper's measure with this normaliser
  double r2;    ///< 1 - sum (p - t)^2/sum (t - mean t)^2; NaN where the truth varies by noise
};
/// Score of a series; all NaN if a value of the truth or of the prediction is.
[[nodiscard]] SeriesScore series_score(std::span<const double> truth, std::span<const double> prediction);

}  // namespace quintet::flow
