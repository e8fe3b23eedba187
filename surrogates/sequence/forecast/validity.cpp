#include "surrogates/sequence/forecast/validity.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::sequence {

std::string fingerprint(const ocean::OceanModes& modes, Rows training) {
  std::uint64_t sum = hdf5::xxh64(std::as_bytes(std::span<const std::uint8_t>(modes.mask)));
  const auto add = [&](std::span<const double> values) { sum = hdf5::xxh64(std::as_bytes(values), sum); };
  for (const auto* values :
       {&modes.modes, &modes.mean, &modes.weights, &modes.cycle, &modes.latitude, &modes.longitude})
    add(*values);
  for (const auto& one : modes.also) {
    sum = hdf5::xxh64(std::as_bytes(std::span<const std::uint8_t>(one.mask)), sum);
    for (const auto* values :
         {&one.modes, &one.mean, &one.weights, &one.cycle, &one.latitude, &one.longitude})
      add(*values);
  }
  const auto& series = modes.series;
  const std::size_t first = training.begin, n = training.size();
  const std::size_t width = series.n_modes;
  add(std::span(series.time).subspan(first, n));
  add(std::span(series.values).subspan(first * width, n * width));
  return fmt::format("{:016x}", sum);
}

Rows training_rows(const ForecastModel& model, const CoefficientSeries& series) {
  const auto rows = rows_between(series, model.trained_from, model.trained_until);
  QUINTET_CHECK(rows.size() > 0 && series.time[rows.begin] == model.trained_from &&
                    series.time[rows.end - 1] == model.trained_until,
                "the model was trained on {} to {}; the record, {} to {}, lacks these dates",
                ocean::date_text(model.trained_from), ocean::date_text(model.trained_until),
                ocean::date_text(series.time.front()), ocean::date_text(series.time.back()));
  return rows;
}

void check_valid(const ForecastModel& model, const ocean::OceanModes& modes) {
  const auto& series = modes.series;
  QUINTET_CHECK(series.n_modes == model.n_modes(), "the model forecasts {} modes; the modes file has {}",
                model.n_modes(), series.n_modes);
  const auto step = time_step_of(series.time);
  const bool same = step.months == model.step.months && (step.months > 0 || step.joins(0, model.step.days));
  QUINTET_CHECK(same, "the model forecasts steps of {}; the record has steps of {}", model.step.text(),
                step.text());
  const auto rows = training_rows(model, series);
  QUINTET_CHECK(fingerprint(modes, rows) == model.modes,
                "the model was trained on other modes: grid, mask, base period, weights, modes or "
                "coefficients of {} to {} differ "
                "(fingerprint {}, not {}); train it on this modes file",
                ocean::date_text(model.trained_from), ocean::date_text(model.trained_until), model.modes,
                fingerprint(modes, rows));
}

std::vector<std::string> leaks_of(const ForecastModel& model, const ocean::OceanModes& modes,
                                  const Windows& windows, Purpose purpose) {
  auto leaks = model.leaks;
  const auto& time = modes.series.time;
  const auto from_training = [&](double until) {
    return std::count_if(windows.origins.begin(), windows.origins.end(), [&](int origin) {
      return time[origin + windows.shape.out] >= model.trained_from && time[origin + 1] <= until;
    });
  };
  const auto trained = from_training(model.trained_until),
             chosen = from_training(model.validated_until) - trained;
  if (trained > 0)
    leaks.push_back(fmt::format("{} of {} windows forecast times that the model was trained on", trained,
                                windows.size()));
  if (chosen > 0 && purpose == Purpose::test)
    leaks.push_back(
        fmt::format("{} of {} windows forecast times of the validation period, by which networks were chosen",
                    chosen, windows.size()));
  const auto in_modes = std::count_if(windows.origins.begin(), windows.origins.end(),
                                      [&](int origin) { return origin + 1 < modes.n_fit; });
  if (in_modes > 0 && time[modes.n_fit - 1] > model.trained_until)
    leaks.push_back(
        fmt::format("modes and mean were made from times up to {}, past the end of training and among the {} "
                    "windows of this table",
                    ocean::date_text(time[modes.n_fit - 1]), in_modes));
  return leaks;
}

}  // namespace quintet::sequence
