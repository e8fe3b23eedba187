#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "physics/tasks/graph.hpp"
#include "physics/tasks/kernel.hpp"
#include "physics/tasks/plan.hpp"

namespace quintet::bench {

/// Flags of every `quintet bench metg`.
struct MetgOptions {
  std::optional<double> seconds;  ///< for each size in each round
  int rounds = 3;
  bool force = false;
  std::string output;
};
void describe(Schema& schema, MetgOptions& options);

/// Options for graphs of tasks.
struct GraphMetgOptions {
  tasks::GraphOptions graph;
  tasks::KernelOptions kernel;
  std::int64_t output_bytes = 16;
  tasks::Messages messages = tasks::Messages::by_rank;
  std::optional<std::int64_t> iterations;  ///< this size alone, no search
  double ratio = 64;                       ///< of the longest tasks to the shortest
  std::optional<std::string> damage;
};
void describe(Schema& schema, GraphMetgOptions& options);

/// Options for an application's own step.
struct ApplicationMetgOptions {
  int ranks = 0;  ///< 0: as many as there are cores
  std::string launch = "mpirun -n {ranks}";
};
void describe(Schema& schema, ApplicationMetgOptions& options);

}  // namespace quintet::bench
