#include "physics/convection/linear/line_levels.hpp"

#include <cstddef>
#include <utility>

namespace quintet::convection {

LineOperator coarser(const LineOperator& line, bool periodic) {
  const std::size_t n = line.weight.size(), n_kept = (n + 1) / 2;
  LineOperator kept;
  kept.lower.assign(n_kept, 0.0);
  kept.upper.assign(n_kept, 0.0);
  for (std::size_t i = 0; i < n; i += 2) {
    kept.wall.push_back(line.wall[i]);
    kept.weight.push_back(line.weight[i]);
  }
  for (std::size_t f = 1; f < n; f += 2) {
    const double lower = line.lower[f], upper = line.upper[f], sum = lower + upper + line.wall[f];
    if (sum == 0) continue;  // nobody's neighbour
    const std::size_t below = f / 2, above = (f + 1) % n / 2;
    kept.upper[below] += lower * upper / sum;
    kept.lower[above] += lower * upper / sum;
    kept.wall[below] += lower * line.wall[f] / sum;
    kept.wall[above] += upper * line.wall[f] / sum;
    kept.weight[below] += lower / sum * line.weight[f];
    kept.weight[above] += upper / sum * line.weight[f];
  }
  if (periodic && n % 2 == 1) {  // the first and the last are neighbours already
    kept.lower.front() += line.lower.front();
    kept.upper.back() += line.upper.back();
  }
  if (n_kept == 1) kept.lower[0] = kept.upper[0] = 0;  // its own neighbour
  return kept;
}

std::vector<LineOperator> line_levels(LineOperator line, bool periodic) {
  std::vector<LineOperator> levels{std::move(line)};
  while (levels.back().weight.size() > 1) levels.push_back(coarser(levels.back(), periodic));
  return levels;
}

}  // namespace quintet::convection
