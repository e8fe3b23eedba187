#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/reinforcement/actor_critic.hpp"
#include "surrogates/reinforcement/agents.hpp"

namespace quintet::reinforcement {

/// A policy as it lies in a file: schema `quintet_policy`, version 1.
struct PolicyFile {
  PolicyShape shape;
  std::vector<float> parameters;
  /// World in which it was learned, with its observations and actions: names and numbers.
  std::vector<std::pair<std::string, double>> world;
  /// Seeds of the starts of the episodes that it learned from; empty: an older file does not say.
  std::vector<std::int64_t> seeds{};

  /// Number of this name in `world`. Throws InputError if it is absent.
  [[nodiscard]] double number(const std::string& name) const;
};

/// Written under a temporary name, then renamed. Collective.
void save_policy(const Comm& comm, const std::string& path, const PolicyFile& policy,
                 const hdf5::Provenance& provenance);
/// Load a policy. Throws InputError if the file is not a policy, or is damaged. Collective.
[[nodiscard]] PolicyFile load_policy(const Comm& comm, const std::string& path);
/// The network of it, unless it is squashed.
[[nodiscard]] ActorCritic network_of(const PolicyFile& policy);
/// Its likeliest actions, for agents that share it.
[[nodiscard]] Act acting(const PolicyFile& policy, int agents);

}  // namespace quintet::reinforcement
