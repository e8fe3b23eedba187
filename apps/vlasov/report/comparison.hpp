#pragma once

#include <optional>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/report/report.hpp"
#include "apps/vlasov/setup/theory_setup.hpp"
#include "apps/vlasov/state/history.hpp"

namespace quintet::vlasov {

/// Comparison of the run's history with theory and a reference curve, which are read before the run begins.
struct Comparison {
  std::optional<Theory> theory;
  std::optional<Curve> reference;
  std::string reference_quantity;
  std::string wave;  ///< begin of the names of the columns of the theory's wave, if the history has them
};
/// Throws InputError for columns that do not exist and files that hold no curve.
[[nodiscard]] Comparison read_comparison(const RunOptions& options, const Setup& setup);

/// Fitted rates beside theory, and the distance to the reference: into log, summary and report.
void report_comparison(Context& context, const Comparison& comparison, const History& history);

}  // namespace quintet::vlasov
