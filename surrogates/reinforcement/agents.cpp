#include "surrogates/reinforcement/agents.hpp"

#include <algorithm>
#include <numeric>

#include "io/log/error.hpp"

namespace quintet::reinforcement {

void turn(std::span<const float> observed, int agents, float* seen) {
  const auto block = std::ssize(observed) / agents;
  for (int s = 0; s < agents; ++s, seen += observed.size())
    std::rotate_copy(observed.begin(), observed.begin() + s * block, observed.end(), seen);
}

void check_agents(const environments::EnvironmentPool& pool, int n_observed, int action_size, int agents) {
  QUINTET_CHECK(agents >= 1 && pool.n_observed() % agents == 0,
                "{} agents share an observation of {} numbers; expected equal blocks", agents,
                pool.n_observed());
  QUINTET_CHECK(n_observed == pool.n_observed() && action_size * agents == pool.n_actions(),
                "a policy of {} observations and {} actions for {} agents; the environments have {} and {}",
                n_observed, action_size, agents, pool.n_observed(), pool.n_actions());
  QUINTET_CHECK(pool.synchronous(), "a policy is learned in a pool whose batches have all {} environments",
                pool.size());
}

std::vector<float> turned(std::span<const float> observed, int n_observed, int agents) {
  const std::size_t o = n_observed, n = observed.size() / o, each = agents;
  std::vector<float> seen(n * each * o);
  for (std::size_t e = 0; e < n; ++e) turn(observed.subspan(e * o, o), agents, &seen[e * each * o]);
  return seen;
}

std::vector<int> all_of(const environments::EnvironmentPool& pool) {
  std::vector<int> ids(pool.size());
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace quintet::reinforcement
