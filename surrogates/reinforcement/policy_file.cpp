#include "surrogates/reinforcement/policy_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string_view>

#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/reinforcement/ppo.hpp"
#include "surrogates/reinforcement/soft_actor_critic.hpp"

namespace quintet::reinforcement {

namespace {

constexpr const char* schema = "quintet_policy";
constexpr int version = 1;
constexpr std::int64_t most_units = 100000;
constexpr std::string_view kind_names[] = {"choice", "continuous", "squashed"};  // in the order of ActionKind

int count_attribute(const hdf5::Group& group, const std::string& name, const std::string& path) {
  const std::int64_t n = group.integer_attribute(name);
  QUINTET_CHECK(n >= 1 && n <= most_units, "{}: {} = {}; expected 1 to {}", path, name, n, most_units);
  return n;
}

}  // namespace

double PolicyFile::number(const std::string& name) const {
  for (const auto& [key, value] : world)
    if (key == name) return value;
  throw InputError(
      fmt::format("a policy whose world has no {}: it was learned in another kind of world", name));
}

void save_policy(const Comm& comm, const std::string& path, const PolicyFile& policy,
                 const hdf5::Provenance& provenance) {
  const std::string temporary = path + ".tmp";
  hdf5::File file = hdf5::File::create(comm, temporary);
  hdf5::write_header(file.root(), schema, version, provenance);
  hdf5::Group group = file.root().group("policy");
  const PolicyShape& shape = policy.shape;
  group.set_attribute("observed", shape.n_observed);
  group.set_attribute("actions", shape.n_actions);
  group.set_attribute("kind", std::string(kind_names[static_cast<std::size_t>(shape.kind)]));
  group.set_attribute("widths", std::vector<std::int64_t>(shape.widths.begin(), shape.widths.end()));
  group.write<float>(
      "parameters", policy.parameters, {policy.parameters.size()},
      {"1", {"parameter"}, "Weights of policy and value, logarithms of deviations; squashed: of the policy"});
  std::vector<std::string> names;
  std::vector<double> numbers;
  for (const auto& [name, number] : policy.world) names.push_back(name), numbers.push_back(number);
  hdf5::Group world = file.root().group("world");
  world.set_attribute("names", names);
  world.set_attribute("numbers", numbers);
  if (!policy.seeds.empty()) world.set_attribute("seeds", policy.seeds);
  file.close();
  on_root(comm, [&] { std::filesystem::rename(temporary, path); });
}

PolicyFile load_policy(const Comm& comm, const std::string& path) {
  const hdf5::File file = hdf5::open_verified(comm, path);
  hdf5::check_header(file, schema, version);
  file.check_attributes();
  const hdf5::Group group = file.root().open_group("policy"), world = file.root().open_group("world");
  PolicyFile policy;
  policy.shape.n_observed = count_attribute(group, "observed", path);
  policy.shape.n_actions = count_attribute(group, "actions", path);
  const std::string kind = group.text_attribute("kind");
  const auto found = std::find(std::begin(kind_names), std::end(kind_names), kind);
  QUINTET_CHECK(found != std::end(kind_names),
                "{}: actions of kind '{}'; expected choice, continuous or squashed", path, kind);
  policy.shape.kind = static_cast<ActionKind>(found - std::begin(kind_names));
  policy.shape.widths.clear();
  for (const double width : group.number_attribute("widths")) {
    QUINTET_CHECK(width >= 1 && width <= most_units && width == std::floor(width),
                  "{}: a layer of {} units; expected whole numbers from 1 to {}", path, width, most_units);
    policy.shape.widths.push_back(width);
  }
  const auto names = world.texts_attribute("names");
  const auto numbers = world.number_attribute("numbers");
  QUINTET_CHECK(names.size() == numbers.size(), "{}: {} names and {} numbers of its world", path,
                names.size(), numbers.size());
  for (std::size_t i = 0; i < names.size(); ++i) policy.world.emplace_back(names[i], numbers[i]);
  if (world.has_attribute("seeds"))
    for (const double seed : world.number_attribute("seeds")) {
      QUINTET_CHECK(std::abs(seed) < 9e15 && seed == std::floor(seed),
                    "{}: a seed of {}; expected whole numbers", path, seed);
      policy.seeds.push_back(seed);
    }
  // The size before the numbers: a network of this shape may be larger than any file.
  policy.parameters = group.read<float>(
      "parameters", {policy.shape.kind == ActionKind::squashed ? SquashedPolicy::n_parameters(policy.shape)
                                                               : ActorCritic::n_parameters(policy.shape)});
  QUINTET_CHECK(std::all_of(policy.parameters.begin(), policy.parameters.end(),
                            [](float p) { return std::isfinite(p); }),
                "{}: a weight of the policy is not finite", path);
  return policy;
}

ActorCritic network_of(const PolicyFile& policy) {
  ActorCritic network(policy.shape, 0);
  std::copy(policy.parameters.begin(), policy.parameters.end(), network.parameters().begin());
  network.refresh();
  return network;
}

Act acting(const PolicyFile& policy, int agents) {
  if (policy.shape.kind == ActionKind::squashed) {
    auto network = std::make_shared<SquashedPolicy>(policy.shape, 0);
    network->refresh(policy.parameters);
    return [network, agents](std::span<const float> observed, std::span<float> actions) {
      network->best(turned(observed, network->shape().n_observed, agents), actions);
    };
  }
  auto network = std::make_shared<ActorCritic>(network_of(policy));
  return [network, act = greedy(*network, agents)](std::span<const float> observed,
                                                   std::span<float> actions) { act(observed, actions); };
}

}  // namespace quintet::reinforcement
