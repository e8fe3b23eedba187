#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/campaign/graph.hpp"
#include "apps/campaign/store.hpp"
#include "apps/campaign/workers/memory_kills.hpp"
#include "surrogates/planning/dispatch.hpp"

namespace quintet::campaign {

/// Resources that items ask for after a kill for memory: twice as much as before, at most all there is, or
/// all slots of their class where nothing says how much. It stays in the store, for the next time and for
/// jobs.
class Growth {
 public:
  /// Resources of an item's next try.
  struct Next {
    std::int64_t slots = 1;
    double memory = 0;  ///< (B)
    std::string said;   ///< "with 4 GB", "alone"
  };

  /// `tasks`: what items ask for as the campaign begins.
  Growth(const Graph& graph, Store& store, const std::vector<planning::Task>& tasks, planning::Pools pools);

  /// Next try of an item that a SIGKILL from outside ended. Nothing if it was not for memory, or if no more
  /// memory is available here: `why` tells then. Where a job's memory cannot grow (`grows` is false) the next
  /// job asks for more.
  [[nodiscard]] std::optional<Next> after_kill(std::size_t item, bool grows, std::string& why);

 private:
  const Graph& graph_;
  Store& store_;
  planning::Pools pools_;
  std::vector<double> memory_;  ///< (B) that each item asks for; 0: nothing says
  std::vector<bool> alone_;     ///< those that have all slots of their class
  MemoryKills kills_;
};

}  // namespace quintet::campaign
