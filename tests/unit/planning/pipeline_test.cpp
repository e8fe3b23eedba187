#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/planning/networks.hpp"

using namespace quintet;
using namespace quintet::planning;

namespace {

/// One pass of S micro-batches through stages that each take `seconds[i]` and then hand on for `hop`, by
/// events.
double pass_by_events(const std::vector<double>& seconds, int micro_batches, double hop) {
  std::vector<double> free(seconds.size(), 0.0);
  double end = 0;
  for (int k = 0; k < micro_batches; ++k) {
    double arrives = 0;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const double done = std::max(free[i], arrives) + seconds[i];
      const bool last = i + 1 == seconds.size();
      free[i] = arrives = done + (last ? 0 : hop);
      end = std::max(end, done);
    }
  }
  return end;
}

/// n dense layers of the same size.
Job even_job(int n, double micro_batches) {
  Job job = small_job();
  job.network.layers.assign(n, {"dense", LayerKind::dense, {10}, {10}, {}, 100});
  job.network.update_seconds = 0;
  job.micro_batches = micro_batches;
  return job;
}

/// An epoch by events: all forward passes of a step, then all backward ones.
double epoch_by_events(const Job& job, int p) {
  const auto shares = time_shares(job.network, false);
  const auto begins = pipeline_stages(job.network, p);
  const double samples = job.batch / job.micro_batches;
  std::vector<double> forward, backward;
  double items = 0;
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    double share = 0;
    for (int l = begins[s]; l < begins[s + 1]; ++l) share += shares[l];
    forward.push_back(samples * share * job.network.forward_seconds);
    backward.insert(backward.begin(), samples * share * job.network.backward_seconds);
    if (s + 2 < begins.size()) items = std::max(items, job.network.layers[begins[s + 1] - 1].y_items());
  }
  const double hop = p == 1 ? 0 : point_to_point(samples * items * 4).seconds(job.links.among(p));
  const int n = job.micro_batches;
  return job.samples / job.batch * (pass_by_events(forward, n, hop) + pass_by_events(backward, n, hop));
}

}  // namespace

TEST(Pipeline, of_equal_stages_takes_as_long_as_its_events) {
  for (const int p : {1, 2, 3, 4, 8})
    for (const double micro_batches : {1.0, 2.0, 8.0, 64.0}) {
      const Job job = even_job(24, micro_batches);
      const auto plan = project(job, Strategy::pipeline, p);
      ASSERT_EQ(plan.impossible, "");
      EXPECT_NEAR(plan.seconds() / epoch_by_events(job, p), 1, 1e-12) << p << " " << micro_batches;
    }
}

TEST(Pipeline, of_unequal_stages_takes_no_longer_than_the_formula) {
  Job job = small_job();
  job.network.update_seconds = 0;
  for (int p = 1; p <= 6; ++p) {
    const auto plan = project(job, Strategy::pipeline, p);
    EXPECT_GE(plan.seconds() * (1 + 1e-12), epoch_by_events(job, p)) << p;
  }
}

TEST(Pipeline, loses_the_bubble) {
  const double whole = project(even_job(8, 4), Strategy::serial, 1).compute;

  // (p - 1) of (S + p - 1) slots are empty.
  EXPECT_NEAR(project(even_job(8, 4), Strategy::pipeline, 4).compute, whole / 4 / (1 - 3.0 / 7), 1e-9);
}

TEST(Pipeline, stages_are_as_even_as_layers_allow) {
  const Network network = small_network();
  const auto shares = time_shares(network, false);
  const int n = shares.size();
  const auto slowest = [&](const std::vector<int>& begins) {
    double most = 0;
    for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
      double sum = 0;
      for (int l = begins[s]; l < begins[s + 1]; ++l) sum += shares[l];
      most = std::max(most, sum);
    }
    return most;
  };

  const auto three = pipeline_stages(network, 3);

  double best = 1;
  for (int a = 1; a < n; ++a)
    for (int b = a + 1; b < n; ++b) best = std::min(best, slowest({0, a, b, n}));
  EXPECT_DOUBLE_EQ(slowest(three), best);
  EXPECT_EQ(pipeline_stages(network, n), (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
}
