#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/file.hpp"
#include "surrogates/reinforcement/actor_critic.hpp"

namespace quintet::reinforcement {

/// A policy as it lies in a file: schema `quintet_policy`, version 1.
struct PolicyFile {
  PolicyShape shape;
  std::vector<float> parameters;
  /// What the world was that it was learned in, and what it sees and does there: names and numbers.
  std::vector<std::pair<std::string, double>> world;
  /// Of the episodes' beginnings that it learned from; empty: an older file does not say.
  std::vector<std::int64_t> seeds{};

  /// Throws InputError where there is none of this name.
  [[nodiscard]] double number(const std::string& name) const;
};

/// Written under a temporary name, then renamed. Collective.
void save_policy(const Comm& comm, const std::string& path, const PolicyFile& policy,
                 const hdf5::Provenance& provenance);
/// Throws InputError for what is no policy, or not whole. Collective.
[[nodiscard]] PolicyFile load_policy(const Comm& comm, const std::string& path);
/// The network of it.
[[nodiscard]] ActorCritic network_of(const PolicyFile& policy);

}  // namespace quintet::reinforcement
