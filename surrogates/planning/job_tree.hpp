#pragma once

#include "io/config/tree.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/planning/strategy.hpp"

namespace quintet::planning {

/// Convert a training (layers, samples, times) to plain values, without the machine it is planned on.
[[nodiscard]] Tree to_tree(const Job& job);
/// Read a job from a tree. Throws InputError for a tree that is not a job.
[[nodiscard]] Job job_of(const Tree& tree);
/// Convert what its ranks divide to a tree, and back.
[[nodiscard]] Tree to_tree(const Division& division);
[[nodiscard]] Division division_of(const Tree& tree);

}  // namespace quintet::planning
