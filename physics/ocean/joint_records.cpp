#include "physics/ocean/joint_records.hpp"

#include <cmath>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/modes_file.hpp"
#include "physics/ocean/sources/joined_source.hpp"

namespace quintet::ocean {
namespace {

constexpr double same_day = 0.01;                              // days
constexpr double shortest_month = 27.5, longest_month = 31.5;  // days

/// Whether times are of months: then files date them by the first day, the middle or the last.
bool is_monthly(const std::vector<double>& days) {
  const double step = usual_step(days);
  return step >= shortest_month && step <= longest_month;
}

/// The first day of a day's month.
double month_of(double day) {
  const auto date = date_of(day);
  return day_of({date.year, date.month, 1});
}

/// Dates of `days` that `others` lack; both ascend.
std::vector<std::string> dates_without(const std::vector<double>& days, const std::vector<double>& others) {
  const bool months = is_monthly(days) && is_monthly(others);
  std::vector<std::string> lonely;
  std::size_t k = 0;
  for (const double day : days) {
    const auto before = [&](double other) {
      return months ? month_of(other) < month_of(day) : other < day - same_day;
    };
    while (k < others.size() && before(others[k])) ++k;
    const bool found =
        k < others.size() && (months ? month_of(others[k]) == month_of(day) : others[k] <= day + same_day);
    if (!found) lonely.push_back(date_text(day));
  }
  return lonely;
}

}  // namespace

std::string told_by_name(const std::string& name) {
  return name.empty() ? "" : fmt::format("fields.also: {}: ", name);
}

void check_joint(const JointRecords& records) {
  const auto& days = records.front().record->days();
  for (std::size_t v = 1; v < records.size(); ++v) {
    const auto& theirs = records[v].record->days();
    const auto ours_alone = dates_without(days, theirs), theirs_alone = dates_without(theirs, days);
    const auto part = [](const std::vector<std::string>& dates, const std::string& who) {
      return dates.empty() ? "" : fmt::format("; {} alone has {}", who, some_of(dates));
    };
    QUINTET_CHECK(
        ours_alone.empty() && theirs_alone.empty(),
        "{}has other times than the first variable{}{}: choose fields.from and fields.to within both, or the "
        "same mean (week, month) for both",
        told_by_name(records[v].name), part(ours_alone, "the first"), part(theirs_alone, records[v].name));
  }
  if (records.size() == 1) return;
  FieldModes first;
  first.in_file = records.front().record->variable(), first.units = records.front().record->units();
  for (std::size_t v = 1; v < records.size(); ++v)
    QUINTET_CHECK(records[v].name != first.short_name(),
                  "fields.also[{}].name: the first variable has the name {}, too; choose another", v - 1,
                  records[v].name);
}

double joint_from(const std::vector<double>& days, std::size_t first) {
  return is_monthly(days) ? month_of(days[first]) : days[first] - same_day;
}

}  // namespace quintet::ocean
