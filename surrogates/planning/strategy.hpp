#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "surrogates/planning/network.hpp"
#include "surrogates/planning/rules.hpp"

namespace quintet::planning {

/// Ways to share the training of a network out over ranks.
enum class Strategy { serial, data, spatial, filter, channel, pipeline, data_and_filter, data_and_spatial };

/// Job of training: the network and its data.
struct Job {
  Network network{};
  double samples = 0;         ///< D, of an epoch
  double batch = 0;           ///< B, samples of a step, all ranks together
  double bytes_per_item = 4;  ///< d
  double micro_batches = 1;   ///< S, of a pipeline
  double group = 1;           ///< ranks that split a network where others split the data (p2)
  Links links{};
  double contention = 1;                                    ///< groups that share a link to others
  double memory = std::numeric_limits<double>::infinity();  ///< of a rank (bytes)
  /// Layers that filter, channel and spatial split; none: those with weights (filter, channel), all before
  /// the first without extents (spatial). [layers]
  std::vector<bool> split{};
  Rules rules{};
};

/// p = p1 p2 ranks: p1 parts of the data, p2 of the network.
struct Parts {
  double data = 1, network = 1;

  [[nodiscard]] double ranks() const { return data * network; }
};

struct Communication {
  Traffic traffic;     ///< of a rank and epoch
  double seconds = 0;  ///< of an epoch
};

/// One row a strategy: what an epoch of D samples in steps of B takes on p = p1 p2 ranks.
///
/// Source: Kahira et al. 2021 (HPDC), table 3; departures in `doc`. x, y, w: items of a layer; d bytes an
/// item.
struct StrategyRow {
  Strategy value;
  const char *name, *doc;
  /// How p ranks are used, with groups of `group`.
  Parts (*parts)(double p, double group);
  /// The reason why a job cannot be shared out so, or nothing.
  std::string (*limit)(const Job&, const Parts&);
  double (*compute)(const Job&, const Parts&);  ///< (s) an epoch
  Communication (*communication)(const Job&, const Parts&);
  double (*memory)(const Job&, const Parts&);  ///< of a rank (bytes)
};
[[nodiscard]] std::span<const StrategyRow> strategies();
[[nodiscard]] const StrategyRow& row_of(Strategy strategy);

/// The layers of each stage of a pipeline: where it begins, and behind the last. The slowest stage is as fast
/// as contiguous stages can be. [p + 1]
[[nodiscard]] std::vector<int> pipeline_stages(const Network& network, int p);

/// One row of a plan.
struct Projection {
  Strategy strategy{};
  Parts parts{};
  double compute = 0, communication = 0;  ///< (s) an epoch
  Traffic traffic{};                      ///< of a rank and epoch
  double memory = 0;                      ///< of a rank (bytes)
  std::string impossible{};               ///< the reason why, or ""

  [[nodiscard]] double seconds() const { return compute + communication; }
};

/// Projection of a strategy on p ranks; where it is beyond its limit only the reason is given. Throws
/// InputError for a job without layers, samples or batch.
[[nodiscard]] Projection project(const Job& job, Strategy strategy, double p);

/// All strategies on p ranks: the possible ones by time, then the others.
[[nodiscard]] std::vector<Projection> ranking(const Job& job, double p);

/// The fastest possible one of a ranking; nullptr if none is possible. Those within 20 % of it are about as
/// good: the model is not more accurate.
[[nodiscard]] const Projection* choice(std::span<const Projection> ranking);

}  // namespace quintet::planning
