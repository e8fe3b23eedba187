#include <cstdio>

#include <gtest/gtest.h>

#include "io/config/table.hpp"
#include "io/hdf5/file.hpp"
#include "surrogates/search/search.hpp"
#include "tests/support/scratch.hpp"

/// What the methods find, on a landscape like that of recurrent networks: widths, skips, and pairs of both
/// that matter only together.
namespace quintet::search {
namespace {

Space networks() {
  std::vector<Gene> genes;
  for (int node = 1; node <= 5; ++node)
    genes.push_back({"node " + std::to_string(node), {"identity", "16", "32", "48", "64", "80", "96"}});
  for (int skip = 1; skip <= 9; ++skip) genes.push_back({"skip " + std::to_string(skip), {"off", "on"}});
  return Space(genes);
}

Outcome landscape(const Trial& trial, Progress&) {
  const auto& g = trial.genes;
  double value = 1;
  for (int node = 0; node < 5; ++node) {
    const double width = g[node] / 6.0;
    value -= 0.1 * (width - 0.8) * (width - 0.8);
    // A skip round a wide node helps, round a narrow one it harms.
    value += 0.02 * (g[5 + node] == 1 ? width - 0.5 : 0.0);
  }
  for (std::size_t skip = 5; skip + 1 < g.size(); ++skip) value -= 0.02 * (g[skip] == g[skip + 1]);
  Draws noise(trial.seed, Stream::trial_seed, 1);
  Outcome outcome;
  outcome.objective = value + 0.01 * (noise.uniform() - 0.5);
  return outcome;
}

double mean_best(MethodKind method) {
  const Scratch scratch("search_methods");
  double mean = 0;
  for (const int seed : {1, 2, 3}) {
    SearchOptions options;
    options.method = method;
    options.trials = 500;
    options.seed = seed;
    options.workers.kind = WorkerKind::in_place;
    Search search(Comm::self(), {networks(), landscape}, options, scratch / "trials.h5", false,
                  hdf5::current_provenance());
    while (!search.finished()) search.advance();
    mean += search.status().best_objective / 3;
    std::printf("%s, seed %d: best %.4f after %d evaluations, %d repeated\n", row_of(methods, method).name,
                seed, search.status().best_objective, static_cast<int>(search.status().evaluations),
                static_cast<int>(search.status().repeated));
  }
  return mean;
}

TEST(SearchMethods, evolution_and_reinforcement_are_better_than_random_after_500_trials) {
  const double random = mean_best(MethodKind::random);
  // The three are deterministic: no luck is left in this.
  EXPECT_GT(mean_best(MethodKind::evolution), random + 0.01);
  EXPECT_GT(mean_best(MethodKind::reinforcement), random);
}

}  // namespace
}  // namespace quintet::search
