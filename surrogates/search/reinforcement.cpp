#include <algorithm>
#include <map>
#include <vector>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "surrogates/search/method.hpp"
#include "surrogates/training/optimiser.hpp"

namespace quintet::search {

namespace {

/// Agents that share one policy. Each draws `batch` candidates; their rewards give PPO's gradient, of which
/// several steps of Adam are taken. Synchronous: all agents' gradients, each with its own advantages, are
/// averaged; nobody draws before the last trial of the round has ended. Asynchronous: an agent learns and
/// draws again as soon as its own have.
///
/// The reward is the objective, not below -1 (R2 has no lower bound); a trial without an objective has the
/// reward -1. Source: Balaprakash et al. 2019 (SC19), section 3.3; Schulman et al. 2017 (arXiv 1707.06347).
class Reinforcement final : public Method {
 public:
  Reinforcement(const Space& space, const ReinforcementOptions& options, std::uint64_t seed)
      : options_(options),
        seed_(seed),
        policy_(space, options.hidden, seed),
        agents_(options.agents),
        moment1_(policy_.parameters().size()),
        moment2_(policy_.parameters().size()) {}

  std::optional<Proposal> ask(std::int64_t id) override {
    const auto agent = std::find_if(agents_.begin(), agents_.end(),
                                    [&](const Agent& a) { return a.drawn < options_.batch; });
    if (agent == agents_.end()) return std::nullopt;
    Draws draws(seed_, Stream::proposal, id);
    Episode episode = policy_.draw(draws);
    const Proposal proposal{episode.genes};
    ++agent->drawn;
    under_way_[id] = {static_cast<std::size_t>(agent - agents_.begin()), std::move(episode)};
    return proposal;
  }

  void tell(const Trial& trial, const Outcome& outcome) override {
    const auto found = under_way_.find(trial.id);
    if (found == under_way_.end()) throw InternalError(fmt::format("trial {} was not asked for", trial.id));
    auto& [number, episode] = found->second;
    episode.reward = outcome.counts() ? std::max(outcome.objective, -1.0) : -1.0;
    Agent& agent = agents_[number];
    agent.episodes.push_back(std::move(episode));
    under_way_.erase(found);
    const auto is_full = [&](const Agent& a) {
      return static_cast<int>(a.episodes.size()) == options_.batch;
    };
    if (options_.update == Update::asynchronous) {
      if (is_full(agent)) learn({&agent});
      return;
    }
    if (!std::all_of(agents_.begin(), agents_.end(), is_full)) return;
    std::vector<Agent*> all;
    for (auto& a : agents_) all.push_back(&a);
    learn(all);
  }

 private:
  struct Agent {
    int drawn = 0;                  ///< in this round
    std::vector<Episode> episodes;  ///< that have ended, in order of ending
  };

  void learn(const std::vector<Agent*>& agents) {
    std::vector<double> gradient(policy_.parameters().size());
    std::vector<std::vector<double>> advantages;
    for (const Agent* agent : agents) advantages.push_back(standardised_advantages(agent->episodes));
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      for (std::size_t a = 0; a < agents.size(); ++a)
        policy_.ppo_loss(agents[a]->episodes, advantages[a], options_.ppo, gradient);
      for (double& g : gradient) g /= agents.size();
      optimiser_step<double>({}, ++steps_, options_.learning_rate,
                             {policy_.parameters(), gradient, {moment1_, moment2_}});
    }
    for (Agent* agent : agents) *agent = {};
  }

  ReinforcementOptions options_;
  std::uint64_t seed_;
  Policy policy_;
  std::vector<Agent> agents_;
  std::map<std::int64_t, std::pair<std::size_t, Episode>>
      under_way_;  ///< by trial: its agent, what was drawn
  std::vector<double> moment1_, moment2_;
  std::int64_t steps_ = 0;
};

}  // namespace

void describe(Schema& schema, ReinforcementOptions& options) {
  schema.integer("agents", options.agents, "Agents that share one policy").at_least(1).at_most(100000);
  schema.integer("batch", options.batch, "Trials of an agent between updates").at_least(1).at_most(100000);
  schema.choice("update", options.update, choices_of(updates),
                "All agents together, for which workers wait, or each when its own trials have ended");
  schema.integer("hidden", options.hidden, "Hidden units of the policy").at_least(1).at_most(10000);
  schema.integer("epochs", options.epochs, "Steps of Adam an update").at_least(1).at_most(10000);
  schema.number("learning_rate", options.learning_rate, "Of Adam").above(0).at_most(10);
  schema.number("clip", options.ppo.clip, "How far the ratio of probabilities may go from 1")
      .above(0)
      .below(1);
  schema.number("value", options.ppo.value, "Weight of the squared error of the expected reward").at_least(0);
  schema.number("entropy", options.ppo.entropy, "Weight of the entropy").at_least(0);
}

std::unique_ptr<Method> make_reinforcement(const Space& space, const MethodOptions& options,
                                           std::uint64_t seed) {
  return std::make_unique<Reinforcement>(space, options.reinforcement, seed);
}

}  // namespace quintet::search
