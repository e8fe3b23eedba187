#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/config/schema_fwd.hpp"

/// The work of a task, of any length: what Task Bench's kernels do, with its counts of operations and bytes.
namespace quintet::tasks {

enum class KernelKind { empty, busy_wait, compute_bound, memory_bound, load_imbalance };

/// Work of a task between taking its inputs and its end.
struct KernelOptions {
  KernelKind kernel = KernelKind::compute_bound;
  std::int64_t iterations = 0;           ///< n
  double imbalance = 1;                  ///< f of load_imbalance
  std::int64_t scratch_bytes = 1 << 20;  ///< working set of each point's memory_bound
  int samples = 16;                      ///< pieces of the working set, one of which an iteration copies
};
/// All keys but `iterations`.
void describe(Schema& schema, KernelOptions& options);

/// Do the work of one task; `scratch` [scratch_bytes] is the point's own. The result depends on all of the
/// work: keep it.
[[nodiscard]] double run_kernel(const KernelOptions& kernel, int step, int point,
                                std::span<std::byte> scratch);

/// Amount of work of a task: floating-point operations (compute_bound: 128 n + 64), bytes read and written
/// (memory_bound: scratch n / samples) or iterations (busy_wait); load_imbalance: compute_bound of its own
/// n' = round((1 + (U - 1/2) f) n), U of graph 0, step and point. 0 for empty.
[[nodiscard]] double work_of(const KernelOptions& kernel, int step, int point);
/// Unit of work_of(): "flop", "B", "iterations", or "" for empty.
[[nodiscard]] std::string work_unit(KernelKind kernel);
[[nodiscard]] std::string name_of(KernelKind kernel);
/// Name and meaning of every kernel, for help texts.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> kernels();

}  // namespace quintet::tasks
