#pragma once

#include <vector>

#include "physics/tasks/graph.hpp"

/// Graphs of every pattern, at widths that are a power of two and are not.
inline std::vector<quintet::tasks::Graph> all_patterns(const std::vector<int>& widths = {1, 2, 6, 8, 13},
                                                       const std::vector<int>& radices = {1, 2, 3, 5},
                                                       int steps = 9) {
  using quintet::tasks::Pattern;
  std::vector<quintet::tasks::Graph> graphs;
  for (const int width : widths)
    for (const int radix : radices)
      for (int pattern = 0; pattern <= static_cast<int>(Pattern::random_spread); ++pattern) {
        const auto value = static_cast<Pattern>(pattern);
        const bool spreads = value == Pattern::spread || value == Pattern::random_spread;
        if (spreads && radix > width) continue;
        graphs.emplace_back(quintet::tasks::GraphOptions{
            .pattern = value, .width = width, .steps = steps, .radix = radix, .fraction = 0.5});
      }
  return graphs;
}

/// For the messages of failed tests.
inline std::string about(const quintet::tasks::Graph& graph) {
  return name_of(graph.options().pattern) + " of width " + std::to_string(graph.width()) + ", radix " +
         std::to_string(graph.options().radix);
}
