#include "apps/submatrix/compare/equal_errors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/submatrix/input/system_options.hpp"

namespace quintet::submatrix {

namespace {

/// Seconds of the whole way from K and S to D.
double seconds(const MethodRow& row, const Comparison& comparison) {
  return row.cost.cpu_s + (row.whole ? 0 : comparison.orthogonalise.cpu_s + row.density_cpu_s);
}

struct Point {
  double error, seconds;
};

/// Collect errors and times of each sparse method, errors descending.
std::map<std::string, std::vector<Point>> errors_and_times(const Comparison& comparison) {
  std::map<std::string, std::map<double, Point, std::greater<>>> by_threshold;
  for (const auto& row : comparison.rows)
    if (!row.whole && row.refused.empty())
      by_threshold[row.method][row.threshold] = {std::abs(row.tr_dk - *comparison.exact_energy),
                                                 seconds(row, comparison)};
  std::map<std::string, std::vector<Point>> points;
  for (const auto& [method, list] : by_threshold) {
    auto& all = points[method];
    for (const auto& [threshold, point] : list) all.push_back(point);
    for (std::size_t i = all.size() - 1; i-- > 0;) all[i].error = std::max(all[i].error, all[i + 1].error);
  }
  return points;
}

EqualError time_at(const std::string& method, const std::vector<Point>& points, double error) {
  std::size_t i = 0;
  while (points[i].error > error) ++i;  // the last one is not above it
  if (i == 0 || points[i].error <= 0 || points[i].error == error) return {method, error, points[i].seconds};
  const Point &a = points[i - 1], &b = points[i];
  const double part = std::log(a.error / error) / std::log(a.error / b.error);
  return {method, error, a.seconds * std::pow(b.seconds / a.seconds, part), true};
}

/// What is said of dense diagonalisation beside a sparse method that took `ours` seconds.
std::string dense_beside(const MethodRow* dense, const Comparison& comparison, double ours, int n_rows) {
  if (dense == nullptr) return "; nothing was diagonalised densely (dense_limit).";
  // n^3 meets n where (n/n_rows)^2 is the ratio of the times here
  const double theirs = std::max(seconds(*dense, comparison), 1e-9), ratio = ours / theirs;
  return fmt::format(
      "; dense diagonalisation, which has no filter's error, took {:.3g} s: {} With times that grow as n and "
      "n^3 "
      "the two meet at about {:.2g} orbitals (here {}).",
      theirs, ratio > 1 ? "dense wins." : "the sparse method wins.", n_rows * std::sqrt(ratio), n_rows);
}

std::string text_of(const std::vector<EqualError>& times, std::int64_t n_atoms) {
  const double error = times.front().error;
  std::string text =
      fmt::format("At an equal error of {:.1e} hartree ({:.1e} {}), from K and S to D: ", error,
                  mev_per_atom(error, n_atoms), mev_unit(n_atoms));
  for (std::size_t i = 0; i < times.size(); ++i)
    text += fmt::format("{}{} {:.3g} s{}", i == 0 ? "" : "; ", times[i].method, times[i].seconds,
                        times[i].between ? "" : " (at a threshold with no larger error)");
  return text;
}

}  // namespace

double mev_per_atom(double hartree, std::int64_t n_atoms) {
  return hartree * ev_per_hartree * 1e3 / (std::max<std::int64_t>(n_atoms, 1));
}

const char* mev_unit(std::int64_t n_atoms) { return n_atoms > 0 ? "meV/atom" : "meV"; }

std::vector<std::vector<EqualError>> at_equal_errors(const Comparison& comparison) {
  std::vector<std::vector<EqualError>> all;
  if (!comparison.exact_energy) return all;
  const auto points = errors_and_times(comparison);
  std::set<double, std::greater<>> errors;
  for (const auto& [method, list] : points) errors.insert(list.back().error);
  for (const double error : errors) {
    if (!all.empty() && error > 0.8 * all.back().front().error) continue;  // as good as the one before
    std::vector<EqualError> times;
    for (const auto& [method, list] : points)
      if (list.back().error <= error) times.push_back(time_at(method, list, error));
    if (times.size() < 2) continue;
    std::sort(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    all.push_back(std::move(times));
  }
  return all;
}

std::optional<CommonError> at_common_error(const Comparison& comparison) {
  std::set<std::string> methods;
  for (const auto& row : comparison.rows)
    if (!row.whole && row.refused.empty()) methods.insert(row.method);
  const int n = methods.size();
  std::optional<CommonError> common;
  for (const auto& times : at_equal_errors(comparison))  // errors descend
    if (const int reach = times.size(); 4 * reach >= 3 * n) common = CommonError{times.front(), reach, n};
  return common;
}

std::vector<std::string> verdicts(const Comparison& comparison, int n_rows, std::int64_t n_atoms) {
  const MethodRow* dense = nullptr;
  std::map<double, const MethodRow*, std::greater<>> fastest;  // of each threshold
  for (const auto& row : comparison.rows) {
    if (row.whole) {
      dense = &row;
      continue;
    }
    if (!row.refused.empty()) continue;
    auto& best = fastest[row.threshold];
    if (!best || seconds(row, comparison) < seconds(*best, comparison)) best = &row;
  }
  std::vector<std::string> texts;
  for (const auto& times : at_equal_errors(comparison))
    texts.push_back(text_of(times, n_atoms) + dense_beside(dense, comparison, times.front().seconds, n_rows));
  if (!texts.empty()) return texts;
  for (const auto& [threshold, sparse] : fastest) {
    const double ours = seconds(*sparse, comparison);
    texts.push_back(
        fmt::format("At {:.0e} the fastest sparse method was, whatever its error: {}, {:.3g} s from K "
                    "and S to D",
                    threshold, sparse->method, ours) +
        dense_beside(dense, comparison, ours, n_rows));
  }
  return texts;
}

}  // namespace quintet::submatrix
