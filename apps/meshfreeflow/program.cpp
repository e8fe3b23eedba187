#include "apps/meshfreeflow/program.hpp"

#include <string_view>

#include "apps/meshfreeflow/control/control.hpp"
#include "apps/meshfreeflow/flow/cost.hpp"
#include "apps/meshfreeflow/flow/flow.hpp"
#include "apps/meshfreeflow/setup/with_petsc.hpp"
#include "apps/meshfreeflow/simulate/cost.hpp"
#include "apps/meshfreeflow/simulate/simulate.hpp"

namespace quintet::meshfreeflow {

bool is_about_flows(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  return command == "simulate" || command == "flow" || command == "control" || command == "--version";
}

int run_program(int argc, char** argv, const std::function<void(Application&)>& add) {
  Application application("meshfreeflow", "Rayleigh-Bénard convection and its super-resolution",
                          subsystems());
  application.command<SimulateOptions>("simulate", "Solve the Boussinesq equations in two dimensions",
                                       simulate);
  application.cost<SimulateOptions>(cost);
  application.command<periodic::FlowOptions>("flow", "Solve equations given as text in a doubly periodic box",
                                             periodic::flow);
  application.cost<periodic::FlowOptions>(periodic::cost);
  application.command<ControlOptions>("control", "Learn to quieten convection by heating its floor", control);
  add(application);
  return application.execute(argc, argv);
}

}  // namespace quintet::meshfreeflow
