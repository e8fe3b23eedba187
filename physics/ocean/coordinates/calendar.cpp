#include "physics/ocean/coordinates/calendar.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <optional>
#include <regex>

#include "io/log/error.hpp"

namespace quintet::ocean {
namespace {

constexpr std::int64_t days_to_1800 = -62091;  ///< 1970-01-01 to 1800-01-01

/// Days since 1970-01-01 of a Gregorian date.
std::int64_t gregorian_day(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400, year_of_era = year - era * 400,
                     day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1,
                     day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

/// Days since 1970-01-01 (Gregorian) of a Julian date.
std::int64_t julian_day(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t cycle = (year >= 0 ? year : year - 3) / 4, year_of_cycle = year - cycle * 4,
                     day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return cycle * 1461 + year_of_cycle * 365 + day_of_year - 719470;
}

constexpr std::array days_before_month = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in_month(int year, int month) {
  const std::size_t m = month;
  return days_before_month[m] - days_before_month[m - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// A calendar whose years are all alike.
struct EvenCalendar {
  const char *name, *synonym;
  int days_a_year;
};
constexpr EvenCalendar even_calendars[] = {
    {"noleap", "365_day", 365}, {"all_leap", "366_day", 366}, {"360_day", "360_day", 360}};

/// Number of a day in its year, from 0, where all years have n days.
int day_of_even_year(int n, int month, int day) {
  if (n == 360) return 30 * (month - 1) + day - 1;
  return days_before_month[month - 1] + (n == 366 && month > 2 ? 1 : 0) + day - 1;
}

struct UnitRow {
  const char* name;
  double days;
};
constexpr UnitRow units_of_time[] = {{"day", 1},
                                     {"days", 1},
                                     {"d", 1},
                                     {"hour", 1.0 / 24},
                                     {"hours", 1.0 / 24},
                                     {"hr", 1.0 / 24},
                                     {"hrs", 1.0 / 24},
                                     {"h", 1.0 / 24},
                                     {"minute", 1.0 / 1440},
                                     {"minutes", 1.0 / 1440},
                                     {"min", 1.0 / 1440},
                                     {"mins", 1.0 / 1440},
                                     {"second", 1.0 / 86400},
                                     {"seconds", 1.0 / 86400},
                                     {"sec", 1.0 / 86400},
                                     {"secs", 1.0 / 86400},
                                     {"s", 1.0 / 86400},
                                     {"week", 7},
                                     {"weeks", 7}};

}  // namespace

double day_of(const Date& date) { return gregorian_day(date.year, date.month, date.day) - days_to_1800; }

Date date_of(double day) {
  const auto z = static_cast<std::int64_t>(std::floor(day)) + days_to_1800 + 719468;
  const std::int64_t era = (z >= 0 ? z : z - 146096) / 146097, day_of_era = z - era * 146097,
                     year_of_era =
                         (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365,
                     day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100),
                     m = (5 * day_of_year + 2) / 153;
  const int month = m < 10 ? m + 3 : m - 9;
  return {static_cast<int>(year_of_era + era * 400 + (month <= 2 ? 1 : 0)), month,
          static_cast<int>(day_of_year - (153 * m + 2) / 5 + 1)};
}

std::string date_text(double day) {
  if (!std::isfinite(day) || std::abs(day) > 4e6) return fmt::format("day {}", day);
  const double minutes = std::round((day - std::floor(day)) * 1440);
  if (minutes == 1440) return date_text(std::floor(day) + 1);
  const Date date = date_of(day);
  auto text = fmt::format("{:04d}-{:02d}-{:02d}", date.year, date.month, date.day);
  const int n = minutes;
  if (n != 0) text += fmt::format(" {:02d}:{:02d}", n / 60, n % 60);
  return text;
}

namespace {

/// A date whose parts are all there, in the order and with the separator of a format; nothing else.
std::optional<Date> read_date(const std::string& text, const char* format, bool day_first) {
  int first = 0, month = 0, last = 0, used = 0;
  if (std::sscanf(text.c_str(), format, &first, &month, &last, &used) != 3 || used != std::ssize(text))
    return std::nullopt;
  return day_first ? Date{last, month, first} : Date{first, month, last};
}

/// Why a date is none; "" if it is one.
std::string date_problem(const Date& date) {
  if (date.year < 1) return "years begin with 1";
  if (date.month < 1 || date.month > 12) return fmt::format("there is no month {}", date.month);
  const int days = days_in_month(date.year, date.month);
  if (date.day >= 1 && date.day <= days) return "";
  return fmt::format("{:04d}-{:02d} has days 1 to {}", date.year, date.month, days);
}

/// The way out for a date in other words: 29.10.1981, 1981/10/29.
std::string date_remedy(const std::string& text) {
  const auto day_first = read_date(text, "%2d.%2d.%4d%n", true);
  const auto date = day_first ? day_first : read_date(text, "%4d/%2d/%2d%n", false);
  if (!date || !date_problem(*date).empty()) return "expected year-month-day, as 1981-10-29";
  return fmt::format("expected year-month-day: write {:04d}-{:02d}-{:02d}", date->year, date->month,
                     date->day);
}

}  // namespace

double parse_date(const std::string& text, const std::string& what) {
  const auto date = read_date(text, "%4d-%2d-%2d%n", false);
  QUINTET_CHECK(date, "{}: '{}' is no date; {}", what, text, date_remedy(text));
  const auto problem = date_problem(*date);
  QUINTET_CHECK(problem.empty(), "{}: '{}' is no date: {}", what, text, problem);
  return day_of(*date);
}

TimeUnits::TimeUnits(const std::string& units, const std::string& calendar, const std::string& what)
    : what_(what) {
  const std::string name = lower(calendar);
  if (name.empty() || name == "standard" || name == "gregorian")
    kind_ = Kind::standard, calendar_ = "standard";
  else if (name == "proleptic_gregorian")
    kind_ = Kind::proleptic, calendar_ = name;
  else if (name == "julian")
    kind_ = Kind::julian, calendar_ = name;
  for (const auto& even : even_calendars)
    if (name == even.name || name == even.synonym)
      kind_ = Kind::even, calendar_ = even.name, days_a_year_ = even.days_a_year;
  QUINTET_CHECK(
      !calendar_.empty(),
      "{}: the calendar '{}' is unknown; expected standard, gregorian, proleptic_gregorian, julian, "
      "noleap (365_day), all_leap (366_day) or 360_day",
      what, calendar);

  static const std::regex form(
      R"(^\s*([a-z_]+)\s+since\s+(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[t\s]\s*(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2})(?:\.0*)?)?)?\s*(?:utc|gmt|z|[+-]?0{1,2}(?::?0{1,2})?)?\s*$)");
  std::smatch part;
  const std::string text = lower(units);
  QUINTET_CHECK(text.size() < 200 && std::regex_match(text, part, form),
                "{}: units '{}' say no time that is understood; expected for example 'days since 1800-1-1 "
                "00:00:00', in UTC",
                what, units.substr(0, 200));
  bool known = false;
  for (const auto& row : units_of_time)
    if (part[1] == row.name) unit_ = row.days, known = true;
  QUINTET_CHECK(known,
                "{}: units '{}': a {} has no fixed length or is unknown; expected weeks, days, hours, "
                "minutes or seconds "
                "since a date",
                what, units, part[1].str());
  const int year = std::stoi(part[2]), month = std::stoi(part[3]), day = std::stoi(part[4]);
  QUINTET_CHECK(year > 0, "{}: units '{}': the year 0 marks a climatology, whose times are no dates", what,
                units);
  const bool leap = kind_ == Kind::even ? days_a_year_ == 366
                    : kind_ == Kind::proleptic || (kind_ == Kind::standard && year > 1582) ? is_leap(year)
                                                                                           : year % 4 == 0;
  const int longest = month < 1 || month > 12 ? 0
                      : days_a_year_ == 360   ? 30
                                              : days_in_month(1801, month) + (month == 2 && leap ? 1 : 0);
  const bool lost = kind_ == Kind::standard && year == 1582 && month == 10 && day > 4 && day < 15;
  const int hour = part[5].matched ? std::stoi(part[5]) : 0,
            minute = part[6].matched ? std::stoi(part[6]) : 0,
            second = part[7].matched ? std::stoi(part[7]) : 0;
  QUINTET_CHECK(day >= 1 && day <= longest && !lost && hour < 24 && minute < 60 && second < 60,
                "{}: units '{}' name no date of the calendar {}", what, units, calendar_);
  const bool before_reform =
      kind_ == Kind::julian || (kind_ == Kind::standard &&
                                (year < 1582 || (year == 1582 && (month < 10 || (month == 10 && day < 15)))));
  if (kind_ == Kind::even)
    reference_ = static_cast<double>(days_a_year_) * year + day_of_even_year(days_a_year_, month, day);
  else
    reference_ =
        (before_reform ? julian_day(year, month, day) : gregorian_day(year, month, day)) - days_to_1800;
  reference_ += (hour + (minute + second / 60.0) / 60) / 24;
}

double TimeUnits::day(double value) const {
  double day = reference_ + value * unit_;
  // Seconds and hours are exact to a microsecond of a day; a midnight is to be one.
  if (std::abs(day - std::round(day)) < 1e-7) day = std::round(day);
  static const double earliest = day_of({1, 1, 1}), latest = day_of({9999, 12, 31});
  const bool plausible = std::isfinite(day) && std::abs(day) < 4e6;
  if (plausible && kind_ == Kind::even) {
    const double year = std::floor(day / days_a_year_), of_year = day - year * days_a_year_;
    const int whole_year = year;
    const double new_year = day_of({whole_year, 1, 1}), length = is_leap(whole_year) ? 366 : 365;
    day = new_year + of_year * (length / days_a_year_);
  }
  QUINTET_CHECK(plausible && day >= earliest && day <= latest,
                "{}: time {} is no date between the years 1 and 9999", what_, value);
  return day;
}

std::string TimeUnits::note() const {
  if (kind_ != Kind::even) return "";
  return fmt::format("calendar {}: its {} days of a year are spread evenly over those of ours", calendar_,
                     days_a_year_);
}

}  // namespace quintet::ocean
