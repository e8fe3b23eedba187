#pragma once

#include "io/config/schema.hpp"
#include "surrogates/search/policy.hpp"

namespace quintet::search {

/// Who learns when.
enum class Update {
  synchronous,  ///< all agents together, when all trials of all of them have ended
  asynchronous  ///< each agent for itself, when its own have
};
struct UpdateRow {
  Update value;
  const char *name, *doc;
};
inline constexpr UpdateRow updates[] = {
    {Update::synchronous, "synchronous",
     "all agents together: workers wait for the slowest trial of a round"},
    {Update::asynchronous, "asynchronous", "each agent when its own trials have ended"},
};

/// Reinforcement learning.
struct ReinforcementOptions {
  int agents = 1;
  int batch = 10;  ///< trials of an agent between updates
  Update update = Update::synchronous;
  int hidden = 32;
  int epochs = 10;  ///< steps of Adam an update
  double learning_rate = 0.003;
  PpoOptions ppo;
};
void describe(Schema& schema, ReinforcementOptions& options);

}  // namespace quintet::search
