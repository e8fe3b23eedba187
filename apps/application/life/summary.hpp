#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/application/life/context_implementation.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet {

/// How a run ended and what it cost; on root.
struct Outcome {
  ExitCode code = ExitCode::done;
  std::string message;  ///< of the failure, or why it stopped early
  double wall_s = 0;
  double peak_memory_mb = 0;  ///< of the largest rank
  std::vector<PhaseTime> phases;
};

/// Ask all ranks what the run cost. Collective.
[[nodiscard]] Outcome measure_outcome(const Context::Implementation& context, ExitCode code,
                                      std::string message);

/// Write summary.json and report.html. Root only.
void write_outcome(const Context::Implementation& context, const Outcome& outcome);

}  // namespace quintet
