#include "apps/application/cli/application.hpp"
#include "apps/podlstm/fit/fit.hpp"
#include "apps/podlstm/setup/with_slepc.hpp"

/// Sea-surface temperature forecasts from modes, references and recurrent networks.
int main(int argc, char** argv) {
  namespace podlstm = quintet::podlstm;
  return quintet::Application("podlstm", "Sea-surface temperature forecasts", podlstm::subsystems())
      .command<podlstm::FitOptions>("fit", "Modes of fields over the sea and their coefficients",
                                    podlstm::fit)
      .execute(argc, argv);
}
