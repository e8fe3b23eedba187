#include <cmath>

#include <gtest/gtest.h>

#include "surrogates/training/shared_parameters.hpp"

namespace quintet {
namespace {

constexpr std::size_t n = 10007;  // no multiple of any slice

std::vector<double> start() {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(static_cast<double>(i));
  return values;
}

/// Three steps with gradients that differ by rank, beside one plain Adam with their sum.
void steps_equal_plain_adam(const Comm& comm, const Comm& node) {
  SharedParameters<double> shared(comm, start(), node);
  auto theta = start();
  std::vector<double> gradient(n), m(n, 0.0), v(n, 0.0);
  for (int t = 1; t <= 3; ++t) {
    gradient.assign(n, 0.0);
    for (int rank = 0; rank < comm.size(); ++rank)
      for (std::size_t i = 0; i < n; ++i) gradient[i] += std::cos(0.1 * static_cast<double>(i) + rank + t);
    for (std::size_t i = 0; i < n; ++i)
      shared.gradient()[i] += std::cos(0.1 * static_cast<double>(i) + comm.rank() + t);
    const auto total = shared.total_gradient();
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(total[i], gradient[i], 1e-13);
    adam_step<double>({}, t, 0.01, theta, gradient, m, v);
    shared.step({}, t, 0.01);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(shared.gradient()[i], 0.0);
      ASSERT_NEAR(shared.values()[i], theta[i], 1e-11) << "step " << t << ", parameter " << i;
      ASSERT_NEAR(shared.moment2()[i], v[i], 1e-13);
    }
  }
  const auto values = comm.all_gather(shared.values()[n / 2]);
  for (const double value : values) EXPECT_EQ(value, values.front());
}

TEST(SharedParameters, ranks_of_a_node_take_the_steps_of_one) {
  const Comm comm = Comm::world();
  steps_equal_plain_adam(comm, comm.node());
}

TEST(SharedParameters, so_do_nodes_of_one_rank) {
  const Comm comm = Comm::world();
  steps_equal_plain_adam(comm, comm.split(comm.rank(), 0));
}

TEST(SharedParameters, and_nodes_of_two) {
  const Comm comm = Comm::world();
  if (comm.size() != 4) GTEST_SKIP() << "needs four ranks";
  steps_equal_plain_adam(comm, comm.split(comm.rank() / 2, comm.rank()));
}

/// Bytes that the ranks of a node of this size send in three steps.
void gradient_bytes_equal_the_formula(const Comm& comm, const Comm& node) {
  SharedParameters<float> shared(comm, start(), node);
  const auto before = shared.traffic();
  EXPECT_EQ(before.messages, 0);
  for (int t = 1; t <= 3; ++t) shared.step({}, t, 0.01);
  const auto after = shared.traffic();
  const bool travels = node.size() < comm.size();
  EXPECT_EQ(after.messages, travels ? 3 : 0);
  // A node sends its sum once, whatever its number of ranks.
  EXPECT_EQ(node.sum(static_cast<long>(after.bytes)), travels ? static_cast<long>(3 * n * sizeof(float)) : 0);
}

TEST(SharedParameters, gradients_travel_once_a_node_and_step) {
  const Comm comm = Comm::world();
  gradient_bytes_equal_the_formula(comm, comm.split(comm.rank(), 0));
  gradient_bytes_equal_the_formula(comm, comm.node());
  if (comm.size() % 2 == 0) gradient_bytes_equal_the_formula(comm, comm.split(comm.rank() / 2, comm.rank()));
}

TEST(SharedParameters, takes_a_checkpoint_back) {
  const Comm comm = Comm::world();
  SharedParameters<float> shared(comm, start());
  const std::vector<float> values(n, 1.5f), one(n, 2.0f), two(n, 3.0f);
  shared.assign(values, one, two);
  EXPECT_EQ(shared.values()[n - 1], 1.5f);
  EXPECT_EQ(shared.moment1()[0], 2.0f);
  EXPECT_EQ(shared.moment2()[5], 3.0f);
}

}  // namespace
}  // namespace quintet
