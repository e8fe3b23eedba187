#include "apps/application/life/memory.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "io/log/error.hpp"

namespace quintet {
namespace {

std::optional<double> number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) return value;
  return std::nullopt;  // absent, or "max"
}

std::optional<double> kernel_estimate() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    double kilobytes = 0;
    if (words >> key >> kilobytes && key == "MemAvailable:") return kilobytes * 1024;
  }
  return std::nullopt;
}

/// Page cache counts as used in a control group but is given back on demand.
double reclaimable(const std::string& stat_file) {
  std::ifstream file(stat_file);
  std::string key;
  double value = 0;
  while (file >> key >> value)
    if (key == "inactive_file" || key == "total_inactive_file") return value;
  return 0;
}

std::optional<double> control_group_rest(const std::string& folder, const char* limit, const char* usage) {
  const auto most = number_in(folder + limit), used = number_in(folder + usage);
  if (!most || !used || *most > 1e18) return std::nullopt;
  return std::max(0.0, *most - *used + reclaimable(folder + "memory.stat"));
}

std::string gigabytes(double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }

}  // namespace

std::optional<double> available_memory() {
  std::optional<double> least;
  for (const auto& value :
       {kernel_estimate(), control_group_rest("/sys/fs/cgroup/", "memory.max", "memory.current"),
        control_group_rest("/sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes")})
    if (value && (!least || *value < *least)) least = value;
  return least;
}

double memory_of_a_rank(const Comm& comm) {
  const double available = available_memory().value_or(std::numeric_limits<double>::infinity());
  return comm.minimum(available / comm.node_size());
}

void require_memory(const Comm& comm, double bytes, const std::string& what) {
  constexpr double unlimited = std::numeric_limits<double>::max();
  if (!std::isfinite(bytes) || bytes < 0) bytes = unlimited;
  const double largest = comm.maximum(bytes);
  const double demand = largest * comm.node_size();
  const double available = available_memory().value_or(unlimited);
  const double excess = comm.maximum(demand / std::max(available, 1.0));
  if (excess <= 1) return;
  throw ResourceError(
      fmt::format("Not enough memory for {}: {} on each of {} ranks of a node, which has {} free. Use more "
                  "nodes, fewer ranks per "
                  "node or a smaller problem",
                  what, gigabytes(largest), comm.node_size(), gigabytes(comm.minimum(available))));
}

}  // namespace quintet
