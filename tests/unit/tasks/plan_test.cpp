#include "physics/tasks/plan.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/unit/tasks/cases.hpp"

using namespace quintet::tasks;

namespace {

/// The points whose outputs lie in the slots of a rank's inbox, as their senders have put them there.
std::vector<int> inbox_points(const Graph& graph, int step, const Parts& parts, int rank, Messages messages) {
  const auto mine = plan_step(graph, step, parts, rank, messages);
  std::vector<int> points(mine.n_inbox, -1);
  std::set<int> partners;
  for (const auto& message : mine.receives) partners.insert(message.partner);
  for (const int partner : partners) {
    const auto theirs = plan_step(graph, step, parts, partner, messages);
    auto send = theirs.sends.begin();
    for (const auto& receive : mine.receives) {
      if (receive.partner != partner) continue;
      send = std::find_if(send, theirs.sends.end(), [&](const auto& m) { return m.partner == rank; });
      if (send == theirs.sends.end() || send->count != receive.count) return {};
      for (int k = 0; k < receive.count; ++k)
        points[receive.first + k] = parts.first(partner) + theirs.outbox[send->first + k];
      ++send;
    }
  }
  return points;
}

/// What the task k of a plan gets, as points of the graph.
std::vector<int> points_of(const StepPlan& plan, std::size_t k, int first, const std::vector<int>& inbox) {
  std::vector<int> points;
  for (int i = plan.first_input[k]; i < plan.first_input[k + 1]; ++i) {
    const int where = plan.inputs[i];
    points.push_back(where >= 0 ? first + where : inbox.at(-1 - where));
  }
  return points;
}

}  // namespace

TEST(Parts, share_all_points_out_in_blocks) {
  for (const int width : {1, 2, 7, 8, 100})
    for (const int n : {1, 2, 3, 5, 8, 130}) {
      const Parts parts{width, n};
      EXPECT_EQ(parts.first(0), 0);
      EXPECT_EQ(parts.first(n), width);
      for (int p = 0; p < width; ++p) {
        const int owner = parts.owner(p);
        EXPECT_TRUE(parts.first(owner) <= p && p < parts.first(owner + 1)) << width << " " << n << " " << p;
      }
    }
}

TEST(StepPlan, brings_every_task_what_the_graph_says_at_any_number_of_ranks) {
  for (const auto& graph : all_patterns())
    for (const int n : {1, 2, 3, 5})
      for (const auto messages : {Messages::by_rank, Messages::by_edge})
        for (int t = 0; t < graph.steps(); ++t) {
          const Parts parts{graph.width(), n};
          int n_tasks = 0;
          for (int rank = 0; rank < n; ++rank) {
            const auto plan = plan_step(graph, t, parts, rank, messages);
            const auto inbox = inbox_points(graph, t, parts, rank, messages);
            ASSERT_EQ(static_cast<int>(inbox.size()), plan.n_inbox)
                << about(graph) << ", step " << t << ", " << n << " ranks";
            for (std::size_t k = 0; k < plan.tasks.size(); ++k) {
              const int point = parts.first(rank) + plan.tasks[k];
              EXPECT_EQ(points_of(plan, k, parts.first(rank), inbox), graph.inputs(t, point))
                  << about(graph) << ", step " << t << ", point " << point << ", " << n << " ranks";
            }
            n_tasks += plan.tasks.size();
          }
          EXPECT_EQ(n_tasks, graph.window(t).count);
        }
}

TEST(StepPlan, computes_first_what_needs_no_other_rank) {
  const Graph graph({.pattern = Pattern::stencil_1d, .width = 12});
  const auto plan = plan_step(graph, 3, {12, 3}, 1, Messages::by_rank);
  EXPECT_EQ(plan.n_interior, 2);
  EXPECT_EQ(plan.tasks, (std::vector<int>{1, 2, 0, 3}));
}

TEST(StepPlan, sends_each_output_once_a_rank_or_once_an_edge) {
  const Graph graph({.pattern = Pattern::all_to_all, .width = 8});
  const Parts parts{8, 2};
  const auto by_rank = plan_step(graph, 1, parts, 0, Messages::by_rank);
  const auto by_edge = plan_step(graph, 1, parts, 0, Messages::by_edge);
  EXPECT_EQ(by_rank.sends, (std::vector<StepPlan::Message>{{1, 0, 4}}));
  EXPECT_EQ(by_edge.sends.size(), 16u);
}
