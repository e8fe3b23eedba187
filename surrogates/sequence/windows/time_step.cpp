#include "surrogates/sequence/windows/time_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::sequence {

namespace {

/// Months since the year 0.
int month_of(const ocean::Date& date) { return 12 * date.year + date.month - 1; }

int days_in_month(int month) {
  const auto first = [](int m) { return ocean::day_of({m / 12, m % 12 + 1, 1}); };
  return first(month + 1) - first(month);
}

}  // namespace

double TimeStep::advance(double day, int n) const {
  if (months == 0) return day + n * days;
  const auto date = ocean::date_of(day);
  const int month = month_of(date) + n * months;
  const double hours = day - std::floor(day);
  return ocean::day_of({month / 12, month % 12 + 1, std::min(date.day, days_in_month(month))}) + hours;
}

bool TimeStep::joins(double earlier, double later) const {
  constexpr double days_of_a_month = 3, part_of_a_step = 0.02;
  const double miss = std::abs(later - advance(earlier, 1));
  return miss <= (months > 0 ? days_of_a_month : part_of_a_step * days);
}

std::string TimeStep::text() const {
  if (months > 0) return fmt::format("{} month{}", months, months == 1 ? "" : "s");
  return fmt::format("{:.6g} day{}", days, days == 1 ? "" : "s");
}

TimeStep time_step_of(const std::vector<double>& time) {
  QUINTET_CHECK(time.size() >= 2, "a series of {} time{}; a step needs two", time.size(),
                time.size() == 1 ? "" : "s");
  std::vector<double> steps;
  for (std::size_t i = 1; i < time.size(); ++i) steps.push_back(time[i] - time[i - 1]);
  std::nth_element(steps.begin(), steps.begin() + (steps.size() / 2), steps.end());
  const double median = steps[steps.size() / 2];
  QUINTET_CHECK(median > 0 && std::isfinite(median), "times of a series must ascend");
  const TimeStep in_days{median, 0};
  const int months = std::lround(median / (365.2425 / 12));
  if (months == 0) return in_days;
  const TimeStep in_months{0, months};
  const auto joined = [&](const TimeStep& step) {
    std::size_t n = 0;
    for (std::size_t i = 1; i < time.size(); ++i) n += step.joins(time[i - 1], time[i]) ? 1U : 0U;
    return n;
  };
  // Five weeks are not a month: dates that drift through the months are no calendar months.
  const bool drifts =
      std::abs(time.back() - in_months.advance(time.front(), static_cast<int>(time.size()) - 1)) > 15 &&
      joined(in_days) >= joined(in_months);
  return joined(in_months) >= joined(in_days) && !drifts ? in_months : in_days;
}

}  // namespace quintet::sequence
