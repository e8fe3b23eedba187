#include "apps/meshfreeflow/networks.hpp"

#ifdef QUINTET_WITH_TORCH
#include "apps/meshfreeflow/train/train.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#endif

namespace quintet::meshfreeflow {

#ifdef QUINTET_WITH_TORCH

std::vector<Subsystem> network_subsystems() { return {torch_subsystem()}; }

void add_network_commands(Application& application) {
  application.command<TrainOptions>("train", "Train a super-resolution model on fields over time", train);
}

#else

std::vector<Subsystem> network_subsystems() { return {}; }
void add_network_commands(Application&) {}

#endif

}  // namespace quintet::meshfreeflow
