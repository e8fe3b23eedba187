#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/campaign/frozen.hpp"
#include "apps/campaign/runner.hpp"

namespace quintet::campaign {

/// Run a task of a job array: its items, `keys`. Items that have changed since they were queued are reported
/// with what has changed; the others run. Throws Error with stopped_early where the next job goes on.
void run_task(const Graph& graph, const Place& place, const std::string& directory,
              const std::vector<std::string>& keys, double stop_after);

/// Run a pilot: whatever the store lacks, beside other pilots, until its time `stop_after` is nearly over (s;
/// 0: no limit) or all that is left is under way elsewhere.
void run_pilot(const Graph& graph, const std::string& directory, double stop_after);

/// "cpu=96,gpu=8" as slots. Throws UsageError.
[[nodiscard]] std::map<std::string, std::int64_t> read_slots(const std::string& text);

}  // namespace quintet::campaign
