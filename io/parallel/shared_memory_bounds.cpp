#include "io/parallel/shared_memory_bounds.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

using Identity = std::array<std::uint64_t, 2>;

Identity identity_of(const MemoryBound& bound) { return {bound.device, bound.number}; }

/// The least of each bound's part, of `bytes_of` it.
template <class BytesOf>
double least_part(const Comm& comm, const BytesOf& bytes_of) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& shared : shared_bounds(comm, memory_bounds()))
    least = std::min(least, bytes_of(shared.bound) / shared.ranks);
  return least;
}

double largest_demand(const Comm& comm, double bytes) {
  return comm.maximum(std::isfinite(bytes) && bytes >= 0 ? bytes : std::numeric_limits<double>::max());
}

}  // namespace

std::vector<SharedBound> shared_bounds(const Comm& comm, std::vector<MemoryBound> bounds) {
  std::vector<Identity> mine;
  for (const auto& bound : bounds) mine.push_back(identity_of(bound));
  const auto all = comm.node().all_gather(std::span<const Identity>(mine));
  std::vector<SharedBound> shared;
  for (auto& bound : bounds) {
    const auto ranks = std::count(all.begin(), all.end(), identity_of(bound));
    shared.push_back({std::move(bound), static_cast<int>(std::max<std::ptrdiff_t>(1, ranks))});
  }
  return shared;
}

double free_memory_of_this_rank(const Comm& comm) {
  return least_part(comm, [](const MemoryBound& bound) { return bound.free; });
}

double memory_limit_of_this_rank(const Comm& comm) {
  return least_part(comm, [](const MemoryBound& bound) { return bound.limit; });
}

MemoryDemand memory_demand(const Comm& comm, double bytes, const std::vector<MemoryBound>& bounds) {
  MemoryDemand tightest{.free = std::numeric_limits<double>::max(), .where = "a node"};
  double worst = -1;
  for (const auto& [bound, ranks] : shared_bounds(comm, bounds)) {
    const double demanded = bytes * ranks, ratio = demanded / std::max(bound.free, 1.0);
    if (ratio <= worst) continue;
    worst = ratio;
    tightest = {demanded, bound.free, ranks,
                bound.group.empty()
                    ? "a node"
                    : fmt::format("the control group {} of {:.4g} GB", bound.group, bound.limit / 1e9)};
  }
  const double most = comm.maximum(worst);
  const int rank = comm.minimum(worst == most ? comm.rank() : comm.size());
  tightest.demanded = comm.broadcast(tightest.demanded, rank);
  tightest.free = comm.broadcast(tightest.free, rank);
  tightest.ranks = comm.broadcast(tightest.ranks, rank);
  tightest.where = comm.broadcast(tightest.where, rank);
  return tightest;
}

void require_memory(const Comm& comm, double bytes, const std::string& what) {
  if (memory_demand(comm, largest_demand(comm, bytes), memory_bounds()).fits()) return;
  malloc_trim(0);  // what the C library keeps of freed memory counts as held
  require_memory(comm, bytes, what, memory_bounds());
}

void require_memory(const Comm& comm, double bytes, const std::string& what,
                    const std::vector<MemoryBound>& bounds) {
  const double largest = largest_demand(comm, bytes);
  const auto demand = memory_demand(comm, largest, bounds);
  if (demand.fits()) return;
  throw ResourceError(
      fmt::format("Not enough memory for {}: {:.4g} GB on each of {} of {}, which has {:.4g} GB free. "
                  "Use more nodes, fewer ranks per node or a smaller problem",
                  what, largest / 1e9, counted(demand.ranks, "rank"), demand.where, demand.free / 1e9));
}

}  // namespace quintet
