#pragma once

#include <cstdint>
#include <optional>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/application/table/side_file.hpp"
#include "apps/dpmd/deviation/deviation.hpp"
#include "apps/dpmd/run/simulation.hpp"
#include "apps/dpmd/setup/run_options.hpp"
#include "physics/particles/files/h5md.hpp"

namespace quintet::dpmd {

/// Observer of a run with several models: measures where the models disagree and keeps the frames that are
/// worth a label.
class DeviationWatch {
 public:
  /// Nothing without the section `deviation`. On a restart rows and frames after it are dropped. Collective.
  DeviationWatch(Context& context, const RunOptions& options, const Simulation& simulation);

  /// Schedule of the rows.
  [[nodiscard]] Schedule schedule() const;
  /// Measure and write. Collective. The atoms are left as they were, to the bit.
  void look(const Exec& exec, Simulation& simulation, double time);
  void flush();
  /// Plots, counts, and the choice among the candidates once the run is whole. Collective.
  void report(Context& context);

 private:
  void keep_candidate(Simulation& simulation, double time, const potential::Deviation& deviation);
  void choose(Context& context);

  const RunOptions& options_;
  std::string candidates_path_;
  std::optional<DeviationLog> log_;
  std::optional<H5mdWriter> candidates_;
  std::optional<FrameCount> count_;  ///< of candidates
};

}  // namespace quintet::dpmd
