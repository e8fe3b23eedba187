#pragma once

#include <string>
#include <vector>

#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/forecast/forecast_model.hpp"

namespace quintet::sequence {

/// Names what a model was trained on: modes, background, grid, mask and weights, and the dates and
/// coefficients of the rows of training. New times after them leave it as it is.
[[nodiscard]] std::string fingerprint(const ocean::OceanModes& modes, Rows training);

/// Throws InputError where a model must not be used with these modes: another number of modes, grid, mask,
/// base period or set of modes, another time step, a training period that the record lacks.
void check_valid(const ForecastModel& model, const ocean::OceanModes& modes);

/// Rows of a record that the model was trained on.
[[nodiscard]] Rows training_rows(const ForecastModel& model, const CoefficientSeries& series);

/// Purpose of windows: to judge forecasts, or to choose among networks.
enum class Purpose { test, validation };

/// Leaks that make scores on these windows better than those of forecasts: training times among them, modes
/// made from them, the leaks of the model's own split and, in a test, validation times. Empty: none known.
[[nodiscard]] std::vector<std::string> leaks_of(const ForecastModel& model, const ocean::OceanModes& modes,
                                                const Windows& windows, Purpose purpose = Purpose::test);

}  // namespace quintet::sequence
