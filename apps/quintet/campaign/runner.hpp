#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/quintet/campaign/graph.hpp"
#include "apps/quintet/campaign/store.hpp"

namespace quintet::campaign {

/// What became of an item.
enum class Outcome { reused, done, failed, skipped };

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
  std::vector<double> seconds;    ///< wall time of each item's good try; of a reused one, what it once took
  std::vector<Try> tries;
  double makespan = 0;   ///< (s)
  bool stopped = false;  ///< by a signal
};

/// What a run of the items that are not in the store takes at least with these slots, by their times: the
/// longest way, and the work of each class over its slots.
[[nodiscard]] double bound(const Graph& graph, const CampaignResult& result);

/// Keep these signals and SIGCHLD for run_campaign(), in this thread and those that it will make.
void hold_signals();

/// Run what is not in the store: whatever waits for nothing, that with the longest way behind it first, as
/// slots are free. Exit code 0 and all outputs: done; 75: begun again with `again` where it stopped; 3:
/// failed, what depends on it is left out, all else goes on; others are tried again from nothing.
/// An item of which an earlier campaign left a part goes on where it stopped, if its stage has `again`. The
/// first SIGTERM, SIGINT or SIGUSR1 is passed on to what runs, and ends the campaign when that has ended; the
/// second kills it. hold_signals() comes first.
[[nodiscard]] CampaignResult run_campaign(const Graph& graph, const Store& store);

}  // namespace quintet::campaign
