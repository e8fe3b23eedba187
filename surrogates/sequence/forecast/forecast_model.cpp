#include "surrogates/sequence/forecast/forecast_model.hpp"

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/training/training.hpp"

namespace quintet::sequence {

namespace {

constexpr double year = 365.2425;  // days

/// Base plus what a network says.
std::vector<double> corrected(const ForecastModel& model, const std::vector<double>& base,
                              const std::vector<double>& correction) {
  auto values = base;
  const int modes = model.n_modes();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto m = i % modes;
    values[i] += model.output.offset[m] + model.output.scale[m] * correction[i];
  }
  return values;
}

}  // namespace

std::string base_text(const ForecastModel& model) {
  return model.kind == ForecastKind::raw ? "raw coefficients" : model.base.name;
}

std::size_t n_parameters(const ForecastModel& model) {
  return (model.graph ? graph_of(*model.graph) : graph_of(model.architecture)).n_parameters;
}

std::string network_text(const ForecastModel& model) {
  return model.graph ? summary(*model.graph) : summary(model.architecture);
}

std::shared_ptr<const GraphNetwork> graph_network(const ForecastModel& model,
                                                  std::shared_ptr<const SeaNodes> nodes,
                                                  const GraphOptions& options) {
  return std::make_shared<const GraphNetwork>(GraphNetwork{std::move(nodes), options, model.shape,
                                                           model.seasons, model.input.offset,
                                                           model.input.scale, model.output.scale});
}

std::vector<double> network_inputs(const ForecastModel& model, const CoefficientSeries& series,
                                   const Windows& windows) {
  const auto x = anomalies(series, model.base.climatology);
  const int modes = model.n_modes(), in = model.shape.in;
  std::vector<double> inputs;
  inputs.reserve(std::int64_t{windows.size()} * in * model.n_inputs());
  for (const int origin : windows.origins)
    for (int row = origin - in + 1; row <= origin; ++row) {
      for (int m = 0; m < modes; ++m)
        inputs.push_back((x.row(row)[m] - model.input.offset[m]) / model.input.scale[m]);
      for (int h = 1; h <= model.seasons; ++h) {
        const double phase = 2 * std::numbers::pi * h * std::fmod(series.time[row], year) / year;
        inputs.push_back(std::cos(phase));
        inputs.push_back(std::sin(phase));
      }
    }
  return inputs;
}

std::vector<double> error_products(const std::vector<double>& truth, const std::vector<double>& forecast,
                                   int out, int modes) {
  const std::size_t width = modes, row = out * width;
  if (truth.size() != forecast.size() || truth.empty() || truth.size() % row != 0)
    throw InternalError("forecasts and truth have other shapes");
  const double n = truth.size() / row;
  std::vector<double> products(row * width, 0.0);
  for (std::size_t first = 0; first < truth.size(); first += width)
    for (std::size_t i = 0; i < width; ++i)
      for (std::size_t j = 0; j < width; ++j)
        products[(first % row + i) * width + j] +=
            (forecast[first + i] - truth[first + i]) * (forecast[first + j] - truth[first + j]) / n;
  return products;
}

Ensemble forecast(const ForecastModel& model, const CoefficientSeries& series, const Windows& windows) {
  return forecast(Comm::self(), model, series, windows);
}

Ensemble forecast(const Comm& comm, const ForecastModel& model, const CoefficientSeries& series,
                  const Windows& windows) {
  QUINTET_CHECK(series.n_modes == model.n_modes(), "the model forecasts {} modes; the series has {}",
                model.n_modes(), series.n_modes);
  QUINTET_CHECK(windows.shape == model.shape,
                "the model takes {} steps and forecasts {}; the windows have {} and {}", model.shape.in,
                model.shape.out, windows.shape.in, windows.shape.out);
  Ensemble ensemble;
  const auto base = model.base.forecast(series, windows);
  if (model.members.empty()) {
    ensemble.members = {base};
  } else {
    const auto inputs = network_inputs(model, series, windows);
    std::unique_ptr<GraphPasses> on_graph;
    if (model.graph) on_graph = graph_passes(comm, model.graph);
    const auto by_graph = [&](const std::vector<double>& parameters) {
      on_graph->refresh(parameters.data());
      return on_graph->forward(inputs);
    };
    for (std::size_t k = 0; k < model.members.size(); ++k) {
      const auto& parameters = model.members[k];
      ensemble.members.push_back(
          corrected(model, base,
                    on_graph ? by_graph(parameters)
                    : model.codes.empty()
                        ? predict(model.architecture, model.shape.in, parameters, inputs, model.precision)
                        : predict_coded(model.architecture, model.shape.in, parameters, model.codes[k],
                                        model.kernel, inputs)));
    }
  }
  const double n = ensemble.members.size();
  ensemble.mean.assign(base.size(), 0.0);
  ensemble.spread.assign(base.size(), 0.0);
  for (const auto& member : ensemble.members)
    for (std::size_t i = 0; i < member.size(); ++i) ensemble.mean[i] += member[i] / n;
  if (n < 2) return ensemble;
  for (const auto& member : ensemble.members)
    for (std::size_t i = 0; i < member.size(); ++i)
      ensemble.spread[i] += std::pow(member[i] - ensemble.mean[i], 2) / (n - 1);
  for (auto& value : ensemble.spread) value = std::sqrt(value);
  return ensemble;
}

}  // namespace quintet::sequence
