#include "apps/submatrix/evaluate/evaluate_report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/submatrix/evaluate/evaluate_headlines.hpp"
#include "apps/submatrix/report/pictures.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"
#include "physics/electronic/density/orthogonalise.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

/// Convert an energy to meV per atom, or of all atoms where their number is not known.
double milli_ev_per_atom(double hartree, double n_atoms) {
  return hartree * ev_per_hartree * 1e3 / std::max(n_atoms, 1.0);
}
const char* milli_ev_unit(double n_atoms) { return n_atoms > 0 ? "meV/atom" : "meV"; }

void summarise_levels(Context& context, const Evaluation& last) {
  const auto gap = [&](const std::string& spin, const SpinLevels& levels, const char* text) {
    if (!std::isfinite(levels.lumo - levels.homo)) return;
    context.summarise("gap" + spin + "_ev", (levels.lumo - levels.homo) * ev_per_hartree, text);
    context.summarise("gap" + spin + "_error_ev", levels.error * ev_per_hartree);
  };
  const char* of_both =
      has_two_mu(last) ? "lowest empty less highest occupied level, of whichever spin: negative where one "
                         "spin holds electrons above empty levels of the other, which flips would gain"
                       : "lowest empty less highest occupied level";
  if (std::isfinite(last.homo)) context.summarise("homo_hartree", last.homo);
  if (std::isfinite(last.lumo)) context.summarise("lumo_hartree", last.lumo);
  gap("", {last.homo, last.lumo, last.lumo_error + last.homo_error}, of_both);
  if (!last.mu_down) return;
  gap("_up", last.up, "of spin up alone");
  gap("_down", last.down, "of spin down alone");
}

void summarise_energies(Context& context, const Evaluation& last, double temperature) {
  context.summarise("tr_dk_hartree", last.tr_dk, "Tr(DK) of one spin, of an open shell the mean of the two");
  context.summarise("band_energy_hartree", 2 * last.tr_dk, "of both spins");
  if (temperature > 0) {
    context.summarise("entropy_kb", 2 * last.entropy);
    context.summarise("free_energy_hartree", 2 * (last.tr_dk - thermal_energy(temperature) * last.entropy));
  }
  context.summarise("electrons", 2 * last.n_pairs, "2 Tr P, of both spins");
  context.summarise("electrons_of_d", 2 * last.n_pairs_of_d, "2 Tr(DS): also has the error of S^-1/2");
  if (last.n_pairs_put != 0) context.summarise("electrons_put_on_frontier_orbitals", 2 * last.n_pairs_put);
  context.summarise("mu_hartree", last.mu);
  if (last.mu_down) {
    context.summarise("mu_down_hartree", *last.mu_down);
    context.summarise("unpaired_electrons", last.unpaired);
  }
  summarise_levels(context, last);
}

// Estimates first, which need no reference, then errors against one.
void summarise_errors(Context& context, const Evaluation& last, const ReferenceOptions& reference,
                      const Evaluation& first, double temperature, double n_atoms) {
  context.summarise("idempotency_error", last.idempotency,
                    "||PP - P||_F of one spin; no error at a temperature");
  context.summarise("commutator_hartree", last.commutator, "||PA - AP||_F of one spin");
  context.summarise("asymmetry", last.asymmetry);
  if (std::isfinite(last.rest))
    context.summarise("density_rest", last.rest,
                      last.whole ? "||Z P Z - D||_F of one spin: D has all blocks that were computed"
                                 : "||D_whole - D||_F of one spin: D has the blocks of K and S alone");
  if (last.error_columns > 0) {
    context.summarise("energy_estimated_error_hartree", last.energy_error);
    context.summarise("energy_estimated_error_of_first_threshold_hartree", first.energy_error);
    context.summarise("electrons_estimated_error", 2 * last.pairs_error);
    if (last.mu_error > 0)
      context.summarise("mu_estimated_error_hartree", last.mu_error,
                        "the electrons' over their growth with mu");
    if (std::isfinite(last.density_error))
      context.summarise(
          "density_estimated_error", last.density_error,
          "||D - D_exact||_F of one spin: submatrices, S^-1/2, and what D lacks outside its blocks");
    context.summarise("density_estimated_error_of_p", last.p_error, "||P - P_exact||_F of one spin");
    context.summarise("density_estimated_error_inside", last.p_error_inside, "of the blocks that P has");
    context.summarise("estimate_columns", last.error_columns);
    context.summarise("estimate_s", last.error_seconds);
  }
  if (last.probe_vectors > 0) {
    context.summarise("density_probed_error", last.probed_error,
                      "||P - P_exact||_F of one spin, from random vectors");
    context.summarise("density_probed_error_standard_error", last.probed_deviation);
    context.summarise("density_probed_error_of_series", last.probe_series_error, "of P_exact, at most");
    context.summarise("check_vectors", last.probe_vectors);
    context.summarise("check_degree", last.probe_degree);
  }
  if (!last.probe_refused.empty()) context.summarise("check_refused", last.probe_refused);
  if (const auto why = doubt(last, temperature)) context.summarise("doubtful", *why);
  if (!reference.energy) return;
  const double error = last.tr_dk - *reference.energy;
  context.summarise("energy_error_hartree", error);
  if (n_atoms > 0) context.summarise("energy_error_mev_per_atom", milli_ev_per_atom(error, n_atoms));
}

void summarise_speed(Context& context, const Evaluation& last, const System& system) {
  context.summarise("orbitals", system.blocking().n_rows());
  context.summarise("blocks", system.blocking().n_blocks());
  context.summarise("kernel", last.kernel);
  context.summarise("polynomial_degree", last.degree);
  context.summarise("submatrices_with_levels_in_the_gap", last.n_in_gap);
  context.summarise("submatrices", last.n_submatrices);
  context.summarise("submatrices_predicted_gain_by_clustering", last.clustering_gain);
  context.summarise("submatrix_rows_mean", last.n_mean);
  context.summarise("submatrix_rows_max", last.n_max);
  context.summarise("submatrices_s", last.seconds);
  context.summarise("submatrices_kernels_cpu_s", last.kernel_seconds);
  if (last.predicted_seconds > 0)
    context.summarise("submatrices_kernels_predicted_s", last.predicted_seconds);
  context.summarise("ms_per_block", 1e3 * last.seconds / system.blocking().n_blocks());
  if (last.seconds > 0) context.summarise("gflops_per_s", last.flops / last.seconds * 1e-9);
}

std::string milli_ev_text(double hartree, double n_atoms) {
  return fmt::format("{:+.2e}", milli_ev_per_atom(hartree, n_atoms));
}

std::string gap_cell(const Evaluation& e) {
  const auto text = [](double gap) { return fmt::format("{:.4g}", gap * ev_per_hartree); };
  return has_two_mu(e) ? text(e.up.lumo - e.up.homo) + ", " + text(e.down.lumo - e.down.homo)
                       : text(e.lumo - e.homo);
}

/// What came out at each threshold.
void report_table(Report& report, const std::vector<Evaluation>& evaluations,
                  const ReferenceOptions& reference, double n_atoms) {
  const bool estimated = evaluations.front().error_columns > 0;
  std::vector<std::string> header{"threshold (hartree)", "Tr(DK) (hartree)"};
  if (reference.energy) header.push_back(fmt::format("error ({})", milli_ev_unit(n_atoms)));
  if (estimated) header.push_back(fmt::format("estimated error ({})", milli_ev_unit(n_atoms)));
  for (const char* name : {"electrons", "mu (hartree)", "gap (eV)", "idempotency"}) header.emplace_back(name);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    const auto& e = evaluations[i];
    auto& row = rows.emplace_back();
    row = {fmt::format("{:.0e}", e.threshold), fmt::format("{:.8f}", e.tr_dk)};
    if (reference.energy) row.push_back(milli_ev_text(e.tr_dk - *reference.energy, n_atoms));
    if (estimated) row.push_back(fmt::format("{:.2e}", milli_ev_per_atom(e.energy_error, n_atoms)));
    for (const auto& text :
         {fmt::format("{:.10g}", 2 * e.n_pairs),
          has_two_mu(e) ? fmt::format("{:.6f}, {:.6f}", e.mu, *e.mu_down) : fmt::format("{:.6f}", e.mu),
          std::isfinite(e.lumo - e.homo) ? gap_cell(e) : std::string(), fmt::format("{:.1e}", e.idempotency)})
      row.push_back(text);
  }
  report.table(
      header, rows,
      fmt::format("Energies and idempotency ||PP - P|| (no error at a temperature) of one spin, "
                  "electrons of both{}. Error: from {}. Estimated error: from larger "
                  "submatrices of a sample of block columns.",
                  has_two_mu(evaluations.back())
                      ? "; chemical potential and gap of spin up and of spin down, whose electrons are "
                        "fixed each: an empty level of one may lie below occupied ones of the other"
                      : "",
                  reference.label));
}

/// What each threshold cost.
void report_costs(Report& report, const std::vector<Evaluation>& evaluations) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& e : evaluations)
    rows.push_back({fmt::format("{:.0e}", e.threshold), fmt::format("{:.1f}", e.blocks),
                    fmt::format("{}", e.n_submatrices), fmt::format("{:.3g}", e.clustering_gain),
                    fmt::format("{} ({})", e.n_mean, e.n_max), e.kernel,
                    e.degree > 0 ? fmt::format("{}", e.degree) : "", fmt::format("{:.3g}", e.seconds),
                    fmt::format("{:.3g}", e.kernel_seconds), fmt::format("{:.3g}", e.predicted_seconds),
                    e.seconds > 0 ? fmt::format("{:.3g}", e.flops / e.seconds * 1e-9) : "",
                    fmt::format("{:.3g}", e.density_seconds)});
  report.table(
      {"threshold (hartree)", "blocks a column", "submatrices", "gain by clusters", "rows, mean (max)",
       "kernel", "degree", "all (s)", "kernels (CPU s)", "predicted (s)", "GFLOP/s", "D and its errors (s)"},
      rows,
      "Gain by clusters: predicted time of one submatrix a block column over that of these. Rows: of the "
      "submatrices. All, D: wall time. Predicted: that of the kernels. Times are of the slowest rank.");
}

/// A number of each evaluation over its threshold.
Curve over_threshold(const std::string& label, const std::vector<Evaluation>& evaluations,
                     const std::function<double(const Evaluation&)>& number) {
  Curve curve{label, {}, {}};
  for (const auto& evaluation : evaluations) {
    curve.x.push_back(evaluation.threshold);
    curve.y.push_back(std::abs(number(evaluation)));
  }
  return curve;
}

/// What random vectors say of P at each threshold.
void report_check(Report& report, const std::vector<Evaluation>& evaluations) {
  if (std::all_of(evaluations.begin(), evaluations.end(),
                  [](const auto& e) { return e.probe_vectors == 0 && e.probe_refused.empty(); }))
    return;
  std::vector<std::vector<std::string>> rows;
  for (const auto& e : evaluations)
    rows.push_back(
        e.probe_vectors > 0
            ? std::vector<std::string>{fmt::format("{:.0e}", e.threshold),
                                       fmt::format("{:.3e} ± {:.0e}", e.probed_error, e.probed_deviation),
                                       e.error_columns > 0 ? fmt::format("{:.3e}", e.p_error) : "",
                                       fmt::format("{}", e.probe_vectors), fmt::format("{}", e.probe_degree),
                                       fmt::format("{:.0e}", e.probe_series_error), ""}
            : std::vector<std::string>{fmt::format("{:.0e}", e.threshold), "", "", "", "", "",
                                       e.probe_refused});
  report.table(
      {"threshold (hartree)", "||P - P_exact||, probed", "estimated", "vectors", "degree",
       "error of P_exact, at most", "refused"},
      rows,
      "P against a Chebyshev series of all of A on vectors of random signs, with the standard error "
      "over them; the same S^-1/2, so its errors are not in it. Estimated: from larger submatrices.");
}

// Both axes are logarithmic: the error should fall with the threshold, and the dashed estimate lie on it.
void report_convergence(Report& report, const std::vector<Evaluation>& evaluations,
                        const ReferenceOptions& reference, double n_atoms) {
  if (evaluations.size() < 2) return;
  Plot plot;
  plot.title = "Errors and filter threshold";
  plot.x_label = "threshold (hartree)";
  plot.y_label = "size of the error";
  plot.log_x = plot.log_y = true;
  if (reference.energy)
    plot.curves.push_back(over_threshold(
        fmt::format("energy ({}), from {}", milli_ev_unit(n_atoms), reference.label), evaluations,
        [&](const auto& e) { return milli_ev_per_atom(e.tr_dk - *reference.energy, n_atoms); }));
  if (evaluations.front().error_columns > 0) {
    Curve estimate =
        over_threshold(fmt::format("energy ({}), estimated", milli_ev_unit(n_atoms)), evaluations,
                       [&](const auto& e) { return milli_ev_per_atom(e.energy_error, n_atoms); });
    estimate.dashed = true;
    plot.curves.push_back(estimate);
  }
  plot.curves.push_back(
      over_threshold("idempotency ||PP - P|| an orbital pair", evaluations,
                     [](const auto& e) { return e.idempotency / std::sqrt(std::max(1.0, e.n_pairs)); }));
  plot.caption =
      "A tenth of the threshold should buy about a tenth of the error; the estimate needs no reference.";
  report.plot(plot);
  Plot cost;
  cost.title = "Cost and filter threshold";
  cost.x_label = "threshold (hartree)";
  cost.y_label = "seconds, all submatrices";
  cost.log_x = cost.log_y = true;
  cost.curves.push_back(over_threshold("", evaluations, [](const auto& e) { return e.seconds; }));
  report.plot(cost);
}

void report_sparsity(Report& report, const BlockMatrix& a, double threshold) {
  report.section("Sparsity");
  const Heatmap map = norm_picture(a, threshold);
  const auto sizes = submatrix_sizes(a, threshold);
  std::vector<double> thresholds;
  for (double x = 0; x >= -8.01; x -= 0.25) thresholds.push_back(std::pow(10.0, x));
  const auto blocks = blocks_above(a, thresholds);
  report.heatmap(map);
  report.bars(size_histogram(sizes),
              fmt::format("Rows of the submatrices at threshold {:.0e}: how many block columns.", threshold));
  Plot plot;
  plot.title = "Blocks that stay";
  plot.x_label = "threshold (hartree)";
  plot.y_label = "blocks a column";
  plot.log_x = plot.log_y = true;
  plot.curves.push_back({"", thresholds, blocks});
  plot.caption = "The cost of a submatrix grows with the square (polynomial) or the cube of it.";
  report.plot(plot);
}

// A row is a threshold; columns of spins and references are there only where the run has them.
void write_results(Context& context, const std::vector<Evaluation>& evaluations) {
  auto group = context.results().root().group("thresholds");
  const auto write = [&](const char* name, const char* units, const char* text, auto&& number) {
    std::vector<double> values;
    for (const auto& evaluation : evaluations) values.push_back(number(evaluation));
    group.write(name, std::span<const double>(values), {values.size()}, {units, {"threshold"}, text});
  };
  using E = Evaluation;
  write("threshold", "hartree", "Filter threshold", [](const E& e) { return e.threshold; });
  write("tr_dk", "hartree", "Tr(D K) of one spin", [](const E& e) { return e.tr_dk; });
  write("electrons", "1", "2 Tr P", [](const E& e) { return 2 * e.n_pairs; });
  write("electrons_of_d", "1", "2 Tr(D S)", [](const E& e) { return 2 * e.n_pairs_of_d; });
  write("mu", "hartree", "Chemical potential", [](const E& e) { return e.mu; });
  write("homo", "hartree", "Highest level below mu", [](const E& e) { return e.homo; });
  write("lumo", "hartree", "Lowest level above mu", [](const E& e) { return e.lumo; });
  write("homo_error", "hartree", "A level is that close to homo", [](const E& e) { return e.homo_error; });
  write("lumo_error", "hartree", "A level is that close to lumo", [](const E& e) { return e.lumo_error; });
  if (evaluations.back().mu_down) {
    write("mu_down", "hartree", "Chemical potential of spin down",
          [](const E& e) { return e.mu_down.value_or(e.mu); });
    write("homo_up", "hartree", "Highest level of spin up below its mu",
          [](const E& e) { return e.up.homo; });
    write("lumo_up", "hartree", "Lowest level of spin up above its mu", [](const E& e) { return e.up.lumo; });
    write("homo_down", "hartree", "The same of spin down", [](const E& e) { return e.down.homo; });
    write("lumo_down", "hartree", "The same of spin down", [](const E& e) { return e.down.lumo; });
  }
  write("entropy", "1", "Entropy of one spin / k_B", [](const E& e) { return e.entropy; });
  write("energy_error", "hartree", "Estimated error of Tr(D K); 0: none",
        [](const E& e) { return e.energy_error; });
  write("electrons_error", "1", "Estimated error of the electrons",
        [](const E& e) { return 2 * e.pairs_error; });
  write("mu_error", "hartree", "Estimated error of mu that holds electrons at a temperature; 0: none",
        [](const E& e) { return e.mu_error; });
  write("density_error_of_p", "1", "Estimated ||P - P_exact||_F", [](const E& e) { return e.p_error; });
  write("density_error", "1", "Estimated ||D - D_exact||_F of one spin; NaN: not known",
        [](const E& e) { return e.density_error; });
  write("density_error_inside", "1", "The same of the blocks that P has",
        [](const E& e) { return e.p_error_inside; });
  write("idempotency", "1", "||P P - P||_F", [](const E& e) { return e.idempotency; });
  write("commutator", "hartree", "||P A - A P||_F", [](const E& e) { return e.commutator; });
  write("submatrix_rows", "1", "Mean rows of a submatrix", [](const E& e) { return e.n_mean; });
  if (std::any_of(evaluations.begin(), evaluations.end(), [](const E& e) { return e.probe_vectors > 0; })) {
    const auto probed = [](double number, const E& e) {
      return e.probe_vectors > 0 ? number : std::numeric_limits<double>::quiet_NaN();
    };
    write("density_probed_error", "1", "||P - P_exact||_F from random vectors; NaN: refused",
          [&](const E& e) { return probed(e.probed_error, e); });
    write("density_probed_error_standard_error", "1", "Its standard error",
          [&](const E& e) { return probed(e.probed_deviation, e); });
  }
  write("seconds", "s", "Time of the submatrices", [](const E& e) { return e.seconds; });
}

}  // namespace

void announce(const Evaluation& e, const ReferenceOptions& reference, double n_atoms) {
  std::string error;
  if (reference.energy) {
    const double difference = e.tr_dk - *reference.energy;
    error = fmt::format(", {:+.2e} hartree ({:+.2e} {}) from {}", difference,
                        milli_ev_per_atom(difference, n_atoms), milli_ev_unit(n_atoms), reference.label);
  }
  log::info("threshold {:.0e}: Tr(DK) = {:.9f} hartree{}", e.threshold, e.tr_dk, error);
  log::info(
      "  {:.12g} electrons (Tr DS {:+.0e}), mu {:.6f}{} hartree, gap {}; idempotency {:.1e}, commutator "
      "{:.1e}",
      2 * e.n_pairs, 2 * (e.n_pairs_of_d - e.n_pairs), e.mu,
      e.mu_error > 0 ? fmt::format(" +- {:.1g}", e.mu_error) : "", gap_text(e, "+-"), e.idempotency,
      e.commutator);
  log::info("  D on {}; what it has elsewhere: ||rest|| {}",
            e.whole ? "all blocks that were computed" : "the blocks of K and S",
            std::isfinite(e.rest) ? fmt::format("{:.2e}", e.rest) : "-");
  if (e.error_columns > 0)
    log::info(
        "  estimated errors: {:.1e} hartree ({:.1e} {}), {:.1e} electrons, ||dP|| {:.1e}, {:.1e} of it in "
        "P's own blocks; from {} in {:.3g} s",
        e.energy_error, milli_ev_per_atom(e.energy_error, n_atoms), milli_ev_unit(n_atoms), 2 * e.pairs_error,
        e.p_error, e.p_error_inside, counted(e.error_columns, "block column"), e.error_seconds);
  if (e.probe_vectors > 0)
    log::info("  check: ||dP|| {:.3e} +- {:.0e} on {}, against a series of degree {}", e.probed_error,
              e.probed_deviation, counted(e.probe_vectors, "random vector"), e.probe_degree);
  if (!e.probe_refused.empty()) log::warning("No check: {}", e.probe_refused);
  log::info("  {:.1f} blocks per column, {} of {} rows (largest {}); {}, {:.3g} s, {:.3g} GFLOP/s", e.blocks,
            counted(e.n_submatrices, "submatrix", "submatrices"), e.n_mean, e.n_max, e.kernel, e.seconds,
            e.flops / std::max(e.seconds, 1e-9) * 1e-9);
}

void report_evaluations(Context& context, const EvaluateOptions& options, const ReferenceOptions& reference,
                        const System& system, const Orthogonalised* basis,
                        const std::vector<Evaluation>& evaluations) {
  const double n_atoms = system.n_atoms;
  const auto& last = evaluations.back();
  add_headlines(context, options, system, evaluations);
  summarise_energies(context, last, options.temperature);
  summarise_errors(context, last, reference, evaluations.front(), options.temperature, n_atoms);
  summarise_speed(context, last, system);
  if (last.condition > 0) context.summarise("overlap_condition", last.condition);
  if (basis != nullptr) {
    context.summarise("overlap_residual", basis->residual);
    context.summarise("overlap_iterations", basis->iterations);
  }

  Report& report = context.report();
  report.title("submatrix evaluate", fmt::format("{} in {}", counted(system.blocking().n_rows(), "orbital"),
                                                 counted(system.blocking().n_blocks(), "block")));
  report.section("Density matrix");
  report_table(report, evaluations, reference, n_atoms);
  report_costs(report, evaluations);
  report_check(report, evaluations);
  report_convergence(report, evaluations, reference, n_atoms);
  if (basis != nullptr) report_sparsity(report, basis->a, last.threshold);
  write_results(context, evaluations);
}

}  // namespace quintet::submatrix
