#include "io/fields/staggered.hpp"

#include <algorithm>
#include <cmath>

namespace quintet::field_formats {

std::optional<Location> staggered_location(const std::string& dimension) {
  const std::string axes = "xyz", letters = "acf";
  const auto axis = dimension.empty() ? std::string::npos : axes.find(dimension[0]);
  if (axis == std::string::npos) return std::nullopt;
  if (dimension.size() == 2 && (dimension[1] == 'C' || dimension[1] == 'F'))
    return Location{dimension.substr(0, 1), dimension[1] == 'F'};
  if (dimension.size() != 5 || dimension[1] != '_') return std::nullopt;
  const auto place = dimension.substr(2);
  if (place.find_first_not_of(letters) != std::string::npos || place[axis] == 'a') return std::nullopt;
  return Location{dimension.substr(0, 1), place[axis] == 'f'};
}

LineWeights cubic_weights(const std::vector<double>& from, const std::vector<double>& to, double period) {
  constexpr std::int64_t width = LineWeights::width;
  const std::int64_t n = from.size();
  const std::int64_t used = period > 0 ? width : std::min(width, n);
  const auto at = [&](std::int64_t i) {  // point i, of a later or an earlier period beyond the ends
    const std::int64_t turns = i >= 0 ? i / n : -((n - 1 - i) / n);
    return from[i - turns * n] + turns * period;
  };
  LineWeights result;
  for (const double x : to) {
    const std::int64_t above = std::upper_bound(from.begin(), from.end(), x) - from.begin();
    std::int64_t first = above - used / 2;
    if (period <= 0) first = std::clamp<std::int64_t>(first, 0, n - used);
    LineWeights::Point point{};
    for (std::int64_t k = 0; k < used; ++k) {
      point.from[k] = ((first + k) % n + n) % n;
      point.weight[k] = 1;
      for (std::int64_t j = 0; j < used; ++j)
        if (j != k) point.weight[k] *= (x - at(first + j)) / (at(first + k) - at(first + j));
    }
    result.points.push_back(point);
  }
  return result;
}

std::vector<double> along_line(const std::vector<double>& values, std::uint64_t outer, std::uint64_t n,
                               const LineWeights& weights) {
  const std::uint64_t inner = outer * n == 0 ? 0 : values.size() / (outer * n);
  std::vector<double> result;
  result.reserve(outer * weights.points.size() * inner);
  for (std::uint64_t o = 0; o < outer; ++o)
    for (const auto& point : weights.points)
      for (std::uint64_t i = 0; i < inner; ++i) {
        double sum = 0;
        for (int k = 0; k < LineWeights::width; ++k)
          if (point.weight[k] != 0) sum += point.weight[k] * values[(o * n + point.from[k]) * inner + i];
        result.push_back(sum);
      }
  return result;
}

}  // namespace quintet::field_formats
