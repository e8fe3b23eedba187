#include "apps/application/cli/application.hpp"
#include "apps/vlasov/cost.hpp"
#include "apps/vlasov/run.hpp"
#include "apps/vlasov/sizes.hpp"

/// Discontinuous-Galerkin plasma kinetics.
int main(int argc, char** argv) {
  namespace vlasov = quintet::vlasov;
  return quintet::Application("vlasov", "Discontinuous-Galerkin plasma kinetics")
      .command<vlasov::RunOptions>("run", "Solve the Vlasov-Maxwell or Vlasov-Poisson system", vlasov::run)
      .cost<vlasov::RunOptions>(vlasov::cost)
      .sizes<vlasov::RunOptions>(vlasov::sizes)
      .execute(argc, argv);
}
