#include "physics/tasks/graph.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "tests/unit/tasks/cases.hpp"

using namespace quintet::tasks;
using Points = std::vector<int>;

namespace {

Graph graph_of(Pattern pattern, int width = 8, int steps = 9, int radix = 3) {
  return Graph({.pattern = pattern, .width = width, .steps = steps, .radix = radix});
}

}  // namespace

TEST(TaskGraph, needs_what_its_pattern_says) {
  EXPECT_EQ(graph_of(Pattern::trivial).needs(0, 3), Points{});
  EXPECT_EQ(graph_of(Pattern::no_comm).needs(0, 3), Points{3});
  EXPECT_EQ(graph_of(Pattern::stencil_1d).needs(0, 0), (Points{0, 1}));
  EXPECT_EQ(graph_of(Pattern::stencil_1d_periodic).needs(0, 0), (Points{0, 1, 7}));
  EXPECT_EQ(graph_of(Pattern::dom).needs(0, 3), (Points{2, 3}));
  EXPECT_EQ(graph_of(Pattern::tree).needs(0, 5), Points{2});
  EXPECT_EQ(graph_of(Pattern::fft).needs(1, 3), (Points{1, 3, 5}));
  EXPECT_EQ(graph_of(Pattern::all_to_all, 4).needs(0, 1), (Points{0, 1, 2, 3}));
  EXPECT_EQ(graph_of(Pattern::nearest, 8, 9, 5).needs(0, 3), (Points{1, 2, 3, 4, 5}));
  EXPECT_EQ(graph_of(Pattern::nearest, 8, 9, 4).needs(0, 3), (Points{1, 2, 3, 4}));
  EXPECT_EQ(graph_of(Pattern::nearest, 8, 9, 0).needs(0, 3), Points{});
  EXPECT_EQ(graph_of(Pattern::spread).needs(1, 0), (Points{0, 3, 6}));  // 0, 8/3 + 1, 16/3 + 1
}

TEST(TaskGraph, has_points_only_where_its_pattern_is_active) {
  EXPECT_EQ(graph_of(Pattern::stencil_1d).window(5), (Window{0, 8}));
  EXPECT_EQ(graph_of(Pattern::stencil_1d).window(-1), (Window{0, 0}));
  EXPECT_EQ(graph_of(Pattern::tree).window(2), (Window{0, 4}));
  EXPECT_EQ(graph_of(Pattern::tree).window(60), (Window{0, 8}));
  EXPECT_EQ(graph_of(Pattern::dom).window(3), (Window{2, 4}));
  EXPECT_EQ(graph_of(Pattern::dom).window(8), (Window{7, 1}));
}

TEST(TaskGraph, repeats_after_its_period) {
  EXPECT_EQ(graph_of(Pattern::fft).n_sets(), 3);  // log2 8
  EXPECT_EQ(graph_of(Pattern::fft, 6).n_sets(), 3);
  EXPECT_EQ(graph_of(Pattern::fft, 1).n_sets(), 1);
  EXPECT_EQ(graph_of(Pattern::fft).set_of(1), 0);
  EXPECT_EQ(graph_of(Pattern::fft).set_of(4), 0);
  EXPECT_EQ(graph_of(Pattern::spread).n_sets(), 3);
  EXPECT_EQ(graph_of(Pattern::spread, 8, 9, 5).n_sets(), 2);  // no more without coming back
  EXPECT_EQ(graph_of(Pattern::spread).set_of(4), 1);
}

TEST(TaskGraph, has_each_edge_on_both_sides) {
  for (const auto& graph : all_patterns())
    for (int set = 0; set < graph.n_sets(); ++set)
      for (int to = 0; to < graph.width(); ++to)
        for (int from = 0; from < graph.width(); ++from) {
          const auto needs = graph.needs(set, to), needed_by = graph.needed_by(set, from);
          EXPECT_EQ(std::count(needs.begin(), needs.end(), from),
                    std::count(needed_by.begin(), needed_by.end(), to))
              << about(graph) << ", set " << set << ", edge " << from << " -> " << to;
        }
}

TEST(TaskGraph, lists_points_once_in_order_inside_the_graph) {
  for (const auto& graph : all_patterns())
    for (int set = 0; set < graph.n_sets(); ++set)
      for (int point = 0; point < graph.width(); ++point)
        for (const auto& list : {graph.needs(set, point), graph.needed_by(set, point)}) {
          EXPECT_TRUE(std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end())
              << about(graph);
          EXPECT_TRUE(list.empty() || (list.front() >= 0 && list.back() < graph.width())) << about(graph);
        }
}

TEST(TaskGraph, takes_inputs_only_from_points_that_were_active) {
  for (const auto& graph : all_patterns())
    for (int t = 0; t < graph.steps(); ++t) {
      const Window now = graph.window(t), before = graph.window(t - 1);
      EXPECT_TRUE(now.first >= 0 && now.count >= 1 && now.first + now.count <= graph.width()) << about(graph);
      for (int i = 0; i < now.count; ++i)
        for (const int from : graph.inputs(t, now.first + i)) EXPECT_TRUE(before.has(from)) << about(graph);
    }
}

TEST(TaskGraph, of_random_patterns_is_a_share_of_the_whole_ones) {
  for (const auto& [random, whole] : {std::pair{Pattern::random_nearest, Pattern::nearest},
                                      std::pair{Pattern::random_spread, Pattern::spread}}) {
    const int width = 400, radix = 7;
    const Graph some({.pattern = random, .width = width, .steps = 2, .radix = radix, .fraction = 0.25});
    const Graph all = graph_of(whole, width, 2, radix);
    int n = 0;
    for (int i = 0; i < width; ++i) {
      const auto few = some.needs(1, i), many = all.needs(1, i);
      EXPECT_TRUE(std::includes(many.begin(), many.end(), few.begin(), few.end()));
      EXPECT_TRUE(std::binary_search(few.begin(), few.end(), i));
      n += few.size();
    }
    EXPECT_NEAR(n, width * (1 + 0.25 * (radix - 1)), 5 * std::sqrt(width * (radix - 1) * 0.25 * 0.75));
  }
}

TEST(TaskGraph, refuses_parameters_that_do_not_fit) {
  EXPECT_THROW(graph_of(Pattern::spread, 4, 9, 5), quintet::InputError);
  EXPECT_THROW(graph_of(Pattern::spread, 4, 9, 0), quintet::InputError);
  EXPECT_THROW(Graph({.pattern = Pattern::spread, .width = 8, .radix = 5, .period = 3}), quintet::InputError);
}
