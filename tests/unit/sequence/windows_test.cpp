#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "io/log/error.hpp"
#include "surrogates/sequence/windows/span.hpp"
#include "surrogates/sequence/windows/split.hpp"
#include "tests/unit/sequence/series_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

namespace {

CoefficientSeries weekly(int n, double first = ocean::day_of({1981, 10, 29})) {
  return series_of(n, 1, first, 7, [](double day, int) { return day; });
}

/// As NOAA's weekly record: a step of 3 days after row 426.
CoefficientSeries with_short_step(int n) {
  auto series = weekly(n);
  for (int t = 427; t < n; ++t) series.time[t] -= 4;
  return series;
}

CoefficientSeries monthly(int n) {
  CoefficientSeries series;
  series.n_modes = 1;
  for (int t = 0; t < n; ++t) {
    series.time.push_back(ocean::day_of({2000 + t / 12, t % 12 + 1, 1}));
    series.values.push_back(t);
  }
  return series;
}

std::string message_of(const CoefficientSeries& series, const SplitOptions& options, WindowShape shape = {}) {
  try {
    static_cast<void>(make_split(series, shape, options));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(time_step, weeks_and_days_are_days) {
  EXPECT_EQ(time_step_of(weekly(20).time), (TimeStep{7, 0}));
  EXPECT_EQ(time_step_of(with_short_step(500).time), (TimeStep{7, 0}));
  EXPECT_EQ(time_step_of({0, 0.25, 0.5, 0.75}), (TimeStep{0.25, 0}));
  EXPECT_EQ((TimeStep{7, 0}).advance(100, 8), 156);
}

TEST(time_step, months_are_calendar_months_and_keep_their_day) {
  const auto step = time_step_of(monthly(30).time);
  EXPECT_EQ(step, (TimeStep{0, 1}));
  EXPECT_EQ(step.advance(ocean::day_of({2001, 11, 1}), 3), ocean::day_of({2002, 2, 1}));
  EXPECT_EQ(step.advance(ocean::day_of({2004, 1, 31}), 1), ocean::day_of({2004, 2, 29}));
  EXPECT_TRUE(step.joins(ocean::day_of({2003, 2, 15}), ocean::day_of({2003, 3, 16})));
  EXPECT_FALSE(step.joins(ocean::day_of({2003, 2, 1}), ocean::day_of({2003, 4, 1})));
}

TEST(time_step, five_weeks_are_not_a_month) {
  std::vector<double> time;
  for (int t = 0; t < 40; ++t) time.push_back(1000 + 30.0 * t);
  EXPECT_EQ(time_step_of(time), (TimeStep{30, 0}));
  for (int t = 0; t < 40; ++t) time[t] = 1000 + 35.0 * t;
  EXPECT_EQ(time_step_of(time), (TimeStep{35, 0}));
}

TEST(time_step, one_time_has_none) { EXPECT_THROW(static_cast<void>(time_step_of({5})), InputError); }

TEST(windows, a_period_of_n_rows_holds_n_minus_in_minus_out_plus_one) {
  const auto series = weekly(50);
  const auto windows = windows_of(series, {8, 5}, {10, 40}, Irregular::avoid);
  EXPECT_EQ(windows.size(), 30 - 8 - 5 + 1);
  EXPECT_EQ(windows.origins.front(), 17);
  EXPECT_EQ(windows.origins.back() + 5, 39);
  for (int lead = 0; lead < 5; ++lead) EXPECT_EQ(windows.dates_of(0)[lead], series.time[18 + lead]);
  EXPECT_EQ(targets(series, windows)[0], series.time[18]);
  EXPECT_EQ(windows_of(series, {8, 8}, {0, 15}, Irregular::avoid).size(), 0);
}

TEST(windows, none_crosses_the_three_day_step_unless_asked_to) {
  const auto series = with_short_step(600);
  const Rows all{0, 600};
  const auto avoided = windows_of(series, {8, 8}, all, Irregular::avoid);
  EXPECT_EQ(avoided.size(), 600 - 15 - 15);
  for (int i = 0; i < avoided.size(); ++i) {
    const int first = avoided.origins[i] - 7, last = avoided.origins[i] + 8;
    EXPECT_EQ(series.time[last] - series.time[first], 7 * 15);
    EXPECT_EQ(avoided.memory[i], first < 427 ? 0 : 427);
  }
  const auto crossed = windows_of(series, {8, 8}, all, Irregular::cross);
  EXPECT_EQ(crossed.size(), 600 - 15);
  EXPECT_EQ(crossed.dates_of(426 - 7)[0], series.time[427]);
}

TEST(windows, a_forecast_beyond_the_end_has_dates_by_the_step) {
  const auto series = monthly(30);
  const auto window = window_at(series, {6, 3}, 29, Irregular::avoid);
  EXPECT_EQ(window.dates, (std::vector<double>{ocean::day_of({2002, 7, 1}), ocean::day_of({2002, 8, 1}),
                                               ocean::day_of({2002, 9, 1})}));
  EXPECT_THROW(static_cast<void>(window_at(series, {6, 3}, 4, Irregular::avoid)), InputError);
  EXPECT_THROW(static_cast<void>(window_at(with_short_step(600), {8, 3}, 430, Irregular::avoid)), InputError);
}

TEST(split, the_weekly_record_gives_the_periods_of_1352_193_and_142_windows) {
  SplitOptions options;
  options.train_until = "2007-12-31", options.validation_until = "2011-12-31",
  options.irregular = Irregular::cross;
  const auto series = with_short_step(1732);
  ASSERT_EQ(ocean::date_text(series.time[427]), "1989-12-31");
  const auto split = make_split(series, {8, 8}, options);
  EXPECT_EQ(split.constants.end, 1367);
  EXPECT_EQ(split.train.size(), 1352);
  EXPECT_EQ(split.validation.size(), 193);
  EXPECT_EQ(split.test.size(), 142);
  EXPECT_EQ(split.validation.origins.front() - 7, 1367);
  EXPECT_EQ(split.test.origins.front() - 7, 1575);
  EXPECT_TRUE(split.leaks.empty());
  options.irregular = Irregular::avoid;
  EXPECT_EQ(make_split(series, {8, 8}, options).train.size(), 1352 - 15);
}

TEST(split, periods_share_no_row) {
  const auto series = weekly(400);
  const auto split = make_split(series, {8, 4}, {});
  const auto rows = [](const Windows& windows) {
    std::set<int> all;
    for (const int origin : windows.origins)
      for (int row = origin - 7; row <= origin + 4; ++row) all.insert(row);
    return all;
  };
  const auto train = rows(split.train), validation = rows(split.validation), test = rows(split.test);
  EXPECT_LT(*train.rbegin(), *validation.begin());
  EXPECT_LT(*validation.rbegin(), *test.begin());
  EXPECT_EQ(*train.rbegin() + 1, split.constants.end);
  EXPECT_GT(split.test.size(), 20);
}

TEST(split, a_random_one_draws_disjoint_windows_repeats_and_is_named_as_leaking) {
  SplitOptions options;
  options.kind = SplitKind::random, options.train_until = "1989-12-30";
  const auto series = with_short_step(600);
  const auto split = make_split(series, {8, 8}, options);
  EXPECT_EQ(split.train.size() + split.validation.size(), 412);
  EXPECT_EQ(split.validation.size(), 82);
  std::set<int> origins(split.train.origins.begin(), split.train.origins.end());
  for (const int origin : split.validation.origins) EXPECT_TRUE(origins.insert(origin).second);
  EXPECT_EQ(split.test.origins.front() - 7, 427);
  ASSERT_EQ(split.leaks.size(), 1U);
  EXPECT_NE(split.leaks[0].find("overlap"), std::string::npos);
  EXPECT_EQ(make_split(series, {8, 8}, options).validation.origins, split.validation.origins);
  options.seed = 2;
  EXPECT_NE(make_split(series, {8, 8}, options).validation.origins, split.validation.origins);
}

TEST(split, refuses_periods_inside_each_other_and_windows_longer_than_periods) {
  const auto series = weekly(400);
  SplitOptions options;
  options.train_until = "1985-01-01", options.validation_until = "1984-06-01";
  EXPECT_NE(message_of(series, options).find("split.validation_until: 1984-06-01 lies inside training"),
            std::string::npos);
  options.validation_until = "1986-06-01", options.test_until = "1986-01-01";
  EXPECT_NE(message_of(series, options).find("split.test_until: 1986-01-01 lies inside validation"),
            std::string::npos);
  options.test_until = "", options.validation_until = "1985-02-10";
  EXPECT_NE(message_of(series, options).find("the validation period"), std::string::npos);
  options.validation_until = "1986-06-01", options.train_from = "1999-01-01";
  EXPECT_NE(message_of(series, options).find("after the record's end"), std::string::npos);
  EXPECT_NE(message_of(series, {}, {300, 200}).find("longer than the series of 400"), std::string::npos);
  SplitOptions wrong;
  wrong.train_until = "1985-02-30";
  EXPECT_NE(message_of(series, wrong).find("split.train_until"), std::string::npos);
}

TEST(span, durations_follow_the_step_of_the_record) {
  const TimeStep day{1, 0}, week{7, 0}, month{0, 1}, quarter{0, 3};
  const auto steps = [](const char* text, const TimeStep& step) { return Span(text).in_steps(step); };
  EXPECT_EQ(steps("91 day", week), 13);
  EXPECT_EQ(steps("364 day", week), 52);
  EXPECT_EQ(steps("91 day", day), 91);
  EXPECT_EQ(steps("91 day", month), 3);
  EXPECT_EQ(steps("364 day", month), 12);
  EXPECT_EQ(steps("13 weeks", week), 13);
  EXPECT_EQ(steps("3 months", month), 3);
  EXPECT_EQ(steps("1 year", quarter), 4);
  EXPECT_EQ(steps("12h", day), 1);  // one step at least
  EXPECT_EQ(steps("8", week), 8);
  EXPECT_EQ(steps("8", month), 8);
  EXPECT_EQ(Span(5).in_steps(day), 5);
}

TEST(span, what_is_none_is_refused) {
  for (const char* bad : {"", "day", "8 stepps", "0", "-3", "2.5", "0 day", "-1 week", "1e9", "1e9 day",
                          "nan", "inf day", "8 weeks 2", "1 day2"})
    EXPECT_TRUE(Span(bad).error("block").has_value()) << bad;
  for (const char* good : {"1", "1000000", "0.5 day", "1000000 day", "2.5 weeks"})
    EXPECT_FALSE(Span(good).error("block").has_value()) << good;
  EXPECT_EQ(*Span("1000001").error("block"),
            "block: 1000001 is out of range; expected at least 1 and at most 1000000 steps");
}
