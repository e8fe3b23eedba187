#include "apps/podlstm/search/cost.hpp"

#include <algorithm>
#include <cmath>

#include <Kokkos_Core.hpp>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/podlstm/search/candidates.hpp"
#include "apps/podlstm/search/sight.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/search/store.hpp"

namespace quintet::podlstm {
namespace {

constexpr int fewest_drawn = 8, most_drawn = 64;  ///< candidates that are timed
constexpr double timing_s = 20;
/// What a rank writes anew while its workers keep what it was when they were forked (bytes); measured, see
/// docs/measured.md.
constexpr double bytes_rewritten = 8e6;

/// Candidates that are trained for so many epochs.
Candidates candidates_of(const Sight& sight, const SearchInput& input, std::int64_t epochs) {
  auto forecast = input.candidate.forecast;
  forecast.training.epochs = epochs;
  forecast.training.patience = 0;
  return {input.space, forecast,
          make_training_set(sight.series, sight.split, input.split.irregular, forecast, input.references),
          sight.truth, ""};
}

/// Seconds of a candidate's evaluation.
double seconds_of(const search::Problem& problem, const search::Trial& trial) {
  const auto evaluate = [&] {
    search::Progress progress({{}, static_cast<std::size_t>(problem.most_epochs), 0, {}});
    static_cast<void>(problem.evaluate(trial, progress));
  };
  return time_steps(evaluate, 0, 1, 1).median;
}

}  // namespace

planning::CostModel search_cost(Context& context, const SearchInput& input, const std::vector<int>& ranks) {
  const auto& comm = context.comm();
  QUINTET_CHECK(comm.size() == 1, "steps are timed on one rank, but {} were started", comm.size());
  const auto modes = ocean::read_modes(comm, input.modes);
  const auto sight = sight_of(modes, input);
  const auto one = candidates_of(sight, input, 1), three = candidates_of(sight, input, 3);
  const auto short_problem = one.problem(), long_problem = three.problem();
  const double before = 1e6 * peak_memory_mb();

  const double epochs = input.candidate.forecast.training.epochs;
  double sum = 0, squares = 0, largest = 0;
  int drawn = 0;
  for (const Kokkos::Timer timer; drawn < fewest_drawn || (drawn < most_drawn && timer.seconds() < timing_s);
       ++drawn) {
    search::Draws draws(input.search.seed, search::Stream::proposal, drawn);
    search::Trial trial;
    trial.genes = short_problem.space.sample(draws);
    const double first = seconds_of(short_problem, trial),
                 epoch = std::max(0.0, (seconds_of(long_problem, trial) - first) / 2);
    const double seconds = first + (epochs - 1) * epoch;
    sum += seconds, squares += seconds * seconds;
    largest = std::max(largest, double(graph_of(one.network(trial.genes)).n_parameters));
  }
  const double mean = sum / drawn, deviation = std::sqrt(std::max(0.0, squares / drawn - mean * mean));
  const double memory = 1e6 * peak_memory_mb();

  const auto& workers = input.search.workers;
  const bool processes = workers.kind == search::WorkerKind::processes;
  const int a_rank = !processes ? 1 : workers.per_rank > 0 ? workers.per_rank : context.threads().per_rank;
  const auto trials = static_cast<double>(input.search.trials);
  planning::CostModel model{
      .what = fmt::format("{} of up to {:.0f} epochs, {} a rank; a step is a trial, and the judgement of the "
                          "best comes on top",
                          counted(input.search.trials, "trial"), epochs, counted(a_rank, "worker")),
      .unit = "trial",
      .work = std::ceil(trials / a_rank) / trials,
      .steps = trials};
  model.rate = {
      .per_unit = mean,
      .spread = mean > 0 ? deviation / mean : 0,
      .timed = fmt::format("{} drawn at random, for 1 and 3 epochs each", counted(drawn, "candidate"))};
  model.output =
      search::store_bytes(input.search.trials,
                          {long_problem.space, "", static_cast<std::size_t>(epochs), long_problem.facts}) +
      8 * largest * input.retrain.members;
  for (const int p : ranks) {
    planning::StepCost row{.ranks = p,
                           .decomposition = counted(p * a_rank, "worker"),
                           .work = std::ceil(trials / (static_cast<double>(p) * a_rank)) / trials,
                           // A worker shares its parent's pages until one of them writes.
                           .memory = memory + bytes_of_files + a_rank * (memory - before) +
                                     (processes ? bytes_rewritten : 0) + (p > 1 ? bytes_of_messages : 0)};
    if (p * a_rank > trials)
      row.impossible = fmt::format("{} workers share {}: what is more stays idle", p * a_rank,
                                   counted(input.search.trials, "trial"));
    model.rows.push_back(row);
  }
  return model;
}

}  // namespace quintet::podlstm
