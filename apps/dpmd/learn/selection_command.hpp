#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"
#include "apps/dpmd/deviation/deviation.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet::dpmd {

/// Deviation of the models about one configuration, whose types are the models'. Collective.
[[nodiscard]] potential::Deviation deviation_of(const Comm& comm, ForceField& driving,
                                                potential::ModelEnsemble& ensemble,
                                                const Configuration& frame);

/// `dpmd select FRAMES... --deviation FILE` (or `--model A --model B`): frames worth a label.
[[nodiscard]] std::vector<Application::Flag> selection_flags();
void select(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::dpmd
