#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/hindcast/hindcast_options.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/forecast/training_set.hpp"
#include "surrogates/sequence/skill/bootstrap.hpp"

namespace quintet::podlstm {

/// Check that so many ranks can share out graph networks as network.graph.spmm says. Throws InputError with
/// the nearest number that can.
void check_ranks_of_graph(const HindcastOptions& options, int n_ranks);
/// Nodes of networks of a graph from the modes of an origin; null where networks are of another kind. Throws
/// InputError: modes without a grid, or more ranks than nodes.
[[nodiscard]] std::shared_ptr<const sequence::SeaNodes> nodes_of(const Comm& comm,
                                                                 const HindcastOptions& options,
                                                                 const ocean::OceanModes& modes);

/// Say and require what passes of networks of a graph take on a rank (require_nodes), by the modes of an
/// origin; nothing of other networks. Throws as nodes_of(), and ResourceError. Collective.
void require_networks(Context& context, const HindcastOptions& options, const ocean::OceanModes& modes);

/// Trainings of networks that a run has before it.
struct NetworksAhead {
  std::vector<std::size_t> origins;  ///< at which they are trained
  /// Epochs of one network, all trainings together, as long as those of the first training: an epoch's time
  /// grows with the times before its origin. The most: patience ends networks before.
  double epochs = 0;
};
/// Trainings that are left after `done` origins. A restart within a training's origins trains these networks
/// again.
[[nodiscard]] NetworksAhead networks_ahead(const HindcastOptions& options,
                                           const std::vector<sequence::Origin>& origins, std::size_t done,
                                           int n_ranks);

/// What networks learn from at an origin. Throws InputError where too little is known there.
[[nodiscard]] sequence::TrainingSet networks_set(const Comm& comm, const HindcastOptions& options,
                                                 const sequence::Origin& origin,
                                                 const ocean::OceanModes& modes);
/// Time of an epoch of one network of a set, the shorter of two that are taken, on the slowest rank (s).
/// Collective.
[[nodiscard]] double epoch_seconds(const Comm& comm, const HindcastOptions& options,
                                   sequence::TrainingSet set);

/// Say in the log how many trainings are ahead and, by two epochs of a network that are taken here, how long
/// they take at most. Nothing where networks cannot be trained at their first origin: the run tells why.
/// Collective.
/// @param modes of the first training's origin
void announce_networks(Context& context, const HindcastOptions& options,
                       const std::vector<sequence::Origin>& origins, const NetworksAhead& ahead,
                       const ocean::OceanModes& modes);

/// Whether networks beat their base over all windows that are judged, in a sentence.
[[nodiscard]] std::string networks_verdict(const std::string& base, const sequence::Estimate& gain,
                                           const std::string& leads, const std::string& unit);

}  // namespace quintet::podlstm
