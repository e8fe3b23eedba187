#include "surrogates/sequence/hindcast/hindcast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::sequence {

namespace {

constexpr double year = 365.2425;      // days
constexpr double least_training = 5;   // years
constexpr double usual_training = 10;  // years
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

int year_of(double day) { return ocean::date_of(day).year; }
double first_day(int year_number) { return ocean::day_of({year_number, 1, 1}); }

/// First row that trains.
int first_row(const CoefficientSeries& series, const OriginOptions& options) {
  if (options.train_from.empty()) return 0;
  const double day = ocean::parse_date(options.train_from, "origins.train_from");
  const auto found = std::lower_bound(series.time.begin(), series.time.end(), day) - series.time.begin();
  QUINTET_CHECK(found < series.n_times(), "origins.train_from: {} is after the record, which ends on {}",
                options.train_from, ocean::date_text(series.time.back()));
  return found;
}

/// The first origin: what the user says, else the first year after ten of record and after the modes' times.
double first_origin(const CoefficientSeries& series, const OriginOptions& options, int begin,
                    double known_until) {
  const double start = series.time[begin];
  if (options.from.empty()) {
    const double earliest = std::max(start + usual_training * year, known_until);
    const double first = first_day(year_of(earliest) + 1);
    QUINTET_CHECK(first < series.time.back(),
                  "origins.from: absent, and the record, which ends on {}, does not go beyond {}, the first "
                  "year after ten of training and after the times behind the modes; fit the modes to fewer "
                  "years, or give origins.from",
                  ocean::date_text(series.time.back()), ocean::date_text(first));
    return first;
  }
  const double first = ocean::parse_date(options.from, "origins.from");
  QUINTET_CHECK(
      first - start >= least_training * year,
      "origins.from: {} is {:.1f} years after the first time of training, {}; expected five or more",
      options.from, (first - start) / year, ocean::date_text(start));
  QUINTET_CHECK(first < series.time.back(), "origins.from: {} is not before the record's end, {}",
                options.from, ocean::date_text(series.time.back()));
  return first;
}

/// The same day so many years later; of 29 February the 28th.
double years_later(double day, int years) {
  auto date = ocean::date_of(day);
  date.year += years;
  if (date.month == 2 && date.day == 29) date.day = 28;
  return ocean::day_of(date);
}

hdf5::Description numbers(const char* text) { return {"1", {}, text}; }

void write_numbers(hdf5::Group& group, const std::string& name, const std::vector<double>& values,
                   const char* text) {
  group.write<double>(name, values, {values.size()}, numbers(text));
}

std::string member(const char* what, std::size_t i) { return fmt::format("{}_{}", what, i); }

}  // namespace

void describe(Schema& schema, OriginOptions& options) {
  schema.text("train_from", options.train_from, "First day of all trainings; empty: the record's first")
      .example("1981-10-29");
  schema
      .text("from", options.from,
            "The first origin; empty: the first of January after ten years of training and after the times "
            "behind the modes")
      .example("1992-01-01");
  schema.text("until", options.until, "Last day that is forecast; empty: the record's last")
      .example("2014-12-31");
  schema.integer("every", options.every, "Years from an origin to the next").at_least(1).at_most(100);
  schema
      .integer("warm_up", options.warm_up,
               "Leading origins that are not judged: what they show gives the first ones after them spreads, "
               "weights of the mixture and whether networks stay")
      .at_least(0)
      .at_most(1000);
}

std::vector<Origin> make_origins(const CoefficientSeries& series, const OriginOptions& options,
                                 const WindowShape& shape, Irregular irregular, double known_until) {
  const int begin = first_row(series, options);
  const double first = first_origin(series, options, begin, known_until);
  const double until = options.until.empty() ? series.time.back()
                                             : ocean::parse_date(options.until, "origins.until") + 1 - 1e-6;
  QUINTET_CHECK(until > first, "origins.until: {} is not after the first origin, {}", options.until,
                ocean::date_text(first));
  const int end = rows_between(series, series.time[begin], until).end;
  std::vector<Origin> origins;
  const auto row_at = [&](double day) {
    return static_cast<int>(std::lower_bound(series.time.begin(), series.time.end(), day) -
                            series.time.begin());
  };
  for (int k = 0; years_later(first, k * options.every) <= until; ++k) {
    Origin origin;
    origin.date = years_later(first, k * options.every);
    const int here = row_at(origin.date), next = row_at(years_later(first, (k + 1) * options.every));
    origin.training = {begin, here};
    origin.windows.shape = shape;
    const auto all = windows_of(series, shape, {std::max(begin, here - shape.in), end}, irregular);
    for (int i = 0; i < all.size(); ++i)
      if (all.origins[i] >= here - 1 && all.origins[i] < next - 1) origin.windows.add(all, i);
    if (origin.windows.size() > 0) origins.push_back(std::move(origin));
  }
  QUINTET_CHECK(std::ssize(origins) > options.warm_up,
                "origins: {} of them have windows, from {} on, and origins.warm_up leaves the first {} "
                "unjudged; expected more; begin earlier (origins.from), or lower origins.warm_up",
                origins.size(), ocean::date_text(first), options.warm_up);
  return origins;
}

Origin origin_after(const CoefficientSeries& series, const OriginOptions& options, const WindowShape& shape,
                    Irregular irregular) {
  Origin origin;
  const int n = series.n_times();
  origin.date = time_step_of(series.time).advance(series.time.back(), 1);
  origin.training = {first_row(series, options), n};
  origin.windows = window_at(series, shape, n - 1, irregular);
  origin.judged = false;
  return origin;
}

Climatology verifying_climatology(const CoefficientSeries& series, int first, ClimatologyOptions options) {
  constexpr double any = 1e4;  // years: it holds for all times of the record, to which it is fitted
  options.valid_years = any;
  return {series, {first, series.n_times()}, options};
}

CoefficientSeries leading_rows(const CoefficientSeries& series, int n) {
  CoefficientSeries part;
  part.n_modes = series.n_modes;
  part.time.assign(series.time.begin(), series.time.begin() + n);
  part.values.assign(series.values.begin(), series.values.begin() + std::int64_t{n} * series.n_modes);
  return part;
}

namespace {

/// Windows of the training of an origin.
Windows windows_before(const Method& method, const CoefficientSeries& known, const Origin& origin,
                       Irregular irregular) {
  auto windows = windows_of(known, origin.windows.shape, origin.training, irregular);
  QUINTET_CHECK(windows.size() > 0, "{}: no window lies before the origin; begin later (origins.from)",
                method.name);
  return windows;
}

}  // namespace

Predictive forecast_from(const Method& method, const CoefficientSeries& series, const Origin& origin,
                         Irregular irregular) {
  const auto& windows = origin.windows;
  const auto size = static_cast<std::size_t>(windows.size()) * windows.shape.out * series.n_modes;
  Predictive result;
  try {
    const auto known = leading_rows(series, origin.training.end);
    const auto trained_on = windows_before(method, known, origin, irregular);
    const auto forecaster = method.fit({known, origin.training, trained_on, irregular});
    for (int i = 0; i < windows.size(); ++i) {
      Windows window;
      window.shape = windows.shape;
      window.add(windows, i);
      const auto one = forecaster(leading_rows(series, windows.origins[i] + 1), window);
      result.mean.insert(result.mean.end(), one.mean.begin(), one.mean.end());
      result.covariance.insert(result.covariance.end(), one.covariance.begin(), one.covariance.end());
    }
    return result;
  } catch (const InputError& error) {
    log::warning("{} after {}: {}; its row has '-'", method.name, ocean::date_text(origin.date),
                 error.what());
  } catch (const NumericalError& error) {
    log::warning("{} after {}: {}; its row has '-'", method.name, ocean::date_text(origin.date),
                 error.what());
  }
  result.mean.assign(size, not_known);
  result.covariance.assign(size * series.n_modes, not_known);
  return result;
}

HindcastRun::HindcastRun(const Comm& comm, std::vector<Origin> origins, std::vector<Method> methods,
                         Irregular irregular, ClimatologyOptions verification,
                         std::function<OriginSeries(const Origin&)> series_of)
    : comm_(comm),
      origins_(std::move(origins)),
      methods_(std::move(methods)),
      irregular_(irregular),
      verification_(verification),
      series_of_(std::move(series_of)) {}

/// What came, and the verifying climatology: of the whole record, since it forecasts nothing.
void HindcastRun::verify(OriginForecasts& result, const CoefficientSeries& series) const {
  const auto& windows = result.origin.windows;
  const auto normal = verifying_climatology(series, result.origin.training.begin, verification_);
  std::vector<double> values(series.n_modes);
  for (const double day : windows.dates) {
    normal.evaluate(day, values.data());
    result.normal.insert(result.normal.end(), values.begin(), values.end());
  }
  if (result.origin.judged)
    result.truth = targets(series, windows);
  else
    result.truth.assign(result.normal.size(), not_known);
}

// Every error of learning comes to all ranks alike, so that none waits for the others; it is told where the
// method is fitted.
Method HindcastRun::with_learned(std::size_t k, const OriginSeries& own) {
  auto method = methods_[k];
  if (!method.learn) return method;
  const auto here = done_.size(), from = here - here % static_cast<std::size_t>(method.every);
  auto& learned = learned_[k];
  if (!learned.fit || learned.origin != from) {
    learned.origin = from;
    try {
      const auto& origin = origins_[from];
      const auto known = leading_rows(own.series, origin.training.end);
      const auto windows = windows_before(method, known, origin, irregular_);
      learned.fit = method.learn(comm_, {known, origin.training, windows, irregular_}, own.sea);
    } catch (const InputError& error) {
      learned.fit = [text = std::string(error.what())](const FitData&) -> Forecaster {
        throw InputError(text);
      };
    } catch (const NumericalError& error) {
      learned.fit = [text = std::string(error.what())](const FitData&) -> Forecaster {
        throw NumericalError(text);
      };
    }
  }
  method.fit = learned.fit;
  return method;
}

void HindcastRun::advance() {
  OriginForecasts result;
  result.origin = origins_[done_.size()];
  const auto own = series_of_(result.origin);
  const auto& series = own.series;
  result.modes = series.n_modes;
  result.grams = own.grams;
  result.indices = own.indices;
  verify(result, series);
  const int n_methods = methods_.size();
  result.methods.resize(methods_.size());
  std::vector<Method> methods;
  for (std::size_t k = 0; k < methods_.size(); ++k) methods.push_back(with_learned(k, own));
  together(comm_, [&] {
    for (int k = comm_.rank(); k < n_methods; k += comm_.size())
      result.methods[k] = forecast_from(methods[k], series, result.origin, irregular_);
  });
  for (int k = 0; k < n_methods; ++k) {
    auto& method = result.methods[k];
    method.mean.resize(result.truth.size());
    method.covariance.resize(result.truth.size() * series.n_modes);
    comm_.broadcast(std::span<double>(method.mean), k % comm_.size());
    comm_.broadcast(std::span<double>(method.covariance), k % comm_.size());
  }
  done_.push_back(std::move(result));
}

void HindcastRun::save(hdf5::Group& root) const {
  auto all = root.group("hindcast");
  std::vector<std::string> names;
  for (const auto& method : methods_) names.push_back(method.name);
  all.set_attribute("methods", names);
  all.set_attribute("origins", std::ssize(done_));
  for (std::size_t i = 0; i < done_.size(); ++i) {
    const auto& one = done_[i];
    auto group = all.group(member("origin", i));
    group.set_attribute("date", one.origin.date);
    group.set_attribute("modes", one.modes);
    group.set_attribute("measures", std::ssize(one.grams));
    write_numbers(group, "truth", one.truth, "What came, [window, lead, mode]");
    write_numbers(group, "normal", one.normal, "Verifying climatology, [window, lead, mode]");
    for (std::size_t k = 0; k < one.methods.size(); ++k) {
      write_numbers(group, member("mean", k), one.methods[k].mean, "Forecast, [window, lead, mode]");
      write_numbers(group, member("covariance", k), one.methods[k].covariance,
                    "Of its errors, [window, lead, mode, mode]");
    }
    for (std::size_t j = 0; j < one.grams.size(); ++j) {
      write_numbers(group, member("gram", j), one.grams[j], "Products of errors in a measure, [mode, mode]");
      if (!one.indices[j].empty())
        write_numbers(group, member("index", j), one.indices[j], "Weights of an index, [mode]");
    }
  }
}

void HindcastRun::restore(const hdf5::Group& root) {
  const auto all = root.open_group("hindcast");
  const auto names = all.texts_attribute("methods");
  bool same = names.size() == methods_.size();
  for (std::size_t k = 0; same && k < names.size(); ++k) same = names[k] == methods_[k].name;
  QUINTET_CHECK(same, "the checkpoint is of the methods {}; continue with these, or begin anew",
                fmt::join(names, ", "));
  const std::size_t n = all.integer_attribute("origins");
  QUINTET_CHECK(n <= origins_.size(), "the checkpoint has {} origins, of {} that are asked for; begin anew",
                n, origins_.size());
  done_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const auto group = all.open_group(member("origin", i));
    OriginForecasts one;
    one.origin = origins_[i];
    one.modes = group.integer_attribute("modes");
    QUINTET_CHECK(group.number_attribute("date") == std::vector<double>{one.origin.date},
                  "origin {} of the checkpoint is another date than {}; begin anew", i + 1,
                  ocean::date_text(one.origin.date));
    const auto size = one.origin.windows.dates.size() * one.modes;
    one.truth = group.read<double>("truth", {size});
    one.normal = group.read<double>("normal", {size});
    for (std::size_t k = 0; k < methods_.size(); ++k)
      one.methods.push_back({group.read<double>(member("mean", k), {size}),
                             group.read<double>(member("covariance", k), {size * one.modes})});
    const std::size_t measures = group.integer_attribute("measures");
    for (std::size_t j = 0; j < measures; ++j) {
      one.grams.push_back(group.read<double>(member("gram", j)));
      one.indices.emplace_back();
      if (group.has(member("index", j))) one.indices.back() = group.read<double>(member("index", j));
    }
    done_.push_back(std::move(one));
  }
}

}  // namespace quintet::sequence
