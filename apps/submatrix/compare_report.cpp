#include "apps/submatrix/compare_report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>

#include <fmt/format.h>

#include "io/log/log.hpp"

namespace quintet::submatrix {

namespace {

double mev_per_atom(double hartree, std::int64_t n_atoms) {
  return hartree * ev_per_hartree * 1e3 / static_cast<double>(std::max<std::int64_t>(n_atoms, 1));
}

std::vector<std::string> texts(const MethodRow& row, const Comparison& comparison, const System& system) {
  const double n_blocks = system.blocking().n_blocks();
  return {row.method,
          row.threshold > 0 ? fmt::format("{:.0e}", row.threshold) : "",
          fmt::format("{:.3g}", row.cost.wall_s),
          fmt::format("{:.3g}", row.cost.cpu_s),
          fmt::format("{:.3g}", 1e3 * row.cost.cpu_s / n_blocks),
          fmt::format("{:.0f}", row.cost.peak_bytes * 1e-6),
          comparison.exact_energy && !row.whole
              ? fmt::format("{:+.2e}", mev_per_atom(row.tr_dk - *comparison.exact_energy, system.n_atoms))
              : "",
          row.d_error ? fmt::format("{:.1e}", *row.d_error) : "",
          fmt::format("{:.8g}", 2 * row.n_pairs),
          row.gflops > 0 ? fmt::format("{:.3g}", row.gflops / row.cost.wall_s) : "",
          row.iterations > 0 ? fmt::format("{}", row.iterations) : ""};
}

/// "submatrices, eigen" at 1e-05 as part of a key: "submatrices_eigen_1e-05".
std::string key_of(const MethodRow& row) {
  std::string key;
  for (const char c : row.method)
    if (c != ',') key += c == ' ' ? '_' : c;
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
  write("tr_dk", "hartree", "Tr(D K) of one spin", [](const Row& r) { return r.tr_dk; });
}

/// Seconds of the whole way from K and S to P.
double seconds(const MethodRow& row, const Comparison& comparison) {
  return row.cost.cpu_s + (row.whole ? 0 : comparison.orthogonalise.cpu_s);
}

}  // namespace

std::vector<std::string> verdicts(const Comparison& comparison, int n_rows) {
  const MethodRow* dense = nullptr;
  std::map<double, const MethodRow*, std::greater<>> fastest;  // of each threshold
  for (const auto& row : comparison.rows) {
    if (row.whole) {
      dense = &row;
      continue;
    }
    auto& best = fastest[row.threshold];
    if (!best || row.cost.cpu_s < best->cost.cpu_s) best = &row;
  }
  std::vector<std::string> texts;
  for (const auto& [threshold, sparse] : fastest) {
    const double ours = seconds(*sparse, comparison);
    texts.push_back(fmt::format("At {:.0e} the fastest sparse method was: {}, {:.3g} s with S^-1/2",
                                threshold, sparse->method, ours));
    if (!dense) {
      texts.back() += "; nothing was diagonalised densely (dense_limit).";
      continue;
    }
    // n^3 meets n where (n/n_rows)^2 is the ratio of the times here
    const double theirs = std::max(seconds(*dense, comparison), 1e-9), ratio = ours / theirs;
    texts.back() += fmt::format(
        "; dense diagonalisation, which has no filter's error, took {:.3g} s: {} With times that grow as n "
        "and "
        "n^3 the two meet at about {:.2g} orbitals (here {}).",
        theirs, ratio > 1 ? "dense wins." : "the sparse method wins.", n_rows * std::sqrt(ratio), n_rows);
  }
  return texts;
}

void report_comparison(Context& context, const Comparison& comparison, const System& system) {
  const int n_rows = system.blocking().n_rows();
  context.summarise("orbitals", static_cast<std::int64_t>(n_rows));
  context.summarise("orthogonalise_cpu_s", comparison.orthogonalise.cpu_s);
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : comparison.rows) {
    rows.push_back(texts(row, comparison, system));
    context.summarise(key_of(row) + "_cpu_s", row.cost.cpu_s);
    if (comparison.exact_energy && !row.whole)
      context.summarise(key_of(row) + "_energy_error_hartree", row.tr_dk - *comparison.exact_energy);
  }
  Report& report = context.report();
  report.title("submatrix compare",
               fmt::format("{} orbitals in {} blocks", n_rows, system.blocking().n_blocks()));
  report.section("Methods");
  report.table(
      {"method", "threshold", "s", "s of CPU", "ms of CPU a block", "peak MB", "error (meV/atom)",
       "largest |dD|", "electrons", "GFLOP/s", "iterations"},
      rows,
      fmt::format("Sparse methods: the step function alone; S^-1/2 and A took {:.3g} s of CPU once, to a "
                  "tenth of the smallest threshold. Dense: all the way from K and S to D. Times and "
                  "memory of the rank that took most.",
                  comparison.orthogonalise.cpu_s));
  for (const auto& words : verdicts(comparison, n_rows)) {
    report.paragraph(words);
    log::info("{}", words);
  }
  report.paragraph("Not compared here: ScaLAPACK, and, unless petsc_newton_schulz is true, PETSc.");
  write_results(context, comparison);
}

}  // namespace quintet::submatrix
