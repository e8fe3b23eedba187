#include "apps/submatrix/evaluate/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/report/report.hpp"
#include "apps/submatrix/evaluate/dense.hpp"
#include "apps/submatrix/evaluate/evaluate_headlines.hpp"
#include "apps/submatrix/evaluate/evaluate_report.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/evaluate/occupied.hpp"
#include "apps/submatrix/evaluate/output.hpp"
#include "apps/submatrix/evaluate/progress.hpp"
#include "apps/submatrix/evaluate/shared_products.hpp"
#include "apps/submatrix/evaluate/spectrum.hpp"
#include "apps/submatrix/evaluate/threshold.hpp"
#include "apps/submatrix/evaluate/way.hpp"
#include "apps/submatrix/input/basis.hpp"
#include "apps/submatrix/input/system.hpp"
#include "apps/submatrix/report/further.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/density/kept_root.hpp"

namespace quintet::submatrix {

using namespace electronic;

SubmatrixOptions submatrix_options(const EvaluateOptions& options, double threshold,
                                   const std::optional<double>& electrons) {
  SubmatrixOptions result;
  result.threshold = threshold;
  result.kernel = options.method.kernel;
  result.single_precision = options.method.single_precision;
  result.polynomial_error = options.method.polynomial_error;
  result.newton_schulz_order = options.method.newton_schulz_order;
  result.columns_together = options.method.columns_together;
  result.memory_bytes = options.method.memory.value_or(0);
  result.mu = options.ensemble.mu;
  result.n_pairs = electrons;
  result.pairs_tolerance = options.ensemble.tolerance / 2;
  result.temperature = thermal_energy(options.temperature);
  result.estimate_error = options.method.estimate_error;
  return result;
}

namespace {

using Clock = std::chrono::steady_clock;

void announce_system(const System& system) {
  const auto& blocking = system.blocking();
  log::info("{} in {}, {} of K; {:.4g} bytes of K and S on the first rank",
            counted(blocking.n_rows(), "orbital"), counted(blocking.n_blocks(), "block"),
            counted(system.n_elements, "element"), system.k.bytes() + system.s.bytes());
}

/// The engine of polynomials on a device. Its batches take a part of the memory that is free now.
std::unique_ptr<DeviceSubmatrices> make_series_on(const DeviceSession& session) {
  constexpr double batch_bytes = 1e9, least_bytes = 2e9;
  session.require_bytes(least_bytes, "Batches of submatrices");
  const auto make = session.factory("quintet_make_device_submatrices", &quintet_make_device_submatrices);
  return std::unique_ptr<DeviceSubmatrices>(make(batch_bytes));
}

Spin read_spin(Context& context, const EvaluateOptions& options, const MatricesOptions& matrices, int spin,
               const System* other) {
  System system = read_system(context, matrices, options.blocks, other);
  const auto& ensemble = options.ensemble;
  const int n_rows = system.blocking().n_rows();
  const std::optional<double> electrons =
      ensemble.common_mu ? electrons_of_both(ensemble, n_rows, options.temperature)
                         : electrons_of_spin(ensemble, n_rows, options.temperature, spin);
  const auto phase = context.phase("share");
  const auto& thresholds = options.method.thresholds;
  if (other != nullptr && ensemble.common_mu)
    share_like(system, *other);
  else
    share_by_cost(system, submatrix_options(options, *std::min_element(thresholds.begin(), thresholds.end()),
                                            electrons));
  return {std::move(system), electrons, spin < 0 ? "_down" : ""};
}

std::vector<Spin> read_spins(Context& context, const EvaluateOptions& options) {
  const bool open = options.matrices.kohn_sham_down.has_value();
  QUINTET_CHECK(open || !options.ensemble.common_mu,
                "ensemble.common_mu: two spins need matrices.kohn_sham_down");
  std::vector<Spin> spins;
  spins.push_back(read_spin(context, options, options.matrices, open ? 1 : 0, nullptr));
  if (!open) return spins;
  const auto down_options = spin_down(options.matrices);
  spins.push_back(read_spin(context, options, down_options, -1, &spins[0].system));
  const int up = spins[0].system.blocking().n_rows(), down = spins[1].system.blocking().n_rows();
  QUINTET_CHECK(up == down, "{} has {} rows, but {} has {}: are they the two spins of one system?",
                options.matrices.kohn_sham, up, *options.matrices.kohn_sham_down, down);
  return spins;
}

/// Why a threshold has no numbers, "": it has; and the error that says so.
struct Refusal {
  std::string why;
  std::exception_ptr error;
};

/// Call evaluate(), and return why it refused. Numbers that fail on one rank alone end the run.
Refusal refusal_of(const Context& context, const std::function<void()>& evaluate) {
  try {
    evaluate();
  } catch (const InputError& refused) {
    return {refused.what(), std::current_exception()};
  } catch (const NumericalError& refused) {
    if (context.comm().size() > 1) throw;
    return {refused.what(), std::current_exception()};
  }
  return {};
}

/// Note that a threshold was refused: the next one may do.
void leave_out(Context& context, int matrix, double threshold, const std::string& refused,
               std::vector<Evaluation>& evaluations) {
  Evaluation none;
  none.matrix = matrix;
  none.threshold = threshold;
  none.refused = refused;
  evaluations.push_back(none);
  const auto text = fmt::format("Threshold {:.0e} is left out: {}", threshold, refused);
  log::warning("{}", text);
  context.report().warning(text + ".");
}

/// The thresholds of a K that `evaluations` lacks; each is kept as soon as it is done. Throws Interrupted,
/// and what refuses the last threshold if none before it was answered, or if matrices are to be written: they
/// are those of the last one.
void evaluate_thresholds(Context& context, const EvaluateOptions& options, const std::vector<Spin>& spins,
                         const Way& way, DeviceSubmatrices* device, const ReferenceOptions& reference,
                         int matrix, std::vector<Evaluation>& evaluations) {
  std::optional<Evaluation> dense;  // of all thresholds
  const std::int64_t done = evaluations.size();
  const std::int64_t n_thresholds = options.method.thresholds.size();
  const std::int64_t n = (matrix + 1) * n_thresholds;
  const bool last_matrix = matrix == std::ssize(options.further_kohn_sham);
  for (const std::int64_t i : context.steps(done + 1, n)) {
    const double threshold = options.method.thresholds[i - 1 - matrix * n_thresholds];
    std::string why = way.why_dense[i - 1 - matrix * n_thresholds];
    if (why.empty()) {
      const auto [refused, error] = refusal_of(context, [&] {
        evaluations.push_back(evaluate_threshold(context, options, spins, way, device, threshold, i == n));
      });
      if (!refused.empty() && !may_be_dense(context, options, spins.front().system)) {
        const bool none = std::none_of(evaluations.begin(), evaluations.end(), [=](const auto& e) {
          return e.matrix == matrix && e.refused.empty();
        });
        if (i == n && (none || !options.output.matrices.empty())) std::rethrow_exception(error);
        leave_out(context, matrix, threshold, refused, evaluations);
        if (i < n || !last_matrix) keep(context, evaluations);
        continue;
      }
      if (!refused.empty()) {
        why = fmt::format("submatrices of threshold {:.0e} were refused ({})", threshold, refused);
        context.report().warning("Diagonalised densely: " + why + ".");
      }
    }
    if (!why.empty()) {
      log::info("One dense diagonalisation of the whole matrix: {}", why);
      if (!dense)
        dense = evaluate_densely(context, options, spins, [&](const auto& levels) {
          check_occupied(levels, held_of(options, spins.front(), false));
        });
      evaluations.push_back(*dense);
      evaluations.back().threshold = threshold;
      if (options.check.vectors > 0)
        evaluations.back().probe_refused =
            "the whole matrix was diagonalised: D has no error of submatrices to find";
    }
    evaluations.back().matrix = matrix;
    announce(evaluations.back(), matrix == 0 ? reference : ReferenceOptions{}, spins.front().system.n_atoms);
    if (const auto why = doubt(evaluations.back(), options.temperature))
      log::warning("Doubtful: {}; take a smaller threshold or larger blocks", *why);
    context.show("Tr(DK)", evaluations.back().tr_dk, "hartree");
    if (i < n || !last_matrix) keep(context, evaluations);
  }
}

/// What comes beside K and S, which are there (matrices_beside_k).
void require_room(const Context& context, const std::vector<Spin>& spins, bool further) {
  constexpr double next_root = 2;  // sizes of K: S^-1/2 once more, for the next K
  double bytes = 0;
  for (const auto& spin : spins) bytes += spin.system.k.bytes();
  context.require_memory((matrices_beside_k + (further ? next_root : 0)) * bytes + bytes_of_writing +
                             (context.comm().size() > 1 ? bytes_of_messages : 0),
                         fmt::format("S^-1/2, A, D and submatrices ({:.4g} bytes of K)", bytes));
}

/// S^-1/2 from the file that keeps it, if there is one.
std::optional<KeptRoot> kept_root(const Context& context, const EvaluateOptions& options,
                                  const System& system) {
  if (!options.method.inverse_sqrt) return std::nullopt;
  const std::string& path = *options.method.inverse_sqrt;
  bool there = false;
  together(context.comm(), [&] {
    if (!context.comm().is_root()) return;
    there = std::filesystem::exists(path);
    const auto folder = std::filesystem::absolute(path).parent_path();
    QUINTET_CHECK(std::filesystem::is_directory(folder), "method.inverse_sqrt: {}: there is no folder {}",
                  path, folder.string());
  });
  if (!context.comm().any(there)) return std::nullopt;
  const auto& thresholds = options.method.thresholds;
  try {
    KeptRoot root = read_root(path, system.s, *std::min_element(thresholds.begin(), thresholds.end()));
    log::info("S^-1/2 is that of {} (threshold {:.0e}, residual {:.1e})", path, root.threshold,
              root.made.residual);
    return root;
  } catch (const InputError& error) {
    throw InputError(fmt::format("method.inverse_sqrt: {}", error.what()));
  }
}

/// The thresholds of one K: with S^-1/2 in `root` where it is known, which is left there for the next K.
Way evaluate_matrix(Context& context, const EvaluateOptions& options, const std::vector<Spin>& spins,
                    DeviceSubmatrices* device, const ReferenceOptions& reference, int matrix,
                    std::optional<KeptRoot>& root, std::vector<Evaluation>& evaluations) {
  const bool was_known = root.has_value();
  Way way = choose_way(context, options, spins, device, matrix == 0, std::move(root));
  root.reset();
  if (!way.bases.empty() && !was_known && options.method.inverse_sqrt) {
    const auto phase = context.phase("write");
    try {
      write_root(root_of(way.bases.front()), spins.front().system.s, *options.method.inverse_sqrt,
                 context.provenance());
      log::info("Wrote {}: S^-1/2 for the next run", *options.method.inverse_sqrt);
    } catch (const ResourceError& error) {
      log::warning("method.inverse_sqrt: {}; this run goes on, the next one makes S^-1/2 anew", error.what());
    }
  }
  if (matrix == 0) describe_evaluation(context, options, spins.front().system, way.why_dense);
  for (const auto& basis : way.bases)
    if (options.check.vectors > 0)
      way.check.push_back(layout_for(context, options, basis.a, options.check.spmm, options.check.vectors,
                                     "check", way.check.empty() ? "" : "_down"));
  if (!way.bases.empty() && matrix < std::ssize(options.further_kohn_sham)) root = root_of(way.bases.front());
  evaluate_thresholds(context, options, spins, way, device, reference, matrix, evaluations);
  return way;
}

/// Those of one K that have numbers.
std::vector<Evaluation> answered(const std::vector<Evaluation>& evaluations, int matrix) {
  std::vector<Evaluation> some;
  for (const Evaluation& e : evaluations)
    if (e.matrix == matrix && e.refused.empty()) some.push_back(e);
  return some;
}

/// The last numbers of each K.
std::vector<MatrixRow> matrix_rows(const EvaluateOptions& options,
                                   const std::vector<Evaluation>& evaluations) {
  std::vector<MatrixRow> rows{{options.matrices.kohn_sham, {}}};
  for (const auto& path : options.further_kohn_sham) rows.push_back({path, {}});
  for (const Evaluation& e : evaluations) {
    if (!e.refused.empty()) continue;
    MatrixNumbers n{e.threshold, e.tr_dk, 2 * e.n_pairs, e.mu, e.idempotency, e.seconds, {}, {}, {}, {}, {}};
    if (options.temperature > 0) n.entropy = 2 * e.entropy;
    if (std::isfinite(e.lumo - e.homo)) n.gap_ev = (e.lumo - e.homo) * ev_per_hartree;
    if (e.error_columns > 0) n.energy_error = e.energy_error, n.electrons_error = 2 * e.pairs_error;
    if (e.error_columns > 0 && std::isfinite(e.density_error)) n.density_error = e.density_error;
    rows.at(e.matrix).numbers = n;
  }
  return rows;
}

}  // namespace

void evaluate(Context& context, const EvaluateOptions& options) {
  // A layout that this number of ranks cannot take is refused before anything is computed.
  if (options.check.vectors > 0) static_cast<void>(layouts_of(options.check.spmm, context.comm().size()));
  if (options.spectrum.vectors > 0)
    static_cast<void>(layouts_of(options.spectrum.spmm, context.comm().size()));
  auto spins = read_spins(context, options);
  System& system = spins.front().system;
  std::vector<BlockMatrix> further;
  for (const auto& path : options.further_kohn_sham)
    further.push_back(read_further(context, options.matrices, path, system));
  const auto reference = find_reference(context.comm(), options.reference, options.matrices.repeat);
  for (const auto& spin : spins) announce_system(spin.system);
  const int n_matrices = static_cast<int>(further.size()) + 1;
  std::vector<double> thresholds;
  for (int m = 0; m < n_matrices; ++m)
    thresholds.insert(thresholds.end(), options.method.thresholds.begin(), options.method.thresholds.end());
  std::vector<Evaluation> evaluations = kept_evaluations(context, thresholds, n_matrices);
  if (context.restart_file())
    log::info("Goes on after {} of {} ({})", evaluations.size(), counted(thresholds.size(), "threshold"),
              *context.restart_file());
  std::optional<KeptRoot> root = kept_root(context, options, system);
  const DeviceSession session = context.open_device(options.device);
  const std::unique_ptr<DeviceSubmatrices> device = session.is_cpu() ? nullptr : make_series_on(session);
  require_room(context, spins, !further.empty());
  if (!context.go_ahead(output_files(options.output, n_matrices))) return;

  std::exception_ptr refused;  // the last K's error that was; it ends the run if no K has numbers
  for (int m = 0; m < n_matrices; ++m) {
    if (m > 0) {
      system.k = std::move(further[m - 1]);
      spins.front().suffix = fmt::format("_k{}", m + 1);
      log::info("K of {}", options.further_kohn_sham[m - 1]);
    }
    const bool done = evaluations.size() >= (m + 1) * options.method.thresholds.size();
    Way way;
    std::vector<SpectralDensity> spectra;
    try {
      if (!done || n_matrices == 1)
        way = evaluate_matrix(context, options, spins, device.get(), reference, m, root, evaluations);
      spectra = spectra_of(context, options, way.bases);
    } catch (const Interrupted&) {
      context.stop_within_step();
    } catch (const InputError& error) {  // the same on all ranks: the next K may do
      if (n_matrices == 1) throw;
      refused = std::current_exception();
      while (evaluations.size() < (m + 1) * options.method.thresholds.size())
        leave_out(context, m, thresholds[evaluations.size()], error.what(), evaluations);
    }
    if (evaluations.empty() && !refused) {
      keep(context, evaluations);
      return log::info("No threshold is done: a restart begins with the first one");
    }
    const auto some = answered(evaluations, m);
    if (some.empty() && context.stopped_early()) break;
    if (some.empty()) continue;
    if (m == 0)
      report_evaluations(context, options, reference, system,
                         way.bases.empty() ? nullptr : &way.bases.front(), some);
    report_spectra(context, options, spectra, some.back());
    if (context.stopped_early()) break;
  }
  if (n_matrices > 1) report_further(context, matrix_rows(options, evaluations));
  if (refused &&
      std::all_of(evaluations.begin(), evaluations.end(), [](const auto& e) { return !e.refused.empty(); }))
    std::rethrow_exception(refused);
}

Rehearsal rehearse(Context& context, const EvaluateOptions& options) {
  Rehearsal done;
  done.spins = read_spins(context, options);
  const auto seconds = [](const auto& action) {
    const auto start = Clock::now();
    const std::clock_t cpu = std::clock();
    action();
    return std::min(std::chrono::duration<double>(Clock::now() - start).count(),
                    static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  };
  Way way;
  done.basis_seconds = seconds([&] { way = choose_way(context, options, done.spins, nullptr, true, {}); });
  done.why_dense = way.why_dense;
  if (std::all_of(done.why_dense.begin(), done.why_dense.end(), [](const auto& why) { return why.empty(); }))
    done.thresholds_seconds = seconds([&] {
      for (const double threshold : options.method.thresholds)
        static_cast<void>(evaluate_threshold(context, options, done.spins, way, nullptr, threshold, false));
    });
  done.bases = std::move(way.bases);
  return done;
}

}  // namespace quintet::submatrix
