#include "apps/submatrix/compare/compare_report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "io/log/log.hpp"

namespace quintet::submatrix {

namespace {

double mev_per_atom(double hartree, std::int64_t n_atoms) {
  return hartree * ev_per_hartree * 1e3 / static_cast<double>(std::max<std::int64_t>(n_atoms, 1));
}

std::vector<std::string> texts(const MethodRow& row, const Comparison& comparison, const System& system) {
  const double n_blocks = system.blocking().n_blocks();
  const bool good = row.refused.empty();
  const auto where = [](bool told, const auto& text) { return told ? text() : std::string(); };
  return {row.method,
          where(row.threshold > 0, [&] { return fmt::format("{:.0e}", row.threshold); }),
          where(good, [&] { return fmt::format("{:.3g}", row.cost.wall_s); }),
          where(good, [&] { return fmt::format("{:.3g}", row.cost.cpu_s); }),
          where(good, [&] { return fmt::format("{:.3g}", 1e3 * row.cost.cpu_s / n_blocks); }),
          where(good && !row.whole, [&] { return fmt::format("{:.3g}", row.density_cpu_s); }),
          where(good, [&] { return fmt::format("{:.0f}", row.cost.peak_bytes * 1e-6); }),
          good ? where(comparison.exact_energy && !row.whole,
                       [&] {
                         return fmt::format(
                             "{:+.2e}", mev_per_atom(row.tr_dk - *comparison.exact_energy, system.n_atoms));
                       })
               : "refused",
          where(good && row.d_error, [&] { return fmt::format("{:.1e}", *row.d_error); }),
          where(good, [&] { return fmt::format("{:.8g}", 2 * row.n_pairs); }),
          where(good && row.gflops > 0, [&] { return fmt::format("{:.3g}", row.gflops / row.cost.wall_s); }),
          where(good && row.iterations > 0, [&] { return fmt::format("{}", row.iterations); })};
}

std::string underlined(const std::string& text) {
  std::string key;
  for (const char c : text)
    if (c != ',') key += c == ' ' ? '_' : c;
  return key;
}

/// "submatrices, eigen" at 1e-05 as part of a key: "submatrices_eigen_1e-05".
std::string key_of(const MethodRow& row) {
  const std::string key = underlined(row.method);
  return row.threshold > 0 ? key + fmt::format("_{:.0e}", row.threshold) : key;
}

void write_results(Context& context, const Comparison& comparison) {
  auto group = context.results().root().group("methods");
  std::vector<std::string> names;
  for (const auto& row : comparison.rows) names.push_back(key_of(row));
  group.set_attribute("names", names);
  const auto write = [&](const char* name, const char* units, const char* text, auto&& number) {
    std::vector<double> values;
    for (const auto& row : comparison.rows) values.push_back(number(row));
    group.write(name, std::span<const double>(values), {values.size()}, {units, {"method"}, text});
  };
  using Row = MethodRow;
  write("threshold", "hartree", "Filter threshold; 0: none", [](const Row& r) { return r.threshold; });
  write("wall", "s", "Wall time of the slowest rank", [](const Row& r) { return r.cost.wall_s; });
  write("cpu", "s", "CPU time of the slowest rank", [](const Row& r) { return r.cost.cpu_s; });
  write("peak_memory", "B", "Resident memory above that before",
        [](const Row& r) { return r.cost.peak_bytes; });
  write("tr_dk", "hartree", "Tr(D K) of one spin; NaN: refused",
        [](const Row& r) { return r.refused.empty() ? r.tr_dk : std::numeric_limits<double>::quiet_NaN(); });
}

/// Seconds of the whole way from K and S to D.
double seconds(const MethodRow& row, const Comparison& comparison) {
  return row.cost.cpu_s + (row.whole ? 0 : comparison.orthogonalise.cpu_s + row.density_cpu_s);
}

struct Point {
  double error, seconds;
};

/// Of each sparse method, errors descending.
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
      fmt::format("At an equal error of {:.1e} hartree ({:.1e} meV/atom), from K and S to D: ", error,
                  mev_per_atom(error, n_atoms));
  for (std::size_t i = 0; i < times.size(); ++i)
    text += fmt::format("{}{} {:.3g} s{}", i == 0 ? "" : "; ", times[i].method, times[i].seconds,
                        times[i].between ? "" : " (at a threshold with no larger error)");
  return text;
}

}  // namespace

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

void report_comparison(Context& context, const Comparison& comparison, const System& system) {
  const int n_rows = system.blocking().n_rows();
  for (const auto& row : comparison.rows)
    if (row.whole)
      context.headline("dense diagonalisation, exact", fmt::format("{:.3g} s of CPU", row.cost.cpu_s));
  context.describe_run("system",
                       fmt::format("{} orbitals in {} blocks", n_rows, system.blocking().n_blocks()));
  context.summarise("orbitals", static_cast<std::int64_t>(n_rows));
  context.summarise("orthogonalise_cpu_s", comparison.orthogonalise.cpu_s);
  if (const auto equal = at_equal_errors(comparison); !equal.empty()) {
    const auto& best = equal.back().front();
    context.headline("fastest sparse method at equal error", best.method);
    context.headline("its error", fmt::format("{:.1e} hartree", best.error));
    context.headline("its time from K and S to D", fmt::format("{:.3g} s of CPU", best.seconds));
    context.summarise("fastest_at_equal_error", best.method);
    context.summarise("equal_error_hartree", equal.back().front().error);
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : comparison.rows) {
    rows.push_back(texts(row, comparison, system));
    if (!row.refused.empty()) {
      context.summarise(key_of(row) + "_refused", row.refused);
      continue;
    }
    if (!row.doubtful.empty()) context.summarise(key_of(row) + "_doubtful", row.doubtful);
    context.summarise(key_of(row) + "_cpu_s", row.cost.cpu_s);
    if (comparison.exact_energy && !row.whole)
      context.summarise(key_of(row) + "_energy_error_hartree", row.tr_dk - *comparison.exact_energy);
  }
  Report& report = context.report();
  report.title("submatrix compare",
               fmt::format("{} orbitals in {} blocks", n_rows, system.blocking().n_blocks()));
  report.section("Methods");
  report.table(
      {"method", "threshold", "s", "s of CPU", "ms of CPU a block", "D (s of CPU)", "peak MB",
       "error (meV/atom)", "largest |dD|", "electrons", "GFLOP/s", "iterations"},
      rows,
      fmt::format(
          "Sparse methods: the step function, beside it D; S^-1/2 and A took {:.3g} s of CPU once, to a "
          "tenth of the smallest threshold. Dense: all the way from K and S to D. Times and "
          "memory of the rank that took most.",
          comparison.orthogonalise.cpu_s));
  for (const auto& row : comparison.rows)
    for (const auto& [word, why] : {std::pair("refused", row.refused), std::pair("doubtful", row.doubtful)})
      if (!why.empty())
        report.paragraph(fmt::format("{}, {:.0e}, is {}: {}.", row.method, row.threshold, word, why));
  for (const auto& words : verdicts(comparison, n_rows, system.n_atoms)) {
    report.paragraph(words);
    log::info("{}", words);
  }
  report.paragraph("Not compared here: ScaLAPACK, and, unless petsc_newton_schulz is true, PETSc.");
  write_results(context, comparison);
}

}  // namespace quintet::submatrix
