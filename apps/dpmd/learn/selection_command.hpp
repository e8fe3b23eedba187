#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/dpmd/deviation/deviation.hpp"
#include "apps/dpmd/setup/command_line.hpp"
#include "apps/dpmd/setup/selection_options.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet::dpmd {

/// Deviation of the models about one configuration, whose types are the models'. Collective.
[[nodiscard]] potential::Deviation deviation_of(const Comm& comm, ForceField& driving,
                                                potential::ModelEnsemble& ensemble,
                                                const Configuration& frame);

/// Words of `dpmd select`: `frames` by place.
struct SelectCommandOptions {
  std::vector<std::string> deviations, models;
  SelectionOptions selection;
  std::int64_t seed = 1;
  std::string output = "selected";
  NamingOptions naming;
  std::vector<std::string> frames;
};
void describe(Schema& schema, SelectCommandOptions& options);
/// `dpmd select FRAMES... --deviation FILE` (or `--model A --model B`): frames worth a label. Collective.
void select(const Comm& comm, const SelectCommandOptions& options);

}  // namespace quintet::dpmd
