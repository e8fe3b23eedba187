#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::ocean {
namespace {

std::string refusal(const std::string& units, const std::string& calendar = "", double value = 0) {
  try {
    static_cast<void>(TimeUnits(units, calendar, "x").day(value));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string date(const std::string& units, double value, const std::string& calendar = "") {
  return date_text(TimeUnits(units, calendar, "x").day(value));
}

TEST(Calendar, days_and_dates_are_inverse_to_each_other) {
  EXPECT_EQ(day_of({1800, 1, 1}), 0);
  EXPECT_EQ(day_of({1981, 10, 29}), 66410);  // as the header of NOAA's mask file says
  for (double day = -100000; day < 200000; day += 1) ASSERT_EQ(day_of(date_of(day)), day);
  EXPECT_EQ(date_text(day_of({1996, 2, 29})), "1996-02-29");
  EXPECT_EQ(date_text(66410.25), "1981-10-29 06:00");
  EXPECT_EQ(parse_date("1981-10-29", "x"), 66410);
  for (const char* bad : {"1981-10", "29.10.1981", "1981-13-01", "1981-02-29", "1981-10-29 06:00", ""})
    EXPECT_THROW(static_cast<void>(parse_date(bad, "x")), InputError) << bad;
}

TEST(Calendar, what_is_no_date_is_told_with_the_way_out) {
  const auto problem = [](const char* text) -> std::string {
    try {
      static_cast<void>(parse_date(text, "x"));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem("1989-13-30"), "x: '1989-13-30' is no date: there is no month 13");
  EXPECT_EQ(problem("1989-12-31"), "");
  EXPECT_EQ(problem("1981-02-29"), "x: '1981-02-29' is no date: 1981-02 has days 1 to 28");
  EXPECT_EQ(problem("1980-02-29"), "");
  EXPECT_EQ(problem("0000-01-01"), "x: '0000-01-01' is no date: years begin with 1");
  EXPECT_EQ(problem("0001-01-01"), "");
  EXPECT_EQ(problem("29.10.1981"), "x: '29.10.1981' is no date; expected year-month-day: write 1981-10-29");
  EXPECT_EQ(problem("1981/10/29"), "x: '1981/10/29' is no date; expected year-month-day: write 1981-10-29");
  EXPECT_EQ(problem("31.2.1981"), "x: '31.2.1981' is no date; expected year-month-day, as 1981-10-29");
}

TEST(Calendar, units_of_noaa_are_understood) {
  EXPECT_EQ(date("days since 1800-1-1 00:00:00", 66410), "1981-10-29");
  EXPECT_EQ(date("days since 1800-1-1 00:00:0.0", 66410), "1981-10-29");
  EXPECT_EQ(date("days since 1-1-1 00:00:0.0", 726468), "1989-12-31");  // old copies, mixed calendar
  EXPECT_EQ(date("days since 1-1-1", 726468, "standard"), "1989-12-31");
  EXPECT_EQ(date("days since 1-1-1", 726466, "proleptic_gregorian"), "1989-12-31");
  EXPECT_EQ(date("hours since 1900-01-01T12:00:00Z", 12), "1900-01-02");
  EXPECT_EQ(date("seconds since 1970-01-01 00:00:00 UTC", 951782400), "2000-02-29");
  EXPECT_EQ(date("minutes since 1970-01-01 00:00 +00:00", 90), "1970-01-01 01:30");
}

TEST(Calendar, julian_and_gregorian_dates_meet_in_1582) {
  EXPECT_EQ(TimeUnits("days since 1582-10-4", "", "x").day(1),
            TimeUnits("days since 1582-10-15", "", "x").day(0));
  EXPECT_NE(refusal("days since 1582-10-10"), "");
  EXPECT_EQ(refusal("days since 1582-10-10", "proleptic_gregorian"), "");
  EXPECT_EQ(date("days since 1900-2-29", 0, "julian"), "1900-03-13");
  EXPECT_NE(refusal("days since 1900-2-29"), "");
}

TEST(Calendar, years_that_are_all_alike_are_spread_over_ours) {
  EXPECT_EQ(date("days since 1999-12-31", 1, "noleap"), "2000-01-01");
  EXPECT_EQ(date("days since 2001-01-01", 59, "365_day"), "2001-03-01");
  EXPECT_EQ(date("days since 2001-01-01", 364.5, "noleap"), "2001-12-31 12:00");
  EXPECT_EQ(date("days since 1800-01-01", 365.0 * 200, "noleap"), "2000-01-01");
  EXPECT_EQ(date("days since 2000-01-01", 182.5, "noleap"), "2000-07-02");  // the middle of 366 days
  EXPECT_EQ(date("days since 2000-02-30", 302, "360_day"), "2001-01-02 00:20");
  EXPECT_EQ(date("hours since 2001-01-01", 24 * 180, "360_day"), "2001-07-02 12:00");  // of 365
  EXPECT_EQ(date("days since 2000-02-29", 307, "all_leap"), "2001-01-01");
  EXPECT_EQ(date("days since 2001-02-29", 0, "366_day"), "2001-02-28 20:08");
  EXPECT_NE(refusal("days since 2000-02-29", "noleap"), "");
  EXPECT_NE(refusal("days since 2000-02-31", "360_day"), "");
  EXPECT_EQ(refusal("days since 2001-02-30", "360_day"), "");
  EXPECT_NE(refusal("days since 2000-01-31", "360_day"), "");
}

TEST(Calendar, steps_of_years_that_are_all_alike_stay_equal) {
  for (const char* calendar : {"noleap", "all_leap", "360_day"})
    for (const double step : {1.0, 7.0}) {
      const TimeUnits units("days since 1999-01-01", calendar, "x");
      for (int i = 1; i < 1500 / step; ++i)  // across three New Years, one leap year
        ASSERT_NEAR(units.day(i * step) - units.day((i - 1) * step), step, 0.02 * step)
            << calendar << " " << i;
    }
}

TEST(Calendar, what_is_not_understood_is_refused) {
  for (const char* calendar : {"none", "mayan", "364_day"})
    EXPECT_NE(refusal("days since 1800-1-1", calendar), "") << calendar;
  for (const char* units : {"months since 1800-1-1", "years since 1800-1-1", "days", "days since yesterday",
                            "days since 0000-01-01", "hour since 0000-01-01 00:00:00",
                            "days since 1800-1-1 +02:00", "days since 1800-13-1", "days since 1800-1-32",
                            "days since 1800-1-1 25:00", "degC", "days since 1800-1-1 00:00:00.5"})
    EXPECT_NE(refusal(units), "") << units;
  EXPECT_NE(refusal("days since 1800-1-1", "", NAN), "");
  EXPECT_NE(refusal("days since 1800-1-1", "", 1e30), "");
  EXPECT_NE(refusal("days since 1800-1-1", "", -1e6), "");
}

}  // namespace
}  // namespace quintet::ocean
