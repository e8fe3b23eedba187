#pragma once

#include <cstdint>
#include <string>

/// Dates as days since 1800-01-01 00:00 of the Gregorian calendar, and the calendars of CF in which files
/// count them.
namespace quintet::ocean {

/// A day of the Gregorian calendar, as it is counted before its invention, too.
struct Date {
  int year = 1800, month = 1, day = 1;
};

/// Days from 1800-01-01 to a date. Source: H. Hinnant, "chrono-compatible low-level date algorithms".
[[nodiscard]] double day_of(const Date& date);
[[nodiscard]] Date date_of(double day);
/// "1981-10-29", with hours and minutes where it is not midnight.
[[nodiscard]] std::string date_text(double day);
/// Read "1981-10-29". Throws InputError, `what` in front.
[[nodiscard]] double parse_date(const std::string& text, const std::string& what);

/// How a file counts time: CF conventions 1.8, section 4.4.
class TimeUnits {
 public:
  /// @param units "days since 1800-1-1 00:00:00"; also hours, minutes, seconds, weeks
  /// @param calendar the attribute, "" if it is absent, which means standard: Julian dates before
  ///   1582-10-15, Gregorian ones from then on. Also gregorian, proleptic_gregorian, julian, and those whose
  ///   years are all alike: noleap (365_day), all_leap (366_day), 360_day.
  /// Throws InputError, `what` in front: another calendar, units that are not of time, months and years
  /// (which have no fixed length), a zone other than UTC, the year 0 of a climatology.
  TimeUnits(const std::string& units, const std::string& calendar, const std::string& what);

  /// Days since 1800-01-01 of a value of the file. Throws InputError where it is not finite or outside the
  /// years 1 to 9999.
  ///
  /// A calendar whose years have all n days is spread evenly over the Gregorian year, which has N: day d of
  /// its year comes d N/n days after New Year. Equal steps stay equal to 0.3 %, and its seasons are ours.
  [[nodiscard]] double day(double value) const;
  /// Note on dates that our calendar does not have; "" for real calendars.
  [[nodiscard]] std::string note() const;
  [[nodiscard]] const std::string& calendar() const { return calendar_; }  ///< "standard" for its synonyms

 private:
  enum class Kind { standard, proleptic, julian, even };
  std::string calendar_, what_;
  Kind kind_ = Kind::standard;
  int days_a_year_ = 0;   ///< of an even calendar
  double unit_ = 1;       ///< days
  double reference_ = 0;  ///< in days of the calendar's own count
};

}  // namespace quintet::ocean
