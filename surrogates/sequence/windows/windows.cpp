#include "surrogates/sequence/windows/windows.hpp"

#include <algorithm>

#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::sequence {

namespace {
constexpr IrregularRow irregular[] = {{Irregular::avoid, "avoid"}, {Irregular::cross, "cross"}};
}  // namespace

std::span<const IrregularRow> irregular_rows() { return irregular; }

void Windows::add(const Windows& other, int i) {
  origins.push_back(other.origins[i]);
  memory.push_back(other.memory[i]);
  dates.insert(dates.end(), other.dates_of(i), other.dates_of(i) + other.shape.out);
}

std::vector<int> stretches(const std::vector<double>& time, Irregular irregular) {
  std::vector<int> first(time.size(), 0);
  if (irregular == Irregular::cross || time.size() < 2) return first;
  const auto step = time_step_of(time);
  for (std::size_t i = 1; i < time.size(); ++i)
    first[i] = step.joins(time[i - 1], time[i]) ? first[i - 1] : static_cast<int>(i);
  return first;
}

Windows windows_of(const CoefficientSeries& series, const WindowShape& shape, Rows rows,
                   Irregular irregular) {
  QUINTET_CHECK(shape.in >= 1 && shape.out >= 1,
                "windows of {} past and {} future steps; expected at least 1 and 1", shape.in, shape.out);
  Windows windows;
  windows.shape = shape;
  const auto first = stretches(series.time, irregular);
  for (int origin = rows.begin + shape.in - 1; origin + shape.out < rows.end; ++origin) {
    const int last = origin + shape.out;
    if (first[last] > origin - shape.in + 1) continue;
    windows.origins.push_back(origin);
    windows.memory.push_back(first[origin]);
    for (int row = origin + 1; row <= last; ++row) windows.dates.push_back(series.time[row]);
  }
  return windows;
}

Windows window_at(const CoefficientSeries& series, const WindowShape& shape, int origin,
                  Irregular irregular) {
  const auto first = stretches(series.time, irregular);
  QUINTET_CHECK(origin >= 0 && origin < series.n_times(), "a forecast from row {} of a series of {}", origin,
                series.n_times());
  QUINTET_CHECK(origin - shape.in + 1 >= first[origin],
                "a forecast from {} needs {} steps up to it; only {} lie unbroken before it",
                ocean::date_text(series.time[origin]), shape.in, origin - first[origin] + 1);
  Windows windows;
  windows.shape = shape;
  windows.origins = {origin};
  windows.memory = {first[origin]};
  const auto step = time_step_of(series.time);
  for (int lead = 1; lead <= shape.out; ++lead)
    windows.dates.push_back(step.advance(series.time[origin], lead));
  return windows;
}

std::vector<double> targets(const CoefficientSeries& series, const Windows& windows) {
  const std::size_t n = std::int64_t{windows.shape.out} * series.n_modes;
  std::vector<double> values;
  values.reserve(windows.origins.size() * n);
  for (const int origin : windows.origins) {
    if (origin + windows.shape.out >= series.n_times()) throw InternalError("a window ends after the series");
    values.insert(values.end(), series.row(origin + 1), series.row(origin + 1) + n);
  }
  return values;
}

Rows rows_between(const CoefficientSeries& series, double from, double until) {
  const auto& time = series.time;
  const auto begin = std::lower_bound(time.begin(), time.end(), from) - time.begin();
  const auto end = std::upper_bound(time.begin(), time.end(), until) - time.begin();
  return {static_cast<int>(begin), static_cast<int>(std::max(begin, end))};
}

}  // namespace quintet::sequence
