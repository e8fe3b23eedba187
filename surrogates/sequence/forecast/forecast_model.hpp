#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "surrogates/sequence/graph/graph_network.hpp"
#include "surrogates/sequence/network/architecture.hpp"
#include "surrogates/sequence/network/coded_matrices.hpp"
#include "surrogates/sequence/reference/linear_forecaster.hpp"
#include "surrogates/sequence/training/training_options.hpp"
#include "surrogates/sequence/windows/windows.hpp"

namespace quintet::sequence {

/// Kind of a forecast model.
enum class ForecastKind {
  hybrid,  ///< climatology and a linear base, corrected by networks of anomalies and season
  raw      ///< networks of the coefficients themselves, scaled to [0, 1]: the SC20 paper's
};

/// (value - offset)/scale, mode by mode.
struct Scaling {
  std::vector<double> offset, scale;
};

/// A forecast of coefficients from a window of them: base + correction by an ensemble of networks.
///
///     a(t + l, m) = base(t + l, m) + offset_m + scale_m n_k(window)(l, m),    members k,
///
/// each step of the window being ((x_m - input offset_m)/input scale_m, cos(2 pi h s), sin(2 pi h s)), h = 1
/// ... seasons, x the anomalies about the base's climatology, s the time in years of 365.2425 d. Without
/// members it is the base alone.
struct ForecastModel {
  ForecastKind kind = ForecastKind::hybrid;
  WindowShape shape;
  Irregular irregular = Irregular::avoid;
  TimeStep step;          ///< of the series
  LinearForecaster base;  ///< raw: zero
  int seasons = 0;
  Scaling input, output;
  Architecture architecture;                  ///< of recurrent networks
  std::shared_ptr<const GraphNetwork> graph;  ///< networks are of this kind; null: recurrent
  Precision precision = Precision::float32;
  std::vector<std::vector<double>> members;  ///< [members][parameters]
  /// Matrices as binary codes, [members][matrix]; `members` hold what they stand for. Empty: the weights are
  /// as they were trained.
  std::vector<std::vector<NamedCodes>> codes;
  CodeKernel kernel = CodeKernel::automatic;  ///< who multiplies by codes; not part of the file

  // What it is valid for.
  std::string modes;                                                ///< fingerprint (validity.hpp)
  double trained_from = 0, trained_until = 0, validated_until = 0;  ///< dates of the first and last rows used
  std::vector<std::string> leaks;                                   ///< of the split it was made with
  /// Mean products of errors on the validation windows, [out, modes, modes]; empty: not known.
  std::vector<double> validation_errors;

  [[nodiscard]] int n_modes() const { return base.climatology.n_modes(); }
  /// Numbers a step of the networks' input.
  [[nodiscard]] int n_inputs() const { return n_modes() + 2 * seasons; }
};

/// Name of what a model's networks correct: "seasonal_ridge", "raw coefficients" without a base.
[[nodiscard]] std::string base_text(const ForecastModel& model);

/// Numbers of a network's weights.
[[nodiscard]] std::size_t n_parameters(const ForecastModel& model);
/// A network in words.
[[nodiscard]] std::string network_text(const ForecastModel& model);
/// The graph network of a model's windows and scales.
[[nodiscard]] std::shared_ptr<const GraphNetwork> graph_network(const ForecastModel& model,
                                                                std::shared_ptr<const SeaNodes> nodes,
                                                                const GraphOptions& options);

/// Networks' input: [n, in, n_inputs]. No row after a window's origin is read.
[[nodiscard]] std::vector<double> network_inputs(const ForecastModel& model, const CoefficientSeries& series,
                                                 const Windows& windows);

/// Forecasts of an ensemble, [n, out, modes] each.
struct Ensemble {
  std::vector<double> mean;
  std::vector<double> spread;                ///< standard deviation of the members; 0 of one or none
  std::vector<std::vector<double>> members;  ///< at least one: without networks the base
};

/// Mean over windows of e_m e_n at each lead, e = forecast - truth, both [n, out, modes]: [out, modes,
/// modes].
[[nodiscard]] std::vector<double> error_products(const std::vector<double>& truth,
                                                 const std::vector<double>& forecast, int out, int modes);

/// Forecast on all ranks. Networks of a graph share out its nodes over them: on other numbers of ranks the
/// same to round-off. Throws InputError: other modes or windows than the model's, dates beyond its
/// climatology's validity. Collective.
[[nodiscard]] Ensemble forecast(const Comm& comm, const ForecastModel& model, const CoefficientSeries& series,
                                const Windows& windows);
/// The same on this rank alone.
[[nodiscard]] Ensemble forecast(const ForecastModel& model, const CoefficientSeries& series,
                                const Windows& windows);

}  // namespace quintet::sequence
