#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/potential/training/data.hpp"

namespace quintet::potential {
namespace {

LabelledSystem system_of(std::size_t n_frames, std::size_t n_atoms) {
  Configuration c;
  c.type_names = {"X"};
  c.types.assign(n_atoms, 0);
  c.positions.assign(n_atoms, {0, 0, 0});
  return {"some", std::vector<Configuration>(n_frames, c)};
}

std::vector<LabelledSystem> two_systems() { return {system_of(30, 4), system_of(10, 8)}; }

/// How often each system is drawn in `n` steps.
std::vector<double> frequencies(const Sampler& sampler, std::size_t n_systems, int n) {
  std::vector<double> count(n_systems, 0.0);
  for (int step = 0; step < n; ++step) count[sampler.batch(step).system] += 1.0 / n;
  return count;
}

TEST(Sampler, draws_systems_by_their_number_of_batches_or_by_weights) {
  constexpr int n = 20000;
  const double error = 4 * std::sqrt(0.25 / n);  // four standard deviations

  const auto by_batches = frequencies(Sampler(two_systems(), 3, 0, {}, 7), 2, n);  // 10 and 4 batches
  const auto uniform = frequencies(Sampler(two_systems(), 3, 0, {1, 1}, 7), 2, n);
  const auto one = frequencies(Sampler(two_systems(), 3, 0, {0, 2}, 7), 2, 100);

  EXPECT_NEAR(by_batches[0], 10.0 / 14, error);
  EXPECT_NEAR(uniform[0], 0.5, error);
  EXPECT_EQ(one[0], 0);
}

TEST(Sampler, an_epoch_shows_every_frame_of_every_system) {
  EXPECT_EQ(Sampler(two_systems(), 3, 0, {}, 7).batches_an_epoch(), 14);      // 10 and 4
  EXPECT_EQ(Sampler(two_systems(), 3, 0, {1, 1}, 7).batches_an_epoch(), 20);  // twice the longer one
  EXPECT_EQ(Sampler(two_systems(), 3, 0, {0, 2}, 7).batches_an_epoch(), 4);
  EXPECT_EQ(Sampler(two_systems(), 3, 0, {3, 1}, 7).batches_an_epoch(), 16);  // a quarter of the draws
}

TEST(Sampler, takes_every_frame_once_an_epoch_and_in_another_order_the_next) {
  const Sampler sampler({system_of(30, 4)}, 4, 0, {}, 3);  // 30 is no multiple of 4: batches reach across
  std::vector<std::size_t> frames;
  for (int step = 0; step < 45; ++step) {
    const auto batch = sampler.batch(step);
    EXPECT_EQ(batch.frames.size(), 4u);
    frames.insert(frames.end(), batch.frames.begin(), batch.frames.end());
  }

  std::set<std::vector<std::size_t>> orders;
  for (std::size_t epoch = 0; epoch < 6; ++epoch) {
    const std::vector<std::size_t> order(frames.begin() + 30 * epoch, frames.begin() + 30 * (epoch + 1));
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 30u);
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(Sampler, places_every_frame_everywhere_equally_often) {
  constexpr int n_epochs = 6000, n = 5;
  const Sampler sampler({system_of(n, 4)}, 1, 0, {}, 11);
  double count[n][n] = {};
  for (int step = 0; step < n * n_epochs; ++step) count[sampler.batch(step).frames[0]][step % n] += 1;

  const double expected = double(n_epochs) / n;
  for (const auto& row : count)
    for (const double c : row) EXPECT_NEAR(c, expected, 4.5 * std::sqrt(expected * (1 - 1.0 / n)));
}

TEST(Sampler, depends_on_seed_and_step_alone) {
  const Sampler whole(two_systems(), 3, 0, {}, 7), restarted(two_systems(), 3, 0, {}, 7),
      other(two_systems(), 3, 0, {}, 8);
  std::vector<Sampler::Batch> batches;
  for (int step = 0; step < 200; ++step) batches.push_back(whole.batch(step));

  int different = 0;
  for (const int step : {150, 199, 0, 77, 78, 3}) {
    EXPECT_EQ(restarted.batch(step).system, batches[step].system);
    EXPECT_EQ(restarted.batch(step).frames, batches[step].frames);
    different += other.batch(step).frames != batches[step].frames;
  }
  EXPECT_GT(different, 2);
}

TEST(Sampler, automatic_batches_hold_the_least_frames_with_enough_atoms) {
  const std::vector<LabelledSystem> systems{system_of(100, 192), system_of(100, 31), system_of(100, 1),
                                            system_of(7, 1)};
  const Sampler sampler(systems, 0, 32, {}, 1);

  EXPECT_EQ(sampler.batch_size(0), 1);
  EXPECT_EQ(sampler.batch_size(1), 2);
  EXPECT_EQ(sampler.batch_size(2), 32);
  EXPECT_EQ(sampler.batch_size(3), 7);  // no more than there are
  EXPECT_EQ(sampler.n_batches(1), 50);
  EXPECT_EQ(sampler.n_batches(2), 4);
}

TEST(Sampler, refuses_probabilities_that_are_none) {
  EXPECT_THROW(Sampler(two_systems(), 1, 0, {1}, 1), InputError);
  EXPECT_THROW(Sampler(two_systems(), 1, 0, {1, -1}, 1), InputError);
  EXPECT_THROW(Sampler(two_systems(), 1, 0, {0, 0}, 1), InputError);
  EXPECT_THROW(Sampler(two_systems(), -1, 0, {}, 1), InputError);
  EXPECT_THROW(Sampler({}, 1, 0, {}, 1), InputError);
}

}  // namespace
}  // namespace quintet::potential
