#include "apps/meshfreeflow/evaluate/evaluate.hpp"
#include "apps/meshfreeflow/networks.hpp"
#include "apps/meshfreeflow/program.hpp"
#include "apps/meshfreeflow/superresolve/expert.hpp"
#include "apps/meshfreeflow/superresolve/superresolve.hpp"
#include "apps/meshfreeflow/train/cost.hpp"
#include "apps/meshfreeflow/train/train.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"

namespace quintet::meshfreeflow {
namespace {

void add_network_commands(Application& application) {
  // Not for all: commands about flows run in this library too, where it was loaded for several items.
  const Subsystem torch = torch_subsystem();
  application.command<TrainOptions>("train", "Train a super-resolution model on fields over time", train)
      .starts(torch);
  application.cost<TrainOptions>(train_cost);
  application
      .command<SuperresolveOptions>("superresolve", "Apply a model to coarse fields of any size",
                                    superresolve)
      .starts(torch);
  application.command<EvaluateOptions>("evaluate", "Judge models against the truth", evaluate).starts(torch);
  application
      .plain_command("expert", "Say what a registry of models is to know of one", expert_flags(), expert)
      .starts(torch);
}

}  // namespace
}  // namespace quintet::meshfreeflow

int quintet_meshfreeflow_with_networks(int argc, char** argv) {
  namespace meshfreeflow = quintet::meshfreeflow;
  return meshfreeflow::run_program(argc, argv, meshfreeflow::add_network_commands);
}
