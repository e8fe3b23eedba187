#include "surrogates/potential/exported/library/measured_model.hpp"

#include "io/tiers/ledger.hpp"
#include "surrogates/bridge/torch_memory.hpp"

namespace quintet::potential {

double MeasuredModel::bytes_of(const ExportedSystem& system) {
  Ledger ledger;
  TorchMemory memory(ledger);
  ExportedResult result;
  evaluate(system, false, result);
  return static_cast<double>(memory.take_peak());
}

}  // namespace quintet::potential
