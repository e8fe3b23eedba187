#include "apps/podlstm/search/methods_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "apps/application/report/report.hpp"
#include "apps/podlstm/search/search_numbers.hpp"
#include "io/config/schema.hpp"
#include "io/parallel/together.hpp"

namespace quintet::podlstm {

namespace {

constexpr std::size_t window = 100;  ///< trials of the moving median

/// Objectives in the order of ends.
std::vector<double> objectives(const search::StoredSearch& search) {
  std::vector<double> values;
  for (const auto* record : counted_in_order(search.records)) values.push_back(record->outcome.objective);
  return values;
}

double best_of_first(const std::vector<double>& values, std::size_t n) {
  return *std::max_element(values.begin(), values.begin() + n);
}

/// Median of the last trials among the first n: one that went wrong does not move it.
double median_of_last(const std::vector<double>& values, std::size_t n) {
  const auto end = values.begin() + n;
  std::vector<double> last(end - std::min(n, window), end);
  const auto middle = last.begin() + last.size() / 2;
  std::nth_element(last.begin(), middle, last.end());
  return *middle;
}

/// "evolution, seed 1", and which one it is where several are called so.
std::vector<std::string> names_of(const std::vector<search::StoredSearch>& searches) {
  std::vector<std::string> names;
  for (const auto& search : searches) {
    const auto& words = search.method;
    const auto end = words.find(',', words.find(',') + 1);
    auto name = words.substr(0, end);
    const auto n =
        std::count_if(names.begin(), names.end(), [&](const auto& other) { return other.starts_with(name); });
    names.push_back(n == 0 ? name : fmt::format("{} ({})", name, n + 1));
  }
  return names;
}

void add_courses(Report& report, const std::vector<std::vector<double>>& values,
                 const std::vector<std::string>& names, const std::string& leaks) {
  Plot best, median;
  best.title = "Best so far", median.title = fmt::format("Median of the last {} trials", window);
  double floor = std::numeric_limits<double>::infinity();
  for (const auto& all : values)
    floor = std::min(floor, best_of_first(all, std::min<std::size_t>(all.size(), 10)));
  for (std::size_t s = 0; s < values.size(); ++s) {
    Curve course{names[s], {}, {}}, middle{names[s], {}, {}};
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < values[s].size(); ++i) {
      const double value = values[s][i], n = i + 1;
      if (value > highest && std::isfinite(highest))  // a step, not a slope
        course.x.push_back(n), course.y.push_back(highest >= floor ? highest : std::nan(""));
      highest = std::max(highest, value);
      course.x.push_back(n), course.y.push_back(highest >= floor ? highest : std::nan(""));
      if (i + 1 < window) continue;
      middle.x.push_back(n), middle.y.push_back(median_of_last(values[s], i + 1));
    }
    best.curves.push_back(std::move(course));
    if (middle.x.size() > 1) median.curves.push_back(std::move(middle));
  }
  for (auto* plot : {&best, &median}) {
    plot->x_label = "trials that have ended", plot->y_label = "R2 (paper), validation";
    plot->caption = "Repeated architectures are not counted." + leaks;
    if (!plot->curves.empty()) report.plot(*plot);
  }
}

}  // namespace

std::vector<search::StoredSearch> read_beside(const Comm& comm, const SearchInput& input,
                                              const Candidates& candidates) {
  std::vector<search::StoredSearch> searches;
  on_root(comm, [&] {
    const auto problem = candidates.problem();
    for (const auto& path : input.beside) searches.push_back(search::read_search(path, problem));
  });
  return searches;
}

void report_methods(Report& report, const std::vector<search::StoredSearch>& searches,
                    const std::vector<std::string>& leaks) {
  std::vector<std::vector<double>> values;
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  const auto all_names = names_of(searches);
  for (std::size_t s = 0; s < searches.size(); ++s) {
    auto own = objectives(searches[s]);
    if (own.empty()) continue;
    fewest = std::min(fewest, own.size());
    values.push_back(std::move(own));
    names.push_back(all_names[s] + (s == 0 ? " (this)" : ""));
  }
  if (values.size() < 2) return;
  std::size_t row = 0;
  for (const auto& search : searches) {
    const auto numbers = numbers_of(search.records);
    if (objectives(search).empty()) continue;
    rows.push_back(
        {names[row], fmt::format("{:.4f}", best_of_first(values[row], fewest)),
         fmt::format("{:.4f}", numbers.best), fmt::format("{:.4f}", median_of_last(values[row], fewest)),
         fmt::format("{}", numbers.good), fmt::format("{}", numbers.evaluations),
         fmt::format("{}", numbers.repeated), fmt::format("{}", numbers.failed + numbers.lost + numbers.late),
         fmt::format("{:.0f}", numbers.mean_parameters), fmt::format("{:.1f}", numbers.wall_s),
         fmt::format("{:.0f}", numbers.per_hour), fmt::format("{}", numbers.workers),
         fmt::format("{:.1f}", 100 * numbers.utilisation)});
    ++row;
  }
  std::string text;
  for (const auto& leak : leaks) text += fmt::format(" LEAKS: {}.", leak);
  report.section("Methods");
  add_courses(report, values, names, text);
  report.table(
      {"search", fmt::format("best of {}", fewest), "best of all", "median of the last 100", "good",
       "evaluations", "repeated", "failed", "parameters", "time (s)", "an hour", "workers", "busy (%)"},
      rows,
      fmt::format("R2 (paper) of validation: the best after {0} trials, of all, and the median of the last "
                  "100 of the "
                  "first {0}; good: at least 0.9 of the search's own best. One run of each "
                  "tells little of methods: seeds differ.{1}",
                  fewest, text));
}

}  // namespace quintet::podlstm
