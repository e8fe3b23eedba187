#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/campaign/graph.hpp"
#include "apps/campaign/store.hpp"

namespace quintet::campaign {

/// Outcome of an item.
enum class Outcome { reused, done, not_needed, failed, skipped };

/// A try of an item on a slot, for the timeline; times in seconds since the campaign began.
struct Try {
  std::size_t item = 0;
  std::string slot;  ///< "cpu 2"
  double begin = 0, end = 0;
  bool good = false;
};

struct CampaignResult {
  std::vector<Outcome> outcomes;  ///< of each item
  std::vector<std::string> why;   ///< of those that failed or were skipped
  std::vector<int> codes;         ///< with which those that failed ended; 128 + signal
  std::vector<double> seconds;    ///< wall time of each item's good try; of a reused one, what it once took
  std::vector<Try> tries;
  double makespan = 0;                         ///< (s)
  std::int64_t n_warm = 0;                     ///< items that a warm program forked
  std::int64_t n_damaged = 0, n_too_late = 0;  ///< of those that failed; that were left, for want of time
  bool stopped = false;                        ///< by a signal
};

/// How a campaign is run.
struct RunnerOptions {
  std::vector<std::string> only{};          ///< keys of the items to run; empty: all
  bool gives_devices = true;                ///< items see the GPUs of their slots alone
  bool grows_memory = true;                 ///< what was killed for memory is tried again with more of it
  double stop_after = 0;                    ///< (s) after which it stops as by a signal; 0: never
  double idle_after = 0;                    ///< (s) with nothing to do but others' items: end; 0: wait
  const std::atomic<bool>* stop = nullptr;  ///< becomes true where it is to stop as by a signal
};

/// Run what is not in the store: whatever waits for nothing, in the order of planning::best_ranks(), as slots
/// are free. Exit code 0 (or one of `accepts`; behind {launch} that which an application of the suite tells,
/// whatever its launcher ends with) and all outputs: done; 75: begun again with `again` where it
/// stopped; 3: failed, what depends on it is left out, all else goes on; others are tried again from nothing,
/// those that were killed for memory (137) with twice the memory, or alone where nothing says how much.
/// With `stop_after` an item of a stage begins only where what the last one of it took fits in the time left.
/// A damaged item has failed. An item of which an earlier campaign left a part goes on where it stopped, if
/// its stage has `again`. What another campaign on the same store is at is waited for. The first SIGTERM,
/// SIGINT or SIGUSR1 is passed on to what runs, and ends the campaign when that has ended; the second kills
/// it.
///
/// An application of the suite that several items run is loaded once more, beside the first of them; those
/// that begin when it is ready are forked by it (Programs, Start).
[[nodiscard]] CampaignResult run_campaign(const Graph& graph, Store& store, const RunnerOptions& options);

}  // namespace quintet::campaign
