#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/campaign/frozen.hpp"
#include "apps/campaign/runner.hpp"

namespace quintet::campaign {

/// What a task of a job array does: its items, `keys`. Those that have changed since they were queued are
/// told with what has changed; the others run. Throws Error with stopped_early where the next job goes on.
void run_task(const Graph& graph, const Place& place, const std::string& directory,
              const std::vector<std::string>& keys, double stop_after);

/// What a pilot does: whatever the store lacks, beside other pilots, until its time is nearly over (s; 0: it
/// has no end) or there is nothing to do but what others are at.
void run_pilot(const Graph& graph, const std::string& directory, double stop_after);

/// "cpu=96,gpu=8" as slots. Throws UsageError.
[[nodiscard]] std::map<std::string, std::int64_t> read_slots(const std::string& text);

}  // namespace quintet::campaign
