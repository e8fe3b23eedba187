#include "apps/submatrix/plan/cost.hpp"

#include <algorithm>
#include <numeric>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/electronic/submatrix/submatrix_plan.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

/// A of a spin as it is filtered at one threshold.
struct Filtered {
  BlockMatrix a;
  SubmatrixOptions options;
};

std::vector<Filtered> filtered_of(const EvaluateOptions& options, const Rehearsal& run) {
  std::vector<Filtered> all;
  for (std::size_t s = 0; s < run.spins.size(); ++s)
    for (const double threshold : options.method.thresholds) {
      all.push_back({run.bases[s].a, submatrix_options(options, threshold, run.spins[s].electrons)});
      filter(all.back().a, threshold);
    }
  return all;
}

/// The shares of p ranks, as share_by_cost() makes them.
std::vector<int> shares_of(const EvaluateOptions& options, const Spin& spin, int p) {
  const auto& thresholds = options.method.thresholds;
  const auto costs = predicted_costs(
      spin.system.k,
      submatrix_options(options, *std::min_element(thresholds.begin(), thresholds.end()), spin.electrons));
  return share_columns(p, spin.system.blocking(), costs);
}

/// The rank with most work, and the one that sends most.
planning::StepCost row_of(const EvaluateOptions& options, const Rehearsal& run,
                          const std::vector<Filtered>& filtered, int p, double base, double held) {
  const Blocking& blocking = run.spins.front().system.blocking();
  planning::StepCost row{.ranks = p,
                         .decomposition = p == 1 ? "block columns" : "block columns; words: of A alone"};
  if (p > blocking.n_blocks()) {
    row.impossible =
        fmt::format("{} share {}", counted(p, "rank"), counted(blocking.n_blocks(), "block column"));
    return row;
  }
  const auto shares = shares_of(options, run.spins.front(), p);
  const double n = options.method.thresholds.size();
  std::vector<double> seconds(p, 0.0), bytes = seconds;
  for (const auto& [a, chosen] : filtered) {
    const auto needs = submatrix_needs(a, chosen, shares);
    for (std::size_t rank = 0; rank < needs.size(); ++rank) {
      seconds[rank] += needs[rank].seconds;
      bytes[rank] += needs[rank].bytes_sent;
    }
  }
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0),
               most = *std::max_element(seconds.begin(), seconds.end());
  row.work = blocking.n_blocks() * most / all;
  // A part stays whole on each rank: what it gathers of others, and what reading left.
  constexpr double whole = 0.2;
  row.memory = base + held * (whole + (1 - whole) * most / all) + 0.5 * bytes_of_files +
               (p > 1 ? bytes_of_messages : 0);
  if (p == 1) return row;
  // Each gather() is three exchanges with all others.
  row.halo = {3.0 * (p - 1) * double(run.spins.size()), *std::max_element(bytes.begin(), bytes.end()) / n};
  return row;
}

}  // namespace

planning::CostModel cost(Context& context, const EvaluateOptions& options, const std::vector<int>& ranks) {
  const Comm& comm = context.comm();
  QUINTET_CHECK(comm.size() == 1, "steps are timed on one rank, but {} were started", comm.size());
  QUINTET_CHECK(options.device == Device::cpu || options.device == Device::automatic,
                "device: the cost of runs on a device is not known; expected device: cpu");
  const double base = 1e6 * peak_memory_mb();
  comm.reset_counters();
  Rehearsal run = rehearse(context, options);
  for (const auto& why : run.why_dense)
    QUINTET_CHECK(
        why.empty(),
        "the cost of a dense diagonalisation on several ranks is not known, and there would be one: {}; "
        "method.dense: never plans submatrices",
        why);
  const double held = 1e6 * peak_memory_mb() - base;
  const double n = options.method.thresholds.size();
  const auto& sums = comm.counter(Comm::Call::reduce);
  const planning::Traffic sums_of_step{double(sums.messages) / n, double(sums.bytes) / n};
  constexpr double short_seconds = 0.5;  // shorter runs are made three times: the first one warms up
  for (int i = 0; i < 2 && run.basis_seconds + run.thresholds_seconds < short_seconds; ++i) {
    const Rehearsal again = rehearse(context, options);
    run.basis_seconds = std::min(run.basis_seconds, again.basis_seconds);
    run.thresholds_seconds = std::min(run.thresholds_seconds, again.thresholds_seconds);
  }

  const Blocking& blocking = run.spins.front().system.blocking();
  planning::CostModel model{.what = fmt::format("{} in {}, {:g} thresholds; a step is one of them",
                                                counted(blocking.n_rows(), "orbital"),
                                                counted(blocking.n_blocks(), "block column"), n),
                            .unit = "block column",
                            .work = double(blocking.n_blocks()),
                            .steps = n};
  model.rate.per_unit = (run.basis_seconds + run.thresholds_seconds) / n / model.work;
  model.rate.timed = fmt::format(
      "the whole run on one rank; what S^-1/2, D and the estimates of errors send is not counted, so times "
      "of "
      "several ranks are lower bounds");
  const auto filtered = filtered_of(options, run);
  const auto finest = std::min_element(filtered.begin(), filtered.end(), [](const auto& x, const auto& y) {
    return x.options.threshold < y.options.threshold;
  });
  model.output = double(options.output.matrices.size() * options.output.formats.size() * run.spins.size()) *
                 finest->a.bytes();
  for (const int p : ranks) {
    auto row = row_of(options, run, filtered, p, base, held);
    row.sums = sums_of_step;
    model.rows.push_back(row);
  }
  return model;
}

}  // namespace quintet::submatrix
