#include "apps/application/cli/application.hpp"
#include "apps/meshfreeflow/control/control.hpp"
#include "apps/meshfreeflow/networks.hpp"
#include "apps/meshfreeflow/setup/with_petsc.hpp"
#include "apps/meshfreeflow/simulate/cost.hpp"
#include "apps/meshfreeflow/simulate/simulate.hpp"

/// Rayleigh-Bénard convection and its super-resolution.
int main(int argc, char** argv) {
  namespace meshfreeflow = quintet::meshfreeflow;
  auto subsystems = meshfreeflow::subsystems();
  for (auto& subsystem : meshfreeflow::network_subsystems()) subsystems.push_back(subsystem);
  quintet::Application application("meshfreeflow", "Rayleigh-Bénard convection and its super-resolution",
                                   subsystems);
  application.command<meshfreeflow::SimulateOptions>(
      "simulate", "Solve the Boussinesq equations in two dimensions", meshfreeflow::simulate);
  application.cost<meshfreeflow::SimulateOptions>(meshfreeflow::cost);
  application.command<meshfreeflow::ControlOptions>(
      "control", "Learn to quieten convection by heating its floor", meshfreeflow::control);
  meshfreeflow::add_network_commands(application);
  return application.execute(argc, argv);
}
