#include <cmath>
#include <limits>
#include <span>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "surrogates/sequence/network/network.hpp"
#include "surrogates/sequence/training/training.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/support/tensor_copies.hpp"
#include "tests/unit/sequence/network_cases.hpp"
#include "tests/unit/sequence/waves.hpp"

/// Trainings whose networks and arrays are LibTorch's on the device of tests beside those of our kernels and
/// optimiser.
namespace quintet::sequence {
namespace {

Architecture network() {
  return test::network_of({{NodeKind::lstm, 24}, {NodeKind::lstm, 11}}, {{0, 2}}, Head::lstm, 2, 2, steps);
}
std::int64_t n_parameters() { return graph_of(network()).n_parameters; }

enum class Place { host, device };

TrainingRanks ranks_of(const Comm& comm, Place place, int stage = 0) {
  TrainingRanks ranks{comm};
  ranks.parallel.holder = Holder::rank;
  ranks.parallel = ranks.parallel.at_stage(stage);
  if (place == Place::device) ranks.device = quintet::test::device_session();
  return ranks;
}

/// 50 windows in batches of 16, 16, 16 and 2: of three ranks one has nothing of the last.
class Lesson {
 public:
  Lesson() {
    options.epochs = 4;
    options.batch = 16;
    options.learning_rate = 5e-3;
    options.weight_decay = 0.1;
    options.twin_biases = true;
    options.precision = Precision::float64;
  }
  [[nodiscard]] Trainer trainer(const TrainingRanks& ranks) const {
    TrainingOptions of_ranks = options;
    of_ranks.engine = ranks.device.is_cpu() ? Engine::kernels : Engine::torch;
    return {network(), steps, training_.data(), validation_.data(), of_ranks, 3, ranks};
  }
  TrainingOptions options;

 private:
  Waves training_{50}, validation_{20, 50};
};

void finish(Trainer& trainer) {
  while (trainer.stopped() == Stopped::not_yet) trainer.advance();
}

/// Losses, weights and moments, on rank 0. Collective.
void expect_near(const Trainer& found, const Trainer& expected, double tolerance, const std::string& what) {
  const auto a = found.state(), b = expected.state();
  if (!Comm::world().is_root()) return;
  const auto compare = [&](const std::vector<double>& x, const std::vector<double>& y, const char* name) {
    ASSERT_EQ(x.size(), y.size()) << what << name;
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], y[i], tolerance * (1 + std::abs(y[i]))) << what << ", " << name << ' ' << i;
  };
  compare(a.arrays.values, b.arrays.values, "weight");
  for (const int s : {0, 1}) compare(a.arrays.states[s], b.arrays.states[s], "moment");
  compare(a.best, b.best, "best weight");
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t i = 1; i < a.history.size(); ++i) {
    EXPECT_NEAR(a.history[i].training, b.history[i].training, tolerance) << what;
    EXPECT_NEAR(a.history[i].validation, b.history[i].validation, tolerance) << what;
  }
}

TEST(TrainingOnDevice, is_that_of_the_host_at_every_stage) {
  const Lesson lesson;
  auto host = lesson.trainer(ranks_of(Comm::world(), Place::host));
  finish(host);
  EXPECT_EQ(host.account().residence, "");
  for (const int stage : {0, 1, 2}) {
    auto there = lesson.trainer(ranks_of(Comm::world(), Place::device, stage));
    EXPECT_TRUE(there.account().is_resident);
    finish(there);
    expect_near(there, host, 1e-9, fmt::format("stage {}", stage));
  }
}

TEST(TrainingOnDevice, is_what_one_rank_makes) {
  const Lesson lesson;
  auto alone = lesson.trainer(ranks_of(Comm::self(), Place::device));
  finish(alone);
  for (const int stage : {0, 1, 2}) {
    auto all = lesson.trainer(ranks_of(Comm::world(), Place::device, stage));
    finish(all);
    const auto a = all.result().history, b = alone.result().history;
    for (std::size_t i = 1; i < b.size(); ++i) EXPECT_NEAR(a[i].training, b[i].training, 1e-11);
    expect_near(all, alone, 1e-9, fmt::format("stage {}", stage));
  }
}

/// As a checkpoint gives it: to all ranks.
TrainingState everywhere(TrainingState state) {
  const auto send = [&](std::vector<double>& values) {
    values.resize(n_parameters());
    Comm::world().broadcast(std::span<double>(values));
  };
  send(state.arrays.values);
  for (auto& values : state.arrays.states) send(values);
  send(state.best);
  return state;
}

TEST(TrainingOnDevice, goes_on_from_the_host_and_back) {
  const Comm comm = Comm::world();
  const Lesson lesson;
  auto whole = lesson.trainer(ranks_of(comm, Place::host));
  finish(whole);
  auto first = lesson.trainer(ranks_of(comm, Place::host));
  first.advance();
  auto second = lesson.trainer(ranks_of(comm, Place::device, 2));
  second.restore(everywhere(first.state()));
  second.advance(), second.advance();
  auto third = lesson.trainer(ranks_of(comm, Place::host));
  third.restore(everywhere(second.state()));
  finish(third);
  expect_near(third, whole, 1e-9, "moved");
  // On one device to the bit.
  auto there = lesson.trainer(ranks_of(comm, Place::device)),
       begun = lesson.trainer(ranks_of(comm, Place::device)),
       resumed = lesson.trainer(ranks_of(comm, Place::device));
  finish(there);
  begun.advance();
  resumed.restore(everywhere(begun.state()));
  finish(resumed);
  expect_near(resumed, there, 0, "resumed");
}

/// Weights are copied for what reads them, the best ones and checkpoints; gradients never.
TEST(TrainingOnDevice, no_gradient_and_no_weight_travels_in_a_step) {
  Lesson lesson;
  lesson.options.min_improvement = std::numeric_limits<double>::max();  // none is better than the first
  const auto copies_of = [&](Trainer trainer) {
    trainer.advance();  // what LibTorch makes once
    const std::int64_t bytes = trainer.account().bytes_copied;
    const quintet::test::TensorCopies copies(n_parameters());
    trainer.advance(), trainer.advance();
    EXPECT_EQ(trainer.account().bytes_copied, bytes);
    return copies.so_far();
  };
  TrainingRanks there = ranks_of(Comm::self(), Place::device);
  EXPECT_EQ(copies_of(lesson.trainer(there)), 0);
  there.offload.delayed_update.emplace();
  EXPECT_GE(copies_of(lesson.trainer(there)), 2 * 4) << "the test sees those of arrays that are the host's";
}

}  // namespace
}  // namespace quintet::sequence
