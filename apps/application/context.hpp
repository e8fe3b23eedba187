#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/report.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet {

/// What every command is handed: communicator, run directory, clock, progress, summary, report, checkpoints, stop requests.
class Context {
 public:
  [[nodiscard]] const Comm& comm() const;
  [[nodiscard]] const Threads& threads() const;
  /// The run's directory (made; absolute). Files: run.log, run.h5, checkpoints/, summary.json, report.html.
  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] std::string path(const std::string& name) const;   ///< directory()/name
  /// True for --validate: build everything, check memory, stop before the first step.
  [[nodiscard]] bool validating() const;
  /// The configuration in force as YAML, and who made this run.
  [[nodiscard]] const std::string& configuration() const;
  [[nodiscard]] hdf5::Provenance provenance() const;

  /// Checkpoint to restart from (verified whole), if --restart asked for one and one is there.
  [[nodiscard]] const std::optional<std::string>& restart_file() const;
  [[nodiscard]] const hdf5::CheckpointStore& checkpoints() const;
  /// run.h5, made (or on restart reopened) at the first call, with its header written. Collective.
  [[nodiscard]] hdf5::File& results();

  /// Time a phase: `auto timer = context.phase("forces");` adds its life time (wall) to timings_s of summary.json.
  class Phase;
  [[nodiscard]] Phase phase(const char* name);

  /// The loop's steps: `for (std::int64_t step : context.steps(first, last))` is left early when the run must stop.
  ///
  /// Each iteration updates the progress line and, every so often, asks whether to stop (collective). After the loop
  /// `stopped_early()` tells; the command then writes a checkpoint and returns; exit code 75.
  class Steps;
  [[nodiscard]] Steps steps(std::int64_t first, std::int64_t last);
  [[nodiscard]] bool stopped_early() const;
  /// One physical number shown in the progress line, e.g. ("T", 301.2, "K"), and what a step is worth ("ns/day" etc. left to the app).
  void show(const std::string& name, double value, const std::string& unit);

  /// summary.json: flat keys, unit in the name.
  void summarise(const std::string& key, double value);
  void summarise(const std::string& key, std::int64_t value);
  void summarise(const std::string& key, const std::string& value);
  /// The report (rank 0 writes it at the end, also after a numerical failure).
  [[nodiscard]] Report& report();

  /// What to do when the run fails numerically (exit 3): write an emergency checkpoint. Set by the command.
  void on_failure(std::function<void()> action);

  struct Implementation;
  explicit Context(Implementation& implementation) : implementation_(implementation) {}

 private:
  Implementation& implementation_;
};

}  // namespace quintet
