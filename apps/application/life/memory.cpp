#include "apps/application/life/memory.hpp"

#include <algorithm>

#include "io/parallel/comm.hpp"
#include "io/parallel/shared_memory_bounds.hpp"
#include "io/runtime/runtime.hpp"
#include "io/tiers/memory_bounds.hpp"

namespace quintet {

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

}  // namespace quintet
