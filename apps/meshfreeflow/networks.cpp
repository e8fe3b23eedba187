#include "apps/meshfreeflow/networks.hpp"

#ifdef QUINTET_WITH_TORCH
#include "apps/meshfreeflow/evaluate/evaluate.hpp"
#include "apps/meshfreeflow/superresolve/expert.hpp"
#include "apps/meshfreeflow/superresolve/superresolve.hpp"
#include "apps/meshfreeflow/train/cost.hpp"
#include "apps/meshfreeflow/train/train.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#endif

namespace quintet::meshfreeflow {

#ifdef QUINTET_WITH_TORCH

std::vector<Subsystem> network_subsystems() { return {torch_subsystem()}; }

void add_network_commands(Application& application) {
  application.command<TrainOptions>("train", "Train a super-resolution model on fields over time", train);
  application.cost<TrainOptions>(train_cost);
  application.command<SuperresolveOptions>("superresolve", "Apply a model to coarse fields of any size",
                                           superresolve);
  application.command<EvaluateOptions>("evaluate", "Judge models against the truth", evaluate);
  application.plain_command("expert", "Say what a registry of models is to know of one", expert_flags(),
                            expert);
}

#else

std::vector<Subsystem> network_subsystems() { return {}; }
void add_network_commands(Application& application) {
  for (const char* name : {"train", "superresolve", "evaluate", "expert"})
    application.absent_command(name, "LibTorch (configure with QUINTET_WITH_TORCH=ON)");
}

#endif

}  // namespace quintet::meshfreeflow
