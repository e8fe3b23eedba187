#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "physics/tasks/graph.hpp"
#include "physics/tasks/kernel.hpp"
#include "physics/tasks/plan.hpp"
#include "physics/tasks/runner.hpp"

namespace quintet::bench {

/// The flags of `quintet bench metg` for graphs of tasks.
struct MetgOptions {
  tasks::GraphOptions graph;
  tasks::KernelOptions kernel;
  std::int64_t output_bytes = 16;
  tasks::Messages messages = tasks::Messages::by_rank;
  std::optional<std::int64_t> iterations;  ///< this size alone, no search
  double seconds = 0.2;                    ///< for each size and round
  int rounds = 3;
  double ratio = 64;  ///< of the longest tasks to the shortest
  std::optional<std::string> damage;
  bool force = false;
  std::string output;
};
void describe(Schema& schema, MetgOptions& options);

}  // namespace quintet::bench
