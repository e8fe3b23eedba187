#include "surrogates/sequence/windows/split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "surrogates/sequence/windows/time_step.hpp"

namespace quintet::sequence {

namespace {

const std::vector<std::pair<std::string, SplitKind>> kinds = {{"chronological", SplitKind::chronological},
                                                              {"random", SplitKind::random}};

/// The end of the day that a key names, or `otherwise`.
double end_of(const std::string& text, const char* key, double otherwise) {
  return text.empty() ? otherwise : ocean::parse_date(text, fmt::format("split.{}", key)) + 1 - 1e-6;
}

void check_windows(const CoefficientSeries& series, const Windows& windows, Rows rows, const char* what) {
  if (rows.size() == 0) throw InputError(fmt::format("split: the record has no time in the {} period", what));
  QUINTET_CHECK(windows.size() > 0,
                "split: the {} period, {} times from {} to {}, holds no unbroken window of {} + {} steps",
                what, rows.size(), ocean::date_text(series.time[rows.begin]),
                ocean::date_text(series.time[rows.end - 1]), windows.shape.in, windows.shape.out);
}

/// Numbers 0 ... n - 1 in random order, the same on every machine.
std::vector<int> permutation(int n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) std::swap(order[i], order[random() % (static_cast<std::uint64_t>(i) + 1)]);
  return order;
}

void split_at_random(Split& split, const Windows& all, const SplitOptions& options) {
  const auto order = permutation(all.size(), options.seed);
  const int n_validation =
      std::clamp<int>(std::lround(options.validation_share * all.size()), 1, all.size() - 1);
  std::vector<bool> validates(all.size(), false);
  for (int i = 0; i < n_validation; ++i) validates[order[i]] = true;
  split.train.shape = split.validation.shape = all.shape;
  for (int i = 0; i < all.size(); ++i) (validates[i] ? split.validation : split.train).add(all, i);
  split.leaks.emplace_back(
      "validation windows are drawn at random among training windows, overlap them and share their "
      "constants: "
      "validation scores say nothing of other years");
}

}  // namespace

void describe(Schema& schema, SplitOptions& options) {
  schema.choice("kind", options.kind, kinds,
                "chronological: training, validation and test periods follow each other and no window lies "
                "in two of them; random: "
                "training and validation windows are drawn from one period and overlap (as in the SC20 "
                "paper), which every table says");
  schema.text("train_from", options.train_from, "First day of training; empty: the record's first");
  schema
      .text(
          "train_until", options.train_until,
          "Last day of training; empty: three quarters of the record. All constants come from training alone")
      .example("2007-12-31");
  schema
      .text("validation_until", options.validation_until,
            "Last day of the validation period that follows; empty: half of what remains. Unused by kind "
            "random")
      .example("2011-12-31");
  schema.text("test_until", options.test_until,
              "Last day of the test period that follows; empty: the record's last");
  schema
      .number("validation_share", options.validation_share,
              "Share of the windows that validate, of kind random")
      .above(0)
      .below(1);
  schema.integer("seed", options.seed, "Seed of kind random").at_least(0);
  schema.choice("irregular_steps", options.irregular, choices_of(irregular_rows()),
                "A step of time unlike the others (a gap; the 3 days between the two parts of NOAA's weekly "
                "record): avoid breaks the "
                "series there, cross takes rows as steps whatever their dates");
}

Split make_split(const CoefficientSeries& series, const WindowShape& shape, const SplitOptions& options) {
  const auto& time = series.time;
  QUINTET_CHECK(series.n_times() >= shape.in + shape.out,
                "windows of {} + {} steps are longer than the series of {}", shape.in, shape.out,
                series.n_times());
  const double first =
      options.train_from.empty() ? time.front() : ocean::parse_date(options.train_from, "split.train_from");
  const auto begin = std::lower_bound(time.begin(), time.end(), first) - time.begin();
  const auto at = [&](double share) {
    return time[begin + static_cast<std::ptrdiff_t>(share * (time.end() - time.begin() - begin - 1))];
  };
  QUINTET_CHECK(begin + 1 < std::ssize(time), "split.train_from: {} is after the record's end, {}",
                options.train_from, ocean::date_text(time.back()));
  const bool random = options.kind == SplitKind::random;
  const double trained = end_of(options.train_until, "train_until", at(0.75));
  const double validated =
      random ? trained : end_of(options.validation_until, "validation_until", at(0.75 + 0.125));
  // Validation to the record's end leaves no test, which is nobody's mistake.
  const double tested = end_of(options.test_until, "test_until", std::max(time.back(), validated));
  if (validated > time_step_of(time).advance(time.back(), 1))
    log::warning("split.{}: {} is after the record's end, {}; no times are left for a test",
                 random ? "train_until" : "validation_until", ocean::date_text(std::floor(validated)),
                 ocean::date_text(time.back()));
  QUINTET_CHECK(first < trained,
                "split.train_until: {} is not after the start of training, {}; give a later date",
                ocean::date_text(std::floor(trained)), ocean::date_text(first));
  QUINTET_CHECK(random || trained < validated,
                "split.validation_until: {} lies inside training, which ends on {}; give a later date, or an "
                "earlier split.train_until",
                ocean::date_text(std::floor(validated)), ocean::date_text(std::floor(trained)));
  QUINTET_CHECK(validated <= tested,
                "split.test_until: {} lies inside {}, which ends on {}; give a later date",
                ocean::date_text(std::floor(tested)), random ? "training" : "validation",
                ocean::date_text(std::floor(validated)));
  const auto after = [](double day) { return std::nextafter(day, std::numeric_limits<double>::infinity()); };

  Split split;
  split.constants = rows_between(series, first, trained);
  split.test_rows = rows_between(series, after(validated), tested);
  const auto all = windows_of(series, shape, split.constants, options.irregular);
  check_windows(series, all, split.constants, "training");
  if (random) {
    QUINTET_CHECK(all.size() >= 2, "split: one window cannot both train and validate");
    split.validation_rows = split.constants;
    split_at_random(split, all, options);
  } else {
    split.train = all;
    split.validation_rows = rows_between(series, after(trained), validated);
    split.validation = windows_of(series, shape, split.validation_rows, options.irregular);
    check_windows(series, split.validation, split.validation_rows, "validation");
  }
  split.test = windows_of(series, shape, split.test_rows, options.irregular);
  if (split.test_rows.size() > 0) check_windows(series, split.test, split.test_rows, "test");
  return split;
}

}  // namespace quintet::sequence
