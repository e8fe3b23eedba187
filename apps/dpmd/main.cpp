#include "apps/application/application.hpp"
#include "apps/dpmd/equation_of_state.hpp"
#include "apps/dpmd/evaluate.hpp"
#include "apps/dpmd/run.hpp"

/// Deep Potential molecular dynamics.
int main(int argc, char** argv) {
  namespace dpmd = quintet::dpmd;
  return quintet::Application("dpmd", "Deep Potential molecular dynamics")
      .command<dpmd::RunOptions>("run", "Run molecular dynamics or a minimisation", dpmd::run)
      .command<dpmd::EquationOptions>("equation_of_state",
                                      "Lattice constant, energy and bulk modulus of a crystal",
                                      dpmd::equation_of_state)
      .plain_command("evaluate", "Energies, forces, virials and atomic energies of given configurations",
                     dpmd::evaluate_flags(), dpmd::evaluate)
      .execute(argc, argv);
}
