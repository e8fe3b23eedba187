#include "apps/podlstm/evaluate/left_out.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/coordinates/grid.hpp"
#include "physics/ocean/svd/tall_matrix.hpp"

namespace quintet::podlstm {

namespace {

constexpr double same_time = 0.01;  // days

std::vector<int> rows_of(const sequence::Windows& windows) {
  std::set<int> rows;
  for (const int origin : windows.origins)
    for (int lead = 1; lead <= windows.shape.out; ++lead) rows.insert(origin + lead);
  return {rows.begin(), rows.end()};
}

/// @param what "fields: ", or what a further variable is
void check_places(const ocean::FieldModes& modes, const ocean::Record& record, const std::string& what) {
  QUINTET_CHECK(record.n_missing() == 0,
                "{}{} missing, so that whole fields cannot be compared; leave `fields` out, "
                "errors are then within the space of the modes",
                what, counted(record.n_missing(), "value is", "values are"));
  QUINTET_CHECK(same_grid({modes.latitude, modes.longitude}, record.grid()),
                "{}are on a grid of {} x {}, the modes on one of {} x {} or with other points; give the "
                "record and the region that `podlstm fit` has read",
                what, record.grid().latitude.size(), record.grid().longitude.size(), modes.latitude.size(),
                modes.longitude.size());
  std::size_t others = 0;
  for (std::size_t i = 0; i < modes.mask.size(); ++i) others += modes.mask[i] != record.mask()[i] ? 1U : 0U;
  QUINTET_CHECK(others == 0,
                "{}{} sea here and land in the modes file, or the other way round; give the "
                "mask that `podlstm fit` has read",
                what, counted(others, "point is", "points are"));
}

/// The record's time of each row.
std::vector<int> times_of(const ocean::Record& record, const CoefficientSeries& series,
                          const std::vector<int>& rows) {
  std::vector<int> times;
  const auto& days = record.days();
  for (const int row : rows) {
    const double day = series.time[row];
    const auto found = std::lower_bound(days.begin(), days.end(), day - same_time);
    QUINTET_CHECK(found != days.end() && *found <= day + same_time,
                  "fields: the record has no {}, a date that is forecast; it goes from {} to {}",
                  ocean::date_text(day), ocean::date_text(days.front()), ocean::date_text(days.back()));
    times.push_back(found - days.begin());
  }
  return times;
}

}  // namespace

LeftOut::LeftOut(const Comm& comm, const ocean::OceanModes& modes, const ocean::JointRecords& records,
                 const sequence::Windows& windows, const Interrupt& interrupt)
    : comm_(comm),
      modes_(modes),
      windows_(windows),
      rows_(rows_of(windows)),
      first_(records.front().record->first_point(comm.rank())),
      mine_(records.front().record->n_mine()) {
  QUINTET_CHECK(records.size() == modes.also.size() + 1,
                "fields.also: has {}, the modes have {} beside the first; give those that `podlstm "
                "fit` has read",
                counted(records.size() - 1, "variable"), modes.also.size());
  check_joint(records);
  const auto times = times_of(*records.front().record, modes.series, rows_);
  const auto variables = variables_of(modes);
  std::vector<double> misses(rows_.size() * std::int64_t{modes.n_modes()}, 0.0);
  for (std::size_t v = 0; v < records.size(); ++v) {
    const auto& record = *records[v].record;
    check_places(*variables[v], record, v == 0 ? "fields: " : ocean::told_by_name(records[v].name));
    auto left = left_of(record, *variables[v], times, interrupt);
    add_products(record, *variables[v], left, misses);
    if (v == 0) values_ = std::move(left);
  }
  comm_.reduce(std::span<double>(misses), Comm::Reduction::sum);
  check_products(misses);
}

double LeftOut::bytes(const ocean::Record& record, const sequence::Windows& windows) {
  const double dates = rows_of(windows).size();
  // over(): values and the same again, weighted; a Gram matrix while BLAS's is there, and one of windows.
  return 8 * dates * (2.0 * record.n_mine() + 3 * dates);
}

std::vector<double> LeftOut::left_of(const ocean::Record& record, const ocean::FieldModes& modes,
                                     const std::vector<int>& times, const Interrupt& interrupt) const {
  constexpr std::size_t at_once = 64;
  const std::size_t first = record.first_point(comm_.rank()), mine = record.n_mine();
  std::vector<double> values(rows_.size() * mine);
  for (std::size_t date = 0; date < rows_.size();) {
    std::size_t n = 1;
    while (n < at_once && date + n < times.size() && times[date + n] == times[date] + static_cast<int>(n))
      ++n;
    give_up_if_asked(comm_, interrupt);
    const auto fields = record.read(times[date], n);
    for (std::size_t t = 0; t < n; ++t) {
      const int row = rows_[date + t];
      const auto known = expand(modes, modes_.series.time[row], modes_.series.row(row));
      for (std::size_t x = 0; x < mine; ++x)
        values[(date + t) * mine + x] = fields.row(x)[t] - known[first + x];
    }
    date += n;
  }
  return values;
}

void LeftOut::add_products(const ocean::Record& record, const ocean::FieldModes& modes,
                           const std::vector<double>& left, std::vector<double>& misses) const {
  const std::size_t n_modes = modes_.n_modes(), points = modes.n_points(),
                    first = record.first_point(comm_.rank()), mine = record.n_mine();
  for (std::size_t date = 0; date < rows_.size(); ++date)
    for (std::size_t m = 0; m < n_modes; ++m)
      for (std::size_t x = 0; x < mine; ++x)
        misses[date * n_modes + m] +=
            modes.weights[first + x] * modes.modes[m * points + first + x] * left[date * mine + x];
}

void LeftOut::check_products(const std::vector<double>& misses) const {
  const std::size_t n_modes = modes_.n_modes();
  const auto& a = modes_.series.values;
  const double largest = std::abs(
      *std::max_element(a.begin(), a.end(), [](double x, double y) { return std::abs(x) < std::abs(y); }));
  constexpr double round_off = 1e-6;
  for (std::size_t i = 0; i < misses.size(); ++i)
    QUINTET_CHECK(
        std::abs(misses[i]) <= round_off * largest,
        "fields: those of {} are not the ones behind the modes file: their coefficient {} differs by "
        "{:.3g}; give the record that `podlstm fit` has read",
        ocean::date_text(modes_.series.time[rows_[i / n_modes]]), i % n_modes + 1, misses[i]);
}

std::size_t LeftOut::date_of(int window, int lead) const {
  const int row = windows_.origins[window] + lead;
  return std::lower_bound(rows_.begin(), rows_.end(), row) - rows_.begin();
}

sequence::Truncation LeftOut::by_window(std::vector<double> gram, const std::vector<double>& products) const {
  const std::ptrdiff_t n_modes = modes_.n_modes();
  sequence::Truncation truncation;
  truncation.n_dates = rows_.size();
  for (int i = 0; i < windows_.size(); ++i)
    for (int lead = 1; lead <= windows_.shape.out; ++lead) {
      const auto date = date_of(i, lead);
      truncation.dates.push_back(date);
      truncation.squares.push_back(gram[date * rows_.size() + date]);
      const auto first = products.begin() + date * n_modes;
      truncation.products.insert(truncation.products.end(), first, first + n_modes);
    }
  truncation.gram = std::move(gram);
  return truncation;
}

sequence::Truncation LeftOut::over(const std::vector<double>& weights) const {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::size_t n_modes = modes_.n_modes(), points = modes_.n_points(), n_dates = rows_.size();
  std::vector<std::size_t> inside;
  for (std::size_t x = 0; x < mine_; ++x)
    if (weights[first_ + x] > 0) inside.push_back(x);
  ocean::TallMatrix scaled(inside.size(), n_dates);
  std::vector<double> products(n_dates * n_modes, 0.0);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const auto x = inside[i];
    const double share = weights[first_ + x] / total;
    for (std::size_t date = 0; date < n_dates; ++date) {
      const double value = values_[date * mine_ + x];
      scaled.row(i)[date] = std::sqrt(share) * value;
      for (std::size_t m = 0; m < n_modes; ++m)
        products[date * n_modes + m] += share * value * modes_.modes[m * points + first_ + x];
    }
  }
  comm_.reduce(std::span<double>(products), Comm::Reduction::sum);
  return by_window(ocean::gram(comm_, scaled).values, products);
}

sequence::Truncation LeftOut::of_mean(const std::vector<double>& weights) const {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::size_t n_modes = modes_.n_modes(), points = modes_.n_points();
  std::vector<double> mode_means(n_modes, 0.0), means(rows_.size(), 0.0);
  for (std::size_t m = 0; m < n_modes; ++m)
    for (std::size_t x = 0; x < points; ++x)
      mode_means[m] += weights[x] / total * modes_.modes[m * points + x];
  for (std::size_t date = 0; date < rows_.size(); ++date)
    for (std::size_t x = 0; x < mine_; ++x)
      means[date] += weights[first_ + x] / total * values_[date * mine_ + x];
  comm_.reduce(std::span<double>(means), Comm::Reduction::sum);
  std::vector<double> gram, products;
  for (const double mean : means) {
    for (const double other : means) gram.push_back(mean * other);
    for (const double mode : mode_means) products.push_back(mean * mode);
  }
  return by_window(std::move(gram), products);
}

std::vector<double> LeftOut::square_error_map(const std::vector<double>& truth,
                                              const std::vector<double>& forecast,
                                              const sequence::SampleShape& shape, int lead) const {
  const std::size_t n_modes = shape.modes, points = modes_.n_points();
  std::vector<double> mine(mine_, 0.0), error(mine_);
  for (int i = 0; i < shape.n; ++i) {
    const auto row = (std::int64_t{i} * shape.out + lead - 1) * n_modes;
    const double* left = values_.data() + date_of(i, lead) * mine_;
    for (std::size_t x = 0; x < mine_; ++x) error[x] = -left[x];
    for (std::size_t m = 0; m < n_modes; ++m) {
      const double e = forecast[row + m] - truth[row + m];
      const double* mode = modes_.modes.data() + m * points + first_;
      for (std::size_t x = 0; x < mine_; ++x) error[x] += e * mode[x];
    }
    for (std::size_t x = 0; x < mine_; ++x) mine[x] += error[x] * error[x] / shape.n;
  }
  return comm_.all_gather(std::span<const double>(mine));
}

}  // namespace quintet::podlstm
