#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/application/life/phases.hpp"
#include "apps/application/report/report_fwd.hpp"
#include "io/device/device.hpp"
#include "io/hdf5/checkpoint_fwd.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "io/runtime/runtime_fwd.hpp"

namespace quintet {

/// Context that every command is given: communicator, run directory, clock, progress, summary, report,
/// checkpoints, stop requests.
class Context {
 public:
  [[nodiscard]] const Comm& comm() const;
  [[nodiscard]] const Threads& threads() const;
  /// Open the device that computes the hot path (key `device`); log, summary and report name it. It must
  /// outlive its engines. Collective.
  [[nodiscard]] DeviceSession open_device(Device wanted);
  /// The run's directory (absolute), this run's alone; nothing in it changes before go_ahead(). Files:
  /// run.log, run.h5, checkpoints/, summary.json, report.html.
  [[nodiscard]] const std::string& directory() const;
  /// directory()/name; after go_ahead() the name goes on the list of what the run writes.
  [[nodiscard]] std::string path(const std::string& name) const;
  /// The command says that all that can be checked has been: input read, everything built, memory asked for.
  /// The run begins: what an overwritten run left is removed, run.log is opened. Returns false with
  /// --validate: then the command returns too.
  ///
  /// `writes`: the files that the command writes besides those of every run, as names or patterns relative to
  /// the directory ("gkyl/*.gkyl", "models/**"). A file of the user's under such a name is refused here, and
  /// --overwrite removes no others. Collective.
  [[nodiscard]] bool go_ahead(const std::vector<std::string>& writes = {});
  /// True for --validate: build everything, check memory, stop before the first step (see go_ahead()).
  [[nodiscard]] bool validating() const;
  /// Throw ResourceError on all ranks if `bytes` more on each rank do not fit into a node's free memory.
  /// Collective.
  void require_memory(double bytes, const std::string& what) const;
  /// The configuration in force as YAML, and who made this run.
  [[nodiscard]] const std::string& configuration() const;
  [[nodiscard]] const hdf5::Provenance& provenance() const;
  /// Make the seed of the random numbers part of the provenance.
  void record_seed(std::uint64_t seed);

  /// The checkpoint to restart from, if --restart asked for one and one is there. It has been checked: it is
  /// whole, and of a run that this one may continue.
  [[nodiscard]] const std::optional<std::string>& restart_file() const;
  /// True with --restart-with-changes: runs that the command starts and that go on may have changed likewise.
  [[nodiscard]] bool restart_with_changes() const;
  /// Write a checkpoint: flushes run.h5, times it (the reserve of --walltime follows from it), keeps the last
  /// few. `write` fills the root group. Collective.
  void checkpoint(std::int64_t step, const std::function<void(hdf5::Group&)>& write);
  /// Something on disk that grows (a table of run.h5, frames of a file): `rows` is asked for at every
  /// checkpoint, the same on all ranks, and the checkpoint records it under `name`: the path in run.h5
  /// ("thermo"), or the file's name ("trajectory.h5"). A restart cuts to it. In place of what had the name
  /// before.
  void record_rows(const std::string& name, std::function<std::uint64_t()> rows);
  /// The rows that the checkpoint restarted from records under `name`; nothing at a beginning or from an
  /// older checkpoint.
  [[nodiscard]] std::optional<std::uint64_t> recorded_rows(const std::string& name) const;
  [[nodiscard]] const hdf5::CheckpointStore& checkpoints() const;
  void keep_checkpoints(int n);  ///< how many checkpoints stay (3 unless told)
  /// run.h5, made (or on restart reopened) at the first call, with its header written and on the disk. One
  /// that cannot be read is put aside. Collective.
  [[nodiscard]] hdf5::File& results();
  /// Bring all that was written to run.h5 to the disk. What was cut or made must be there before the first
  /// step: a kill leaves whole rows then. Collective.
  void flush_results();
  /// True where a run goes on and its run.h5 begins here: in another folder, or what was there is lost.
  [[nodiscard]] bool results_begin_here() const;
  /// Say that a part of what the run had written is not there any more, the same on all ranks: a warning in
  /// log and report, and an entry of `lost` in summary.json. `what`: a table or file, as in record_rows().
  void lose(const std::string& what, const std::string& text);
  /// The doubt about a number that is made of `what`, such as a mean of its rows: a sentence where a part of
  /// them is lost, else `otherwise`.
  [[nodiscard]] std::string doubt_of(const std::string& what, const std::string& otherwise = "") const;
  /// Keep a file of the run that cannot be read under another name (see io/files/put_aside.hpp) and tell of
  /// it as lose() does; its writer begins anew. Collective.
  void put_aside(const std::string& name, const std::string& why);

  /// Time a phase: `auto timer = context.phase("forces");` adds its life time (wall) to timings_s of
  /// summary.json.
  ///
  /// A phase inside another is named "outer/inner". summary.json has the maximum over the ranks;
  /// the report shows means, which add up to the whole.
  using Phase = PhaseTimer;
  [[nodiscard]] Phase phase(const char* name);
  /// Call a function as a phase: `auto state = context.timed("start", [&] { return State(options); });`
  template <class Function>
  decltype(auto) timed(const char* name, Function&& function) {
    const auto timer = phase(name);
    return std::forward<Function>(function)();
  }
  /// Add time that was measured elsewhere, inside a phase: ("steps/forces", 1.2).
  void add_phase(const std::string& path, double seconds);

  /// The numbers `first` to `last`, both included: `for (std::int64_t i : context.steps(first, last))` is
  /// left early when the run must stop. Where what moves is saved at checkpoints, run_loop() (loop/) has this
  /// and the rest of a step loop.
  ///
  /// About ten times a second, at the same step on all ranks, the progress line is renewed and the ranks
  /// agree whether to stop (collective); other iterations cost one comparison. After the loop
  /// `stopped_early()` tells; the command then writes a checkpoint of the last finished step and returns;
  /// exit code 75.
  class Steps;
  [[nodiscard]] Steps steps(std::int64_t first, std::int64_t last);
  [[nodiscard]] bool stopped_early() const;
  /// Whether this rank knows that the run must stop; no communication, for a step that takes long.
  [[nodiscard]] bool stop_noticed() const;
  /// Stop within a step, which is given up on all ranks: as if the loop had been left before it. Collective.
  void stop_within_step();
  /// One physical number shown in the progress line, e.g. ("T", 301.2, "K"); the last value given is shown.
  void show(const std::string& name, double value, const std::string& unit);

  /// summary.json: flat keys, unit in the name; in the order they were first given. The report has them as a
  /// table with name, unit and `meaning` (a few words where the name does not say it).
  void summarise(const std::string& key, double value, const std::string& meaning = "");
  void summarise(const std::string& key, std::int64_t value, const std::string& meaning = "");
  void summarise(const std::string& key, std::integral auto value, const std::string& meaning = "") {
    summarise(key, static_cast<std::int64_t>(value), meaning);
  }
  void summarise(const std::string& key, const std::string& value, const std::string& meaning = "");
  /// A line of what is run, in words, for the top of the report: ("system", "864 Cu atoms ..."). Before the
  /// loop, so that the page of a failed run has it.
  void describe_run(const std::string& name, const std::string& text);
  /// A tile at the top of the report and of an index page: ("temperature", "300.2 ± 0.9 K"); six to eight in
  /// all. `doubt`: a sentence on why not to believe it. Without any, the first summary keys are shown.
  void headline(const std::string& name, const std::string& value, const std::string& doubt = "");
  /// The report's middle: what was run, tiles and warnings go above it; all numbers, timings, provenance and
  /// configuration below it. Rank 0 writes it at the end, also after a numerical failure.
  [[nodiscard]] Report& report();

  /// Set the action for a run that fails numerically (exit 3): write an emergency checkpoint.
  ///
  /// The action runs after the command was left by the exception: it must own what it uses (capture a
  /// shared_ptr or Views by value, no references to the command's local variables). It may be collective,
  /// because a numerical check is a collective decision: reduce first, then throw NumericalError on all ranks
  /// together. If only some ranks throw, the action is not run and the job is aborted with their message, so
  /// nothing waits for ever.
  void on_failure(std::function<void()> action);

  struct Implementation;
  explicit Context(Implementation& implementation) : implementation_(implementation) {}

 private:
  Implementation& implementation_;
};

/// Range of the step loop; see Context::steps().
class Context::Steps {
 public:
  struct End {};
  class Iterator {
   public:
    Iterator(Steps& steps, std::int64_t step) : steps_(&steps), step_(step) {}
    [[nodiscard]] std::int64_t operator*() const { return step_; }
    Iterator& operator++() {
      ++step_;
      return *this;
    }
    [[nodiscard]] bool operator!=(End) const { return step_ < steps_->next_look_ || steps_->look(step_); }

   private:
    Steps* steps_;
    std::int64_t step_;
  };

  Steps(Implementation& context, std::int64_t first, std::int64_t last);
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  [[nodiscard]] Iterator begin() { return {*this, first_}; }
  [[nodiscard]] End end() const { return {}; }
  /// A new guess of the last step, the same on all ranks, where a run ends at a time and not at a number: the
  /// loop ends after it, and the progress line counts to it.
  void expect(std::int64_t last);
  /// Wall time from the loop's begin to the last time that the ranks agreed, the same on all ranks (s).
  [[nodiscard]] double wall_s() const { return wall_s_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool look(std::int64_t step);  ///< progress and stop request before `step`; false to leave the loop
  void plan_next_look(std::int64_t step);

  Implementation& context_;
  std::int64_t first_, last_;
  std::int64_t next_look_, last_look_;  ///< steps; no step before next_look_ is interrupted
  Clock::time_point start_, looked_at_;
  double wall_s_ = 0;
};

}  // namespace quintet
