#pragma once

#include "io/config/tree.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/planning/strategy.hpp"

namespace quintet::planning {

/// What is trained (layers, samples, times) as plain values, without the machine it is planned on.
[[nodiscard]] Tree to_tree(const Job& job);
/// Read a job from a tree. Throws InputError for a tree that is not a job.
[[nodiscard]] Job job_of(const Tree& tree);
/// What its ranks divide, likewise.
[[nodiscard]] Tree to_tree(const Division& division);
[[nodiscard]] Division division_of(const Tree& tree);

}  // namespace quintet::planning
