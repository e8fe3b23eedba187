#include "surrogates/search/method.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "io/config/table.hpp"
#include "io/log/error.hpp"

namespace quintet::search {
namespace {

Space bits(int n) {
  std::vector<Gene> genes;
  for (int g = 0; g < n; ++g) genes.push_back({"g" + std::to_string(g), {"0", "1", "2"}});
  return Space(genes);
}

Outcome ended(double objective) {
  Outcome outcome;
  outcome.state = std::isfinite(objective) ? TrialState::done : TrialState::failed;
  outcome.objective = objective;
  return outcome;
}

Trial trial_of(std::int64_t id, const Proposal& proposal) {
  Trial trial;
  trial.id = id;
  trial.genes = proposal.genes;
  trial.parent = proposal.parent;
  return trial;
}

MethodOptions evolution(int population, int sample) {
  MethodOptions options;
  options.evolution = {population, sample};
  return options;
}

int distance(const Genes& a, const Genes& b) {
  int n = 0;
  for (std::size_t g = 0; g < a.size(); ++g) n += a[g] != b[g];
  return n;
}

TEST(Evolution, is_random_until_the_population_is_full) {
  const Space space = bits(6);
  const auto method = make_evolution(space, evolution(4, 2), 1), random = make_random_search(space, {}, 1);
  for (std::int64_t id = 0; id < 4; ++id) {
    const auto proposal = method->ask(id);
    EXPECT_EQ(proposal->genes, random->ask(id)->genes);
    EXPECT_EQ(proposal->parent, -1);
    method->tell(trial_of(id, *proposal), ended(id));
  }
  EXPECT_GE(method->ask(4)->parent, 0);
}

TEST(Evolution, a_child_has_one_gene_other_than_its_parent) {
  const Space space = bits(6);
  const auto method = make_evolution(space, evolution(5, 2), 2);
  std::vector<Proposal> all;
  for (std::int64_t id = 0; id < 200; ++id) {
    all.push_back(*method->ask(id));
    if (id >= 5) {
      EXPECT_EQ(distance(all.back().genes, all[all.back().parent].genes), 1);
    }
    method->tell(trial_of(id, all.back()), ended(std::sin(static_cast<double>(id))));
  }
}

TEST(Evolution, with_a_sample_of_all_the_parent_is_the_best_alive_and_the_oldest_dies) {
  const auto method = make_evolution(bits(6), evolution(5, 5), 3);
  // Objectives fall: the best is the oldest, which leaves as the next one joins.
  std::vector<Proposal> all;
  for (std::int64_t id = 0; id < 40; ++id) {
    all.push_back(*method->ask(id));
    if (id >= 5) {
      EXPECT_EQ(all.back().parent, id - 5) << "trial " << id;
    }
    method->tell(trial_of(id, all.back()), ended(-static_cast<double>(id)));
  }
}

TEST(Evolution, age_counts_from_the_end_of_a_trial_not_from_its_proposal) {
  const auto method = make_evolution(bits(6), evolution(2, 2), 3);
  const auto slow = *method->ask(0), a = *method->ask(1), b = *method->ask(2);
  method->tell(trial_of(1, a), ended(5));
  method->tell(trial_of(2, b), ended(4));
  method->tell(trial_of(0, slow), ended(3));  // now 1, the best, is the oldest and gone
  EXPECT_EQ(method->ask(3)->parent, 2);
}

TEST(Evolution, a_tournament_draws_different_members) {
  // Two of three without replacement: the worst is never a parent, the best in two of three tournaments.
  const auto method = make_evolution(bits(6), evolution(3, 2), 4);
  for (std::int64_t id = 0; id < 3; ++id) method->tell(trial_of(id, *method->ask(id)), ended(id));
  std::vector<int> parents(3);
  for (std::int64_t id = 3; id < 3003; ++id) ++parents[method->ask(id)->parent];
  EXPECT_EQ(parents[0], 0);
  EXPECT_NEAR(parents[2], 2000, 110);
  EXPECT_NEAR(parents[1], 1000, 110);
}

TEST(Evolution, failures_do_not_join) {
  const auto method = make_evolution(bits(6), evolution(2, 2), 5);
  for (std::int64_t id = 0; id < 10; ++id) method->tell(trial_of(id, *method->ask(id)), ended(std::nan("")));
  EXPECT_EQ(method->ask(10)->parent, -1);
  EXPECT_THROW((void)make_evolution(bits(2), evolution(3, 4), 1), InputError);
}

/// Trials by number from a method that is told at once.
std::vector<Genes> run(Method& method, std::int64_t n, const std::function<double(const Genes&)>& objective) {
  std::vector<Genes> all;
  for (std::int64_t id = 0; id < n; ++id) {
    const auto proposal = method.ask(id);
    all.push_back(proposal->genes);
    method.tell(trial_of(id, *proposal), ended(objective(proposal->genes)));
  }
  return all;
}

double ones(const Genes& genes) {
  return static_cast<double>(std::count(genes.begin(), genes.end(), 1)) / genes.size();
}

TEST(Methods, all_repeat_themselves_with_a_seed_and_not_with_another) {
  const Space space = bits(6);
  MethodOptions options = evolution(10, 3);
  for (const auto& row : methods) {
    const auto first = run(*row.make(space, options, 1), 60, ones);
    EXPECT_EQ(first, run(*row.make(space, options, 1), 60, ones)) << row.name;
    EXPECT_NE(first, run(*row.make(space, options, 2), 60, ones)) << row.name;
  }
}

TEST(Reinforcement, learns_which_choices_pay) {
  MethodOptions options;
  options.reinforcement.learning_rate = 0.02;
  for (const Update update : {Update::synchronous, Update::asynchronous}) {
    options.reinforcement.update = update;
    options.reinforcement.agents = 2;
    const auto method = make_reinforcement(bits(8), options, 3);
    const auto all = run(*method, 600, ones);
    double first = 0, last = 0;
    for (std::size_t i = 0; i < 20; ++i) {  // before the first update, and at the end
      first += ones(all[i]) / 20;
      last += ones(all[580 + i]) / 20;
    }
    EXPECT_NEAR(first, 1.0 / 3, 0.13);
    EXPECT_GT(last, 0.8);
  }
}

TEST(Reinforcement, synchronous_agents_wait_for_the_last_of_a_round) {
  MethodOptions options;
  options.reinforcement.agents = 2;
  options.reinforcement.batch = 3;
  const auto method = make_reinforcement(bits(4), options, 1);
  std::vector<Proposal> round;
  for (std::int64_t id = 0; id < 6; ++id) round.push_back(*method->ask(id));
  EXPECT_FALSE(method->ask(6));
  for (std::int64_t id = 5; id > 0; --id) {
    method->tell(trial_of(id, round[id]), ended(0.5));
    EXPECT_FALSE(method->ask(6)) << "trial " << id;
  }
  method->tell(trial_of(0, round[0]), ended(0.1));
  EXPECT_TRUE(method->ask(6));
  EXPECT_THROW(method->tell(trial_of(77, round[0]), ended(0.1)), InternalError);
}

TEST(Reinforcement, an_asynchronous_agent_waits_for_its_own_trials_alone) {
  MethodOptions options;
  options.reinforcement.agents = 2;
  options.reinforcement.batch = 2;
  options.reinforcement.update = Update::asynchronous;
  const auto method = make_reinforcement(bits(4), options, 1);
  std::vector<Proposal> all;
  for (std::int64_t id = 0; id < 4; ++id)
    all.push_back(*method->ask(id));  // 0, 1 of one agent; 2, 3 of the other
  EXPECT_FALSE(method->ask(4));
  method->tell(trial_of(2, all[2]), ended(0.5));
  EXPECT_FALSE(method->ask(4));
  method->tell(trial_of(3, all[3]), ended(0.7));
  EXPECT_TRUE(method->ask(4));
  EXPECT_TRUE(method->ask(5));
  EXPECT_FALSE(method->ask(6));
}

}  // namespace
}  // namespace quintet::search
