#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "physics/ocean/series.hpp"
#include "surrogates/sequence/windows/time_step.hpp"

namespace quintet::sequence {

/// Rows [begin, end) of a series.
struct Rows {
  int begin = 0, end = 0;
  [[nodiscard]] int size() const { return end - begin; }
};

/// Treatment of a step of time unlike the others, such as the three days between the two parts of the weekly
/// record.
enum class Irregular {
  avoid,  ///< the series is broken there: no window and no memory reaches across
  cross   ///< rows are steps whatever their dates; target dates are the rows' own
};
struct IrregularRow {
  Irregular value;
  const char* name;
};
[[nodiscard]] std::span<const IrregularRow> irregular_rows();

/// Length of a window.
struct WindowShape {
  int in = 8;   ///< past steps that a forecast sees
  int out = 8;  ///< steps that it forecasts: leads 1 ... out
  bool operator==(const WindowShape&) const = default;
};

/// Windows of a series: window i sees rows origin - in + 1 ... origin and forecasts `out` dates.
struct Windows {
  WindowShape shape;
  std::vector<int> origins;   ///< [n] rows of the last steps seen, ascending
  std::vector<int> memory;    ///< [n] first row of the unbroken stretch that the origin lies in
  std::vector<double> dates;  ///< [n, out] that the forecasts are for (days since 1800-01-01)
  [[nodiscard]] int size() const { return origins.size(); }
  [[nodiscard]] const double* dates_of(int i) const { return dates.data() + std::int64_t{i} * shape.out; }
  void add(const Windows& other, int i);  ///< window i of others of the same shape
};

/// First row of the unbroken stretch that each row lies in.
[[nodiscard]] std::vector<int> stretches(const std::vector<double>& time, Irregular irregular);

/// All windows whose rows, past and future, lie in `rows` of the series. There may be none.
[[nodiscard]] Windows windows_of(const CoefficientSeries& series, const WindowShape& shape, Rows rows,
                                 Irregular irregular);

/// One window that ends at row `origin`; its dates follow by the series' step and may lie beyond its end.
/// Throws InputError where fewer than `in` rows lie unbroken before it.
[[nodiscard]] Windows window_at(const CoefficientSeries& series, const WindowShape& shape, int origin,
                                Irregular irregular);

/// True values of the windows: [n, out, modes]. Every window must end within the series.
[[nodiscard]] std::vector<double> targets(const CoefficientSeries& series, const Windows& windows);

/// The rows of a series from one date to another, both included. May be empty.
[[nodiscard]] Rows rows_between(const CoefficientSeries& series, double from, double until);

}  // namespace quintet::sequence
