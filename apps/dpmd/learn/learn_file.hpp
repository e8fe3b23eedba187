#pragma once

#include <cstdint>
#include <optional>

#include "apps/dpmd/learn/learn_options.hpp"
#include "io/config/tree.hpp"

namespace quintet::dpmd {

/// Rounds of active learning as the file of a campaign (`quintet campaign`), whose stages are
///
///   train      a model of the ensemble each, on all labels of the rounds before
///   run_E_S    exploration E from its start S
///   select     frames worth a label, of all runs of the round
///   label      their labels; not needed without any
///
/// for `iterations` rounds, with the training of one more if `trains_after`, on so many cores: those of a
/// stage share them evenly, `at_once` of them or as many as there are cores. Where the options have a
/// launcher, one runs at a time.
[[nodiscard]] Tree campaign_of(const LearnOptions& options, std::int64_t iterations, bool trains_after,
                               std::int64_t cores);

/// Whether an exploration is for an iteration.
[[nodiscard]] bool is_in(const Exploration& exploration, std::int64_t iteration);

}  // namespace quintet::dpmd
