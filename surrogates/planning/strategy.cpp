#include "surrogates/planning/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "io/config/table.hpp"
#include "io/log/error.hpp"

namespace quintet::planning {
namespace {

/// Split of the network among p2 ranks.
enum class Split { nothing, space, weights };

int count(const Network& network) { return network.layers.size(); }

std::vector<bool> split_layers(const Job& job, Split what) {
  const auto& layers = job.network.layers;
  if (what == Split::nothing) return std::vector<bool>(layers.size(), false);
  if (!job.split.empty()) return job.split;
  std::vector<bool> split(layers.size(), false);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (what == Split::space && layers[l].width() == 1) break;
    split[l] = what == Split::space || layers[l].weights > 0;
  }
  return split;
}

/// Index of the last layer that is split; -1 if none is.
int last_split(const std::vector<bool>& split) {
  const auto last = std::find(split.rbegin(), split.rend(), true);
  return static_cast<int>(split.rend() - last) - 1;
}

double steps(const Job& job) {
  const double n = job.samples / job.batch;
  return job.rules.whole_steps ? std::ceil(n) : n;
}

/// Behind the last layer that counts.
int end_of(const Job& job, const std::vector<bool>& split) {
  return job.rules.forgets_tail ? last_split(split) + 1 : count(job.network);
}

/// Samples that a group of p2 ranks computes in an epoch.
double samples_of(const Job& job, const Parts& parts, Split what) {
  if (!job.rules.whole_steps) return job.samples / parts.data;
  return what == Split::weights ? steps(job) * job.batch / parts.data : std::ceil(job.samples / parts.data);
}

/// D/p1 sum t/p2 + D/B sum u/p2: t of a split layer is divided, u where its weights are.
double compute_split(const Job& job, const Parts& parts, Split what) {
  const auto split = split_layers(job, what);
  const auto shares = time_shares(job.network, job.rules.flops_of_authors);
  const double sample = job.network.forward_seconds + job.network.backward_seconds;
  const double all_weights = job.network.weights();
  double passes = 0, updates = 0;
  for (int l = 0; l < end_of(job, split); ++l) {
    const double p2 = split[l] ? parts.network : 1;
    passes += sample * shares[l] / p2;
    if (all_weights > 0)
      updates += job.network.update_seconds * job.network.layers[l].weights / all_weights /
                 (what == Split::weights ? p2 : 1);
  }
  return samples_of(job, parts, what) * passes + steps(job) * updates;
}

/// |w| of a rank.
double weights_of_rank(const Job& job, const Parts& parts, const std::vector<bool>& split, Split what) {
  double items = 0;
  for (std::size_t l = 0; l < split.size(); ++l)
    items += job.network.layers[l].weights / (what == Split::weights && split[l] ? parts.network : 1);
  return items;
}

/// |x| + |y| of a rank and sample.
double activations_of_rank(const Job& job, const Parts& parts, const std::vector<bool>& split, Split what) {
  const auto part = [&](double items) {
    const double share = items / parts.network;
    return job.rules.whole_steps ? std::ceil(share) : share;
  };
  double items = 0;
  for (int l = 0; l < end_of(job, split); ++l) {
    const auto& layer = job.network.layers[l];
    const bool forgotten = job.rules.forgets_rectifiers && what != Split::space &&
                           (layer.kind == LayerKind::rectifier || layer.kind == LayerKind::normalisation);
    if (forgotten) continue;
    if (what == Split::space && split[l])
      items += part(layer.x_items()) + part(layer.y_items());
    else
      items += layer.x_items() + layer.y_items();
  }
  return items;
}

/// 2 d (B/p1 sum (x + y) + sum w): values and gradients; the split ones divided by p2.
double memory_split(const Job& job, const Parts& parts, Split what) {
  const auto split = split_layers(job, what);
  double weights = weights_of_rank(job, parts, split, what);
  if (job.rules.divides_weights_twice) weights /= parts.network;
  const double activations = activations_of_rank(job, parts, split, what);
  return 2 * job.bytes_per_item * (job.batch / parts.data * activations + weights);
}

/// Adds what is sent in every step, `times` an epoch.
void add(Communication& sum, double times, const Traffic& traffic, const Link& link) {
  sum.traffic += times * traffic;
  sum.seconds += times * traffic.seconds(link);
}

Link among(const Job& job, double n_ranks) { return n_ranks > 1 ? job.links.among(n_ranks) : Link{}; }

/// The gradients of `items` weights, summed over the p1 groups.
void add_gradients(const Job& job, const Parts& parts, double items, Communication& sum) {
  if (parts.data <= 1) return;
  Link link = among(job, parts.ranks());
  link.beta *= parts.network > 1 ? job.contention : 1;
  add(sum, steps(job), ring_all_reduce(parts.data, job.bytes_per_item * items), link);
}

Communication communication_data(const Job& job, const Parts& parts) {
  Communication sum;
  add_gradients(job, parts, job.network.weights(), sum);
  return sum;
}

/// Each split layer but the network's last: y of all ranks gathered forward, dx summed backward.
///
///     3 (p2 - 1) (alpha + B/p1 |y|/p2 d beta)
///
/// A recurrent layer, also the last, sends so at each of its steps, |y| being one step's.
Communication communication_weights(const Job& job, const Parts& parts) {
  const auto split = split_layers(job, Split::weights);
  Communication sum;
  for (int l = 0; l < count(job.network); ++l) {
    const auto& layer = job.network.layers[l];
    const double meetings = layer.meetings();
    if (!split[l] || parts.network <= 1 || (l + 1 == count(job.network) && meetings == 1)) continue;
    const double bytes = job.bytes_per_item * job.batch / parts.data * layer.y_items() / meetings;
    add(sum, steps(job) * meetings, 3 * ring_all_gather(parts.network, bytes), among(job, parts.network));
  }
  const double weights = job.rules.reduces_whole_weights ? job.network.weights()
                                                         : weights_of_rank(job, parts, split, Split::weights);
  add_gradients(job, parts, weights, sum);
  return sum;
}

/// Items of a sample that one neighbour gets, forward and backward.
std::pair<double, double> halo_items(const Layer& layer, Rules::Halo kind) {
  const auto rim = layer.has_halo() ? static_cast<double>((layer.kernel.front() - 1) / 2) : 0.0;
  switch (kind) {
    case Rules::Halo::faces:
      return {layer.halo(layer.x), layer.halo(layer.y)};
    case Rules::Halo::input_faces:
      return {layer.halo(layer.x), layer.halo(layer.x)};
    case Rules::Halo::rows:
    case Rules::Halo::rows_of_one:
      return {rim * layer.y.at(1), rim * layer.x.at(1)};
  }
  throw InternalError("a halo without a formula");
}

/// To each neighbour, forward and backward: alpha + B/p1 halo d beta.
void add_halos(const Job& job, const Parts& parts, const std::vector<bool>& split, Communication& sum) {
  const Rules& rules = job.rules;
  const Link link = rules.halo_link ? *rules.halo_link : among(job, parts.network);
  const double neighbours = rules.halo == Rules::Halo::faces ? std::min(parts.network - 1, 2.0) : 2;
  const double samples = rules.halo == Rules::Halo::rows_of_one ? 1 : job.batch / parts.data;
  for (int l = 0; l <= last_split(split); ++l) {
    const auto& layer = job.network.layers[l];
    if (!layer.has_halo() || !(split[l] || rules.halo_of_whole_layers)) continue;
    const auto [forward, backward] = halo_items(layer, rules.halo);
    if (rules.halo == Rules::Halo::faces && forward == 0) continue;  // windows that do not overlap
    for (const double items : {forward, backward})
      add(sum, steps(job), neighbours * point_to_point(items * samples * job.bytes_per_item), link);
  }
}

/// Halos; y of the last split layer gathered, its dy in the backward pass; gradients summed in the group,
/// then over the groups.
Communication communication_space(const Job& job, const Parts& parts) {
  const auto split = split_layers(job, Split::space);
  const int last = last_split(split);
  Communication sum;
  if (parts.network > 1 && last >= 0) {
    add_halos(job, parts, split, sum);
    const double bytes = job.bytes_per_item * job.batch / parts.data * job.network.layers[last].y_items();
    const Link inner = among(job, parts.network);
    if (last + 1 < count(job.network))
      add(sum, steps(job),
          2 * ring_all_gather(parts.network, bytes * (job.rules.gathers_whole ? parts.network : 1)),
          job.rules.gather_link ? *job.rules.gather_link : inner);
    add(sum, steps(job), ring_all_reduce(parts.network, job.bytes_per_item * job.network.weights()), inner);
  }
  add_gradients(job, parts, job.network.weights(), sum);
  return sum;
}

// --- pipeline -----------------------------------------------------------------------------------------

struct Stage {
  double seconds = 0, update = 0;  ///< share of a sample's time; of an update
  double activations = 0, weights = 0;
  double sent = 0;  ///< items of a sample that go to the next stage
};

std::vector<Stage> stages_of(const Job& job, double p) {
  const auto shares = time_shares(job.network, job.rules.flops_of_authors);
  const auto begins = pipeline_stages(job.network, p);
  std::vector<Stage> stages(begins.size() - 1);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s)
    for (int l = begins[s]; l < begins[s + 1]; ++l) {
      const auto& layer = job.network.layers[l];
      const double weights = layer.weights;
      stages[s].seconds += shares[l];
      stages[s].weights += weights;
      stages[s].update += weights > 0 ? weights / job.network.weights() : 0;
      stages[s].activations += layer.x_items() + layer.y_items();
      stages[s].sent = s + 2 < begins.size() ? layer.y_items() + layer.beside : 0;
    }
  return stages;
}

template <class Value>
double largest(const std::vector<Stage>& stages, Value value) {
  double most = 0;
  for (const auto& stage : stages) most = std::max(most, value(stage));
  return most;
}

double compute_pipeline(const Job& job, const Parts& parts) {
  const auto stages = stages_of(job, parts.network);
  const double p = parts.network, parts_of_batch = job.micro_batches;
  const double sample = job.network.forward_seconds + job.network.backward_seconds;
  return job.samples * (p + parts_of_batch - 1) / parts_of_batch * sample *
             largest(stages, [](const Stage& stage) { return stage.seconds; }) +
         steps(job) * job.network.update_seconds *
             largest(stages, [](const Stage& stage) { return stage.update; });
}

Communication communication_pipeline(const Job& job, const Parts& parts) {
  const auto stages = stages_of(job, parts.network);
  Communication sum;
  if (parts.network <= 1) return sum;
  const double items = largest(stages, [](const Stage& stage) { return stage.sent; });
  const Traffic hop = point_to_point(job.batch / job.micro_batches * items * job.bytes_per_item);
  // Sent by a rank: every micro-batch forward and, by its other neighbour, backward. Waited for: those of the
  // bubble too.
  sum.traffic = steps(job) * (2 * job.micro_batches * hop);
  sum.seconds =
      2 * steps(job) * (parts.network + job.micro_batches - 2) * hop.seconds(among(job, parts.network));
  return sum;
}

double memory_pipeline(const Job& job, const Parts& parts) {
  return largest(stages_of(job, parts.network), [&](const Stage& stage) {
    return 2 * job.bytes_per_item * (job.batch * stage.activations + stage.weights);
  });
}

// --- limits -------------------------------------------------------------------------------------------

std::string limit_serial(const Job&, const Parts& parts) {
  return parts.ranks() > 1 ? "one rank does it all" : "";
}

std::string limit_data(const Job& job, const Parts& parts) {
  if (parts.data <= job.batch) return "";
  return fmt::format("{:g} parts of a batch of {:g} samples", parts.data, job.batch);
}

/// The least of a size of the split layers.
template <class Size>
std::string limit_split(const Job& job, const Parts& parts, Split what, const char* name, Size size) {
  const auto split = split_layers(job, what);
  if (parts.network <= 1) return "";
  const Layer* least = nullptr;
  for (std::size_t l = 0; l < split.size(); ++l)
    if (split[l] && (least == nullptr || size(job.network.layers[l]) < size(*least)))
      least = &job.network.layers[l];
  if (least == nullptr) return fmt::format("no layer has {} to split", name);
  if (parts.network <= static_cast<double>(size(*least))) return "";
  return fmt::format("{:g} parts of the {} {} of {}", parts.network, size(*least), name, least->name);
}

std::string limit_space(const Job& job, const Parts& parts) {
  return limit_split(job, parts, Split::space, "cells of width", [](const Layer& l) { return l.width(); });
}
std::string limit_filter(const Job& job, const Parts& parts) {
  return limit_split(job, parts, Split::weights, "filters", [](const Layer& l) { return l.y.at(0); });
}
std::string limit_channel(const Job& job, const Parts& parts) {
  return limit_split(job, parts, Split::weights, "channels", [](const Layer& l) { return l.x.at(0); });
}
std::string limit_pipeline(const Job& job, const Parts& parts) {
  if (job.micro_batches > job.batch)
    return fmt::format("{:g} micro-batches of a batch of {:g} samples", job.micro_batches, job.batch);
  if (parts.network <= count(job.network)) return "";
  return fmt::format("{:g} stages of {} layers", parts.network, count(job.network));
}

/// Limit of groups: they are whole, share the data, and each meets its own limit.
std::string limit_groups(const Job& job, const Parts& parts, std::string inner) {
  if (parts.data != std::floor(parts.data))
    return fmt::format("{:g} ranks are no multiple of groups of {:g}", parts.ranks(), parts.network);
  const auto outer = limit_data(job, parts);
  return outer.empty() ? inner : outer;
}

Parts all_data(double p, double) { return {p, 1}; }
Parts all_network(double p, double) { return {1, p}; }
Parts grouped(double p, double group) { return {p / group, group}; }

template <Split what>
double compute_of(const Job& job, const Parts& parts) {
  return compute_split(job, parts, what);
}
template <Split what>
double memory_of(const Job& job, const Parts& parts) {
  return memory_split(job, parts, what);
}

constexpr StrategyRow rows[] = {
    {Strategy::serial, "serial", "one rank", all_network, limit_serial, compute_of<Split::nothing>,
     [](const Job&, const Parts&) { return Communication{}; }, memory_of<Split::nothing>},
    {Strategy::data, "data", "each rank has samples of the batch; gradients are summed", all_data, limit_data,
     compute_of<Split::nothing>, communication_data, memory_of<Split::nothing>},
    {Strategy::spatial, "spatial",
     "each rank has a slab of every sample (the paper: bricks); faces are exchanged, gradients summed",
     all_network, limit_space, compute_of<Split::space>, communication_space, memory_of<Split::space>},
    {Strategy::filter, "filter", "each rank has filters of every layer; its outputs are gathered",
     all_network, limit_filter, compute_of<Split::weights>, communication_weights, memory_of<Split::weights>},
    {Strategy::channel, "channel", "each rank has input channels of every layer; its outputs are summed",
     all_network, limit_channel, compute_of<Split::weights>, communication_weights,
     memory_of<Split::weights>},
    {Strategy::pipeline, "pipeline", "each rank has layers; micro-batches go through all", all_network,
     limit_pipeline, compute_pipeline, communication_pipeline, memory_pipeline},
    {Strategy::data_and_filter, "data+filter", "groups of ranks split the filters, and share the data",
     grouped,
     [](const Job& job, const Parts& parts) { return limit_groups(job, parts, limit_filter(job, parts)); },
     compute_of<Split::weights>, communication_weights, memory_of<Split::weights>},
    {Strategy::data_and_spatial, "data+spatial", "groups of ranks split each sample, and share the data",
     grouped,
     [](const Job& job, const Parts& parts) { return limit_groups(job, parts, limit_space(job, parts)); },
     compute_of<Split::space>, communication_space, memory_of<Split::space>},
};

void check(const Job& job, double p) {
  QUINTET_CHECK(!job.network.layers.empty(), "a plan needs layers; the network has none");
  QUINTET_CHECK(job.samples > 0 && job.batch > 0, "a plan needs samples; there are {:g}, in batches of {:g}",
                job.samples, job.batch);
  QUINTET_CHECK(p >= 1 && p == std::floor(p), "a plan for {:g} ranks; expected a whole number", p);
  QUINTET_CHECK(job.micro_batches >= 1 && job.group >= 1,
                "{:g} micro-batches and groups of {:g}; expected 1 or more", job.micro_batches, job.group);
  QUINTET_CHECK(job.split.empty() || job.split.size() == job.network.layers.size(),
                "{} marks of split layers for {} layers", job.split.size(), job.network.layers.size());
}

}  // namespace

std::span<const StrategyRow> strategies() { return rows; }
const StrategyRow& row_of(Strategy strategy) { return quintet::row_of(rows, strategy); }

std::vector<int> pipeline_stages(const Network& network, int p) {
  const auto shares = time_shares(network, false);
  const int n = count(network);
  QUINTET_CHECK(p >= 1 && p <= n, "{} stages of {} layers", p, n);
  // best[k][l]: the slowest of k stages of the first l layers.
  std::vector<double> sums(n + 1, 0.0);
  std::partial_sum(shares.begin(), shares.end(), sums.begin() + 1);
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(p + 1, std::vector<double>(n + 1, never));
  std::vector<std::vector<int>> begin(p + 1, std::vector<int>(n + 1, 0));
  best[0][0] = 0;
  for (int k = 1; k <= p; ++k)
    for (int l = k; l <= n; ++l)
      for (int b = k - 1; b < l; ++b) {
        const double slowest = std::max(best[k - 1][b], sums[l] - sums[b]);
        if (slowest < best[k][l]) best[k][l] = slowest, begin[k][l] = b;
      }
  std::vector<int> begins(p + 1, n);
  for (int k = p; k > 0; --k) begins[k - 1] = begin[k][begins[k]];
  return begins;
}

Projection project(const Job& job, Strategy strategy, double p) {
  check(job, p);
  const auto& row = row_of(strategy);
  Projection result{.strategy = strategy, .parts = row.parts(p, job.group)};
  result.impossible = row.limit(job, result.parts);
  if (!result.impossible.empty()) return result;
  result.compute = row.compute(job, result.parts);
  result.memory = row.memory(job, result.parts);
  const auto [traffic, seconds] = row.communication(job, result.parts);
  result.traffic = traffic;
  result.communication = seconds;
  if (result.memory > job.memory)
    result.impossible =
        fmt::format("{:.3g} GB a rank, which has {:.3g} GB", result.memory / 1e9, job.memory / 1e9);
  return result;
}

std::vector<Projection> ranking(const Job& job, double p) {
  std::vector<Projection> all;
  for (const auto& row : rows) all.push_back(project(job, row.value, p));
  std::stable_sort(all.begin(), all.end(), [](const Projection& a, const Projection& b) {
    if (a.impossible.empty() != b.impossible.empty()) return a.impossible.empty();
    return a.impossible.empty() && a.seconds() < b.seconds();
  });
  return all;
}

const Projection* choice(std::span<const Projection> ranking) {
  return ranking.empty() || !ranking.front().impossible.empty() ? nullptr : &ranking.front();
}

}  // namespace quintet::planning
