#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "io/config/schema_fwd.hpp"
#include "surrogates/search/policy.hpp"
#include "surrogates/search/space.hpp"
#include "surrogates/search/trial.hpp"

namespace quintet::search {

struct Proposal {
  Genes genes;
  std::int64_t parent = -1;  ///< the trial it comes from, or -1
};

/// Proposes candidates and learns from what became of them. The objective is made large.
///
/// What it proposes depends on the seed and on the order of the calls of ask() and tell() alone: a recorded
/// order gives the same search again.
class Method {
 public:
  virtual ~Method() = default;
  /// A candidate to evaluate as trial `id`; nothing if trials must end before there can be one.
  [[nodiscard]] virtual std::optional<Proposal> ask(std::int64_t id) = 0;
  /// Tell the method the outcome of a trial that it proposed. `outcome.counts()` says whether there is an
  /// objective.
  virtual void tell(const Trial& trial, const Outcome& outcome) = 0;
};

enum class MethodKind { random, evolution, reinforcement };

/// Ageing evolution.
struct EvolutionOptions {
  int population = 100;
  int sample = 10;
};
void describe(Schema& schema, EvolutionOptions& options);

/// Time of the agents' updates.
enum class Update {
  synchronous,  ///< all agents together, when all trials of all of them have ended
  asynchronous  ///< each agent for itself, when its own have
};
struct UpdateRow {
  Update value;
  const char *name, *doc;
};
inline constexpr UpdateRow updates[] = {
    {Update::synchronous, "synchronous",
     "all agents together: workers wait for the slowest trial of a round"},
    {Update::asynchronous, "asynchronous", "each agent when its own trials have ended"},
};

/// Reinforcement learning.
struct ReinforcementOptions {
  int agents = 1;
  int batch = 10;  ///< trials of an agent between updates
  Update update = Update::synchronous;
  int hidden = 32;
  int epochs = 10;  ///< steps of Adam an update
  double learning_rate = 0.003;
  PpoOptions ppo;
};
void describe(Schema& schema, ReinforcementOptions& options);

struct MethodOptions {
  EvolutionOptions evolution;
  ReinforcementOptions reinforcement;
};

/// Every candidate is drawn uniformly.
[[nodiscard]] std::unique_ptr<Method> make_random_search(const Space& space, const MethodOptions& options,
                                                         std::uint64_t seed);
/// Ageing evolution: until `population` trials have ended candidates are drawn uniformly; then the best of
/// `sample` different members drawn from the population is copied with one gene changed. Each trial that ends
/// joins the population, and the member that joined first leaves it. Trials without an objective do not join.
///
/// Asynchronous: an ask uses the population as it is. Source: Real et al. 2019 (AAAI 33), algorithm 1; with
/// the sample drawn without replacement, as Maulik et al. 2020 (SC20).
[[nodiscard]] std::unique_ptr<Method> make_evolution(const Space& space, const MethodOptions& options,
                                                     std::uint64_t seed);
/// Proximal policy optimisation over the sequence of decisions, see reinforcement.cpp.
[[nodiscard]] std::unique_ptr<Method> make_reinforcement(const Space& space, const MethodOptions& options,
                                                         std::uint64_t seed);

struct MethodRow {
  MethodKind value;
  const char *name, *doc;
  std::unique_ptr<Method> (*make)(const Space&, const MethodOptions&, std::uint64_t seed);
};
inline constexpr MethodRow methods[] = {
    {MethodKind::random, "random", "uniform random candidates", make_random_search},
    {MethodKind::evolution, "evolution", "ageing evolution: the best of a sample, one gene changed",
     make_evolution},
    {MethodKind::reinforcement, "reinforcement",
     "reinforcement learning (PPO) over the sequence of decisions", make_reinforcement},
};

}  // namespace quintet::search
