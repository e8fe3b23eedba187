#include "physics/tasks/efficiency.hpp"

#include <algorithm>

namespace quintet::tasks {

Times times_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front(), seconds[seconds.size() / 2], static_cast<int>(seconds.size())};
}

void set_efficiencies(std::span<Grain> grains) {
  double best = 0;
  for (const auto& grain : grains) best = std::max(best, grain.rate);
  for (auto& grain : grains) grain.efficiency = best > 0 ? grain.rate / best : 0;
}

std::optional<double> crossing(std::span<const Grain> grains, double target,
                               const std::function<double(const Grain&)>& value) {
  const auto above =
      std::find_if(grains.begin(), grains.end(), [&](const Grain& g) { return g.efficiency >= target; });
  if (above == grains.begin() || above == grains.end()) return {};
  const Grain &low = *(above - 1), &high = *above;
  const double share = (target - low.efficiency) / (high.efficiency - low.efficiency);
  return value(low) + share * (value(high) - value(low));
}

std::vector<Grain> sweep(const std::function<Grain(std::int64_t size)>& measure, double ratio,
                         double longest_task_s) {
  std::vector<Grain> grains = {measure(0)};
  for (std::int64_t size = 1; size < std::int64_t{1} << 50; size *= 2) {
    grains.push_back(measure(size));
    const Grain &last = grains.back(), &before = grains[grains.size() - 2];
    if (last.task_s > ratio * grains.front().task_s && last.rate < 1.02 * before.rate) break;
    if (2 * last.task_s > longest_task_s) break;
  }
  set_efficiencies(grains);
  return grains;
}

}  // namespace quintet::tasks
