#include "io/tiers/tier_placement.hpp"

#include <algorithm>
#include <numeric>

#include "io/tiers/grain_memory.hpp"
#include "io/tiers/tier_file.hpp"

namespace quintet {

std::size_t TierPlacement::moved() const {
  return std::accumulate(file_sizes.begin(), file_sizes.end(), std::size_t{0});
}

TierPlacement place_items(std::span<const std::size_t> sizes, std::optional<std::size_t> room,
                          int n_buffers) {
  TierPlacement placement;
  const std::size_t total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  const std::size_t resident = room ? std::min(total, *room) : total;
  std::size_t seen = 0;
  for (const std::size_t size : sizes) {
    seen += size;
    const double due = static_cast<double>(resident) * seen / total;
    if (resident == total || static_cast<double>(placement.host + size) <= due) {
      placement.in_file.push_back(-1);
      placement.host += size;
    } else {
      placement.in_file.push_back(placement.file_sizes.size());
      placement.file_sizes.push_back(size);
      placement.buffer = std::max(placement.buffer, whole_grains(size));
    }
  }
  placement.staging = n_buffers * placement.buffer;
  if (!placement.file_sizes.empty()) placement.file = TierFile::bytes_of(placement.file_sizes);
  return placement;
}

std::size_t numbers_of_item(std::size_t n, std::size_t bytes_a_number) {
  constexpr std::size_t grain = 1024, least = 64 << 10, most = 2 << 20;
  const std::size_t bytes = std::clamp<std::size_t>(n * bytes_a_number / 32, least, most);
  return std::max(grain, bytes / bytes_a_number / grain * grain);
}

std::vector<std::size_t> item_sizes(std::size_t n, std::size_t bytes_a_number) {
  std::vector<std::size_t> sizes;
  const std::size_t item = numbers_of_item(n, bytes_a_number);
  for (std::size_t from = 0; from < n; from += item)
    sizes.push_back(bytes_a_number * std::min(item, n - from));
  return sizes;
}

}  // namespace quintet
