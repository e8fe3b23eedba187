#include "apps/application/life/memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/shared_memory_bounds.hpp"
#include "io/runtime/runtime.hpp"
#include "io/tiers/memory_bounds.hpp"

namespace quintet {
namespace {

std::string gigabytes(double bytes) { return fmt::format("{:.4g} GB", bytes / 1e9); }

}  // namespace

std::optional<double> available_memory() { return free_memory(memory_bounds()); }

double memory_of_a_rank(const Comm& comm) { return comm.minimum(free_memory_of_this_rank(comm)); }

double bytes_of_series(double columns, double rows) {
  constexpr double cache = 1048576;
  const double column = sizeof(double) * rows;
  return columns * (column + std::min(column, cache));
}

double bytes_not_there_yet(double arrays, double before) {
  return std::max(0.0, arrays - std::max(0.0, 1e6 * resident_memory_mb() - before));
}

void require_memory(const Comm& comm, double bytes, const std::string& what) {
  if (!std::isfinite(bytes) || bytes < 0) bytes = std::numeric_limits<double>::max();
  const double largest = comm.maximum(bytes);
  auto demand = memory_demand(comm, largest, memory_bounds());
  if (demand.fits()) return;
  malloc_trim(0);  // what the C library keeps of freed memory counts as held
  demand = memory_demand(comm, largest, memory_bounds());
  if (demand.fits()) return;
  throw ResourceError(fmt::format(
      "Not enough memory for {}: {} on each of {} ranks of {}, which has {} free. Use more nodes, "
      "fewer ranks per node or a smaller problem",
      what, gigabytes(largest), demand.ranks, demand.where, gigabytes(demand.free)));
}

}  // namespace quintet
