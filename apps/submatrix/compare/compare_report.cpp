#include "apps/submatrix/compare/compare_report.hpp"

#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"

namespace quintet::submatrix {

namespace {

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

}  // namespace

void report_comparison(Context& context, const Comparison& comparison, const System& system) {
  const int n_rows = system.blocking().n_rows();
  for (const auto& row : comparison.rows)
    if (row.whole)
      context.headline("dense diagonalisation, exact", fmt::format("{:.3g} s of CPU", row.cost.cpu_s));
  context.describe_run("system", fmt::format("{} in {}", counted(n_rows, "orbital"),
                                             counted(system.blocking().n_blocks(), "block")));
  context.summarise("orbitals", n_rows);
  context.summarise("orthogonalise_cpu_s", comparison.orthogonalise.cpu_s);
  if (const auto common = at_common_error(comparison)) {
    const EqualError& best = common->fastest;
    context.headline("fastest sparse method at equal error", best.method);
    context.headline("that error", fmt::format("{:.1e} hartree, reached by {} of {} methods", best.error,
                                               common->n_reach, common->n_methods));
    context.headline("its time from K and S to D", fmt::format("{:.3g} s of CPU", best.seconds));
    context.summarise("fastest_at_equal_error", best.method);
    context.summarise("equal_error_hartree", best.error);
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
  report.title("submatrix compare", fmt::format("{} in {}", counted(n_rows, "orbital"),
                                                counted(system.blocking().n_blocks(), "block")));
  report.section("Methods");
  report.table(
      {"method", "threshold (hartree)", "s", "s of CPU", "ms of CPU a block", "D (s of CPU)", "peak MB",
       fmt::format("error ({})", mev_unit(system.n_atoms)), "largest |dD|", "electrons", "GFLOP/s",
       "iterations"},
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
