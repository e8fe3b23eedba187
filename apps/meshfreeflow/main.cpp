#include "apps/application/cli/application.hpp"
#include "apps/meshfreeflow/setup/with_petsc.hpp"
#include "apps/meshfreeflow/simulate/simulate.hpp"

/// Rayleigh-Bénard convection and its super-resolution.
int main(int argc, char** argv) {
  namespace meshfreeflow = quintet::meshfreeflow;
  return quintet::Application("meshfreeflow", "Rayleigh-Bénard convection and its super-resolution",
                              meshfreeflow::subsystems())
      .command<meshfreeflow::SimulateOptions>("simulate", "Solve the Boussinesq equations in two dimensions",
                                              meshfreeflow::simulate)
      .execute(argc, argv);
}
