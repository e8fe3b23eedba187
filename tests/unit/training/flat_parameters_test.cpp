#include "surrogates/training/flat_parameters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/training/split_bf16.hpp"
#include "tests/unit/training/flat_sample.hpp"

namespace quintet {
namespace {

namespace fs = std::filesystem;

/// The project's reference numbers.
std::string reference(const std::string& name) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  return std::string(source != nullptr ? source : ".") + "/../shared/data/training/" + name;
}

/// Groups of ranks that play nodes: all in one, each for itself, two and two.
std::vector<Comm> holders(const Comm& comm) {
  std::vector<Comm> groups{comm.node(), comm.split(comm.rank(), 0)};
  if (comm.size() == 4) groups.push_back(comm.split(comm.rank() / 2, comm.rank()));
  return groups;
}

/// What networks compute with: of values in halves the high ones.
template <class Real>
std::vector<Real> as_read(std::vector<Real> values, const PrecisionOptions& precision) {
  if (precision.splits())
    for (Real& value : values) value = as_bf16(static_cast<float>(value));
  return values;
}

template <class Real>
void ranks_take_the_steps_of_one(const Comm& comm, const PrecisionOptions& precision = whole) {
  // One optimiser with all ranks' gradients, added in rank order.
  auto theta = std::vector<Real>();
  for (const double value : start()) theta.push_back(static_cast<Real>(value));
  std::vector<Real> sum(theta.size()), first(theta.size()), second(theta.size());
  for (int t = 1; t <= 3; ++t) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] = gradient_of<Real>(0, t, i);
      for (int rank = 1; rank < comm.size(); ++rank) sum[i] += gradient_of<Real>(rank, t, i);
    }
    optimiser_step<Real>({}, t, 0.01, {theta, sum, {first, second}});
  }
  const auto groups = holders(comm);
  for (std::size_t group = 0; group < groups.size(); ++group)
    for (const int stage : {0, 1, 2, 3})
      for (const auto& [bucket, progress] :
           {std::pair{0.0, Progress::blocks}, std::pair{0.005, Progress::none}}) {
        if (stage == 3 && groups[group].size() > 1) continue;  // what is shared is not divided
        const auto trained =
            train<Real>(comm, groups[group], {}, at_stage(stage, bucket, progress), 3, precision);
        const std::string what = fmt::format("group {}, stage {}, bucket {}, {}", group, stage, bucket,
                                             progress == Progress::none ? "none" : "blocks");
        if (group < 2) {  // two and two add (0 + 1) + (2 + 3)
          ASSERT_EQ(trained.values, as_read(theta, precision)) << what;
          if (comm.is_root()) {
            ASSERT_EQ(trained.gathered, theta) << what;
            ASSERT_EQ(trained.states[0], first) << what;
            ASSERT_EQ(trained.states[1], second) << what;
          }
        } else {
          const auto plain = train<Real>(comm, groups[group], {}, at_stage(0));
          ASSERT_EQ(trained.values, as_read(plain.values, precision)) << what;
          for (std::size_t i = 0; i < theta.size(); ++i) ASSERT_NEAR(plain.values[i], theta[i], 1e-4) << what;
        }
      }
}

TEST(FlatParameters, all_stages_buckets_and_holders_take_the_steps_of_one_to_the_bit) {
  ranks_take_the_steps_of_one<float>(Comm::world());
  ranks_take_the_steps_of_one<double>(Comm::world());
}

/// Updates are exact: gradients here do not know the values, so halves, joined, are the floats' run.
TEST(FlatParameters, halves_take_the_steps_of_floats_to_the_bit) {
  ranks_take_the_steps_of_one<float>(Comm::world(), halves);
}

std::vector<float> floats_of(const Tree& bits) {
  std::vector<float> values;
  for (const auto& item : bits.items())
    values.push_back(
        std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(item.as_text(), nullptr, 16))));
  return values;
}

/// ../shared/data/training/split_bf16.json: weights after steps of SGD, as they are and as halves.
TEST(FlatParameters, halves_are_those_of_the_reference) {
  if (!fs::exists(reference("split_bf16.json"))) GTEST_SKIP() << "../shared/data/training is not here";
  const Tree given = read_yaml(reference("split_bf16.json"));
  const auto begin = floats_of(given.at("start"));
  const std::vector<double> first(begin.begin(), begin.end());
  OptimiserOptions sgd;
  sgd.kind = OptimiserKind::sgd;
  const Comm comm = Comm::world();
  for (const int stage : {0, 1, 2, 3}) {
    FlatParameters<float> parameters(comm, one_block("all", first.size()), first, sgd, at_stage(stage),
                                     comm.split(comm.rank(), 0), {}, halves);
    std::int64_t t = 0;
    for (const auto& step : given.at("cases").items()) {
      const auto gradient = floats_of(step.at("gradient"));
      const auto own = parameters.gradient(0);
      if (comm.is_root()) std::copy(gradient.begin(), gradient.end(), own.begin());
      parameters.finish(0);
      parameters.step(++t, step.at("rate").as_number());
      const auto weights = parameters.all_values(), expected = floats_of(step.at("weight"));
      parameters.enter(0, FlatParameters<float>::Way::forward);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto split = step.at("rounded").items()[i].as_text();
        EXPECT_EQ(std::bit_cast<std::uint32_t>(parameters.values(0)[i]),
                  std::stoul(split.substr(0, 4) + "0000", nullptr, 16));
        if (!comm.is_root()) continue;
        ASSERT_EQ(weights[i], expected[i]) << "stage " << stage << ", step " << t << ", number " << i;
        EXPECT_EQ(fmt::format("{:04x}:{:04x}", high_half(weights[i]),
                              static_cast<std::uint16_t>(low_half(weights[i]))),
                  split);
      }
      parameters.leave();
    }
    EXPECT_EQ(t, 3);
  }
}

TEST(FlatParameters, every_optimiser_may_be_divided) {
  const Comm comm = Comm::world();
  for (const auto& row : optimisers()) {
    OptimiserOptions options;
    options.kind = row.value;
    options.momentum = row.value == OptimiserKind::sgd ? 0.9 : 0;
    options.weight_decay = row.value == OptimiserKind::adamw ? 0.1 : 0;
    const auto undivided = train<float>(comm, comm.node(), options, at_stage(0)),
               divided = train<float>(comm, comm.split(comm.rank(), 0), options, at_stage(3));
    EXPECT_EQ(undivided.values, divided.values) << row.name;
    EXPECT_EQ(undivided.states, divided.states) << row.name;
    const auto split = train<float>(comm, comm.split(comm.rank(), 0), options, at_stage(2), 3, halves);
    EXPECT_EQ(undivided.gathered, split.gathered) << row.name;
  }
}

/// Length of the sum of all ranks' gradients in step 1.
double gradient_length(int n_ranks) {
  double squares = 0;
  for (std::size_t i = 0; i < n_parameters(); ++i) {
    double sum = 0;
    for (int rank = 0; rank < n_ranks; ++rank) sum += gradient_of<double>(rank, 1, i);
    squares += sum * sum;
  }
  return std::sqrt(squares);
}

TEST(FlatParameters, a_gradient_longer_than_clip_norm_is_shortened_to_it) {
  const Comm comm = Comm::world();
  const double length = gradient_length(comm.size());
  OptimiserOptions sgd;
  sgd.kind = OptimiserKind::sgd;
  const auto plain = train<double>(comm, comm.node(), sgd, at_stage(0), 1);
  sgd.clip_norm = 1.000001 * length;
  EXPECT_EQ(train<double>(comm, comm.node(), sgd, at_stage(0), 1).values, plain.values);
  sgd.clip_norm = 0.25 * length;
  const auto clipped = train<double>(comm, comm.node(), sgd, at_stage(0), 1).values;
  const auto begin = start();
  for (std::size_t i = 0; i < begin.size(); ++i)
    ASSERT_NEAR(clipped[i] - begin[i], 0.25 * (plain.values[i] - begin[i]), 1e-12 * length) << i;
}

TEST(FlatParameters, clipped_steps_are_the_same_to_the_bit_at_all_stages_and_holders) {
  const Comm comm = Comm::world();
  OptimiserOptions adam;
  adam.clip_norm = 0.1 * gradient_length(comm.size());
  const auto first = train<float>(comm, comm.node(), adam, at_stage(0));
  const auto plain = train<float>(comm, comm.node(), {}, at_stage(0));
  if (comm.is_root()) {  // others have none
    EXPECT_NE(plain.states, first.states);
  }
  const auto groups = holders(comm);
  for (std::size_t group = 0; group < std::min<std::size_t>(groups.size(), 2); ++group)
    for (const int stage : {0, 1, 2, 3}) {
      if (stage == 3 && groups[group].size() > 1) continue;
      const auto other = train<float>(comm, groups[group], adam, at_stage(stage));
      EXPECT_EQ(other.values, first.values) << group << stage;
      EXPECT_EQ(other.states, first.states) << group << stage;
    }
}

/// The blocks above with the weight of b [10, 99] in 2 x 2 parts, of 5 rows and 40 or 59 columns each.
std::vector<BlockTensors> blocks_in_parts() {
  auto all = blocks();
  auto& b = all[1];
  const std::size_t weight = 7;  // where it begins
  b.tensors.erase(b.tensors.begin());
  b.tensors[0].rows = {weight + 990, 10, 0};
  std::vector<BlockTensors> parts;
  for (const int row : {0, 1})
    for (const int column : {0, 1}) {
      const std::size_t n = column == 0 ? 40 : 59;
      const BlockTensors::Rows rows{weight + (row * 5 * 99 + column * 40), n, 99};
      parts.push_back({fmt::format("b [{}, {}]", row, column),
                       {{"weight", {5, static_cast<std::int64_t>(n)}, rows}},
                       {1, 0, row, column}});
    }
  all.insert(all.begin() + 2, parts.begin(), parts.end());
  return all;
}

/// Steps in which parts are read as tiles are: rows forward, columns backward, and rows of gradients.
template <class Real>
Trained<Real> train_in_parts(const Comm& comm, const Comm& holder, const ParallelOptions& parallel,
                             const PrecisionOptions& precision) {
  using Way = PassWay;
  const auto model = blocks_in_parts();
  FlatParameters<Real> parameters(comm, model, start(), {}, parallel, holder, {}, precision);
  std::vector<double> expected;  // what is to be read
  const auto check = [&](int block) {
    const auto values = parameters.values(block);
    const auto& tensors = model[block].tensors;
    const auto& rows = tensors[0].rows;
    if (!rows) return;
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i],
                static_cast<Real>(expected[rows->first + i / rows->n * rows->stride + i % rows->n]));
  };
  const auto add = [&](int block, int t) {
    const auto to = parameters.gradient(block);
    const auto& unit = parameters.layout().blocks()[block];
    const auto& rows = model[block].tensors[0].rows;
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] += gradient_of<Real>(
          comm.rank(), t, rows ? rows->first + i / rows->n * rows->stride + i % rows->n : unit.first + i);
    parameters.finish(block);
  };
  for (int t = 1; t <= 3; ++t) {
    auto all = parameters.all_computed_values();
    all.resize(n_parameters());
    comm.broadcast(std::span(all));
    expected.assign(all.begin(), all.end());
    for (int b = 0; b < 8; ++b) {
      parameters.enter(b, Way::forward);
      check(b);
    }
    parameters.leave();
    for (const int b : {7, 6, 1, 2, 4, 3, 5}) {
      parameters.enter(b, Way::backward);
      check(b);
      if (b > 5) add(b, t);
    }
    for (const int b : {2, 3, 4, 5, 1}) add(b, t);
    parameters.enter(0, Way::backward);
    add(0, t);
    parameters.leave();
    parameters.step(t, 0.01);
  }
  Trained<Real> trained{{}, parameters.all_values(), {}, {}, {}};
  for (int s = 0; s < 2; ++s) trained.states.push_back(parameters.all_states(s));
  return trained;
}

TEST(FlatParameters, layers_in_parts_are_whole_ones_to_files_and_to_the_bit) {
  const Comm comm = Comm::world();
  for (const Comm& holder : holders(comm))
    for (const int stage : {0, 1, 2, 3})
      for (const auto& precision : {whole, halves}) {
        if (stage == 3 && holder.size() > 1) continue;
        const auto expected = train<float>(comm, holder, {}, at_stage(stage), 3, precision),
                   parts = train_in_parts<float>(comm, holder, at_stage(stage, 0.005), precision);
        EXPECT_EQ(parts.gathered, expected.gathered) << stage;
        EXPECT_EQ(parts.states, expected.states) << stage;
      }
}

void restarts_to_the_bit(const PrecisionOptions& precision) {
  const Comm comm = Comm::world(), alone = comm.split(comm.rank(), 0);
  const auto through = train<float>(comm, alone, {}, at_stage(1), 4, precision);
  auto first = train<float>(comm, comm.node(), {}, at_stage(0), 2, precision);
  FlatParameters<float> parameters(comm, blocks(), start(), {}, at_stage(3, 0.005), alone, {}, precision);
  first.gathered.resize(n_parameters());
  comm.broadcast(std::span(first.gathered));
  parameters.assign_values(first.gathered);
  for (int s = 0; s < 2; ++s) {
    auto state = first.states[s];
    state.resize(n_parameters());
    comm.broadcast(std::span(state));
    parameters.assign_state(s, state);
  }
  for (int t = 3; t <= 4; ++t) {
    add_gradients(parameters, comm.rank(), t);
    parameters.step(t, 0.01);
  }
  EXPECT_EQ(values_read(parameters), through.values);
  EXPECT_EQ(parameters.all_values(), through.gathered);
}

TEST(FlatParameters, a_restart_goes_on_to_the_bit_at_any_stage) {
  restarts_to_the_bit(whole);
  restarts_to_the_bit(halves);
}

TEST(FlatParameters, a_gradient_that_is_no_number_on_one_rank_stops_all_with_the_weights_of_before) {
  const Comm comm = Comm::world();
  for (const Comm& holder : holders(comm))
    for (const int stage : {0, 1, 2, 3}) {
      if (stage == 3 && holder.size() > 1) continue;
      FlatParameters<float> parameters(comm, blocks(), start(), {}, at_stage(stage), holder);
      const auto before = values_read(parameters);
      if (comm.rank() == comm.size() - 1) parameters.gradient(3)[5] = std::numeric_limits<float>::quiet_NaN();
      add_gradients(parameters, comm.rank(), 1);
      try {
        parameters.step(1, 0.01);
        ADD_FAILURE() << "stepped at stage " << stage;
      } catch (const NumericalError& error) {
        EXPECT_NE(std::string(error.what()).find("block 'd'"), std::string::npos) << error.what();
      }
      EXPECT_EQ(values_read(parameters), before);
      // and nothing of it is left
      add_gradients(parameters, comm.rank(), 1);
      parameters.step(1, 0.01);
      EXPECT_EQ(values_read(parameters), train<float>(comm, holder, {}, at_stage(0), 1).values);
    }
}

TEST(FlatParameters, total_gradient_is_the_sum_of_all_ranks) {
  const Comm comm = Comm::world();
  for (const int stage : {0, 2, 3}) {
    FlatParameters<double> parameters(comm, blocks(), start(), {}, at_stage(stage),
                                      comm.split(comm.rank(), 0));
    add_gradients(parameters, comm.rank(), 1);
    const auto total = parameters.total_gradient();
    for (std::size_t i = 0; i < total.size(); ++i) {
      double expected = 0;
      for (int rank = 0; rank < comm.size(); ++rank) expected += gradient_of<double>(rank, 1, i);
      ASSERT_NEAR(total[i], expected, 1e-9);
    }
  }
}

}  // namespace
}  // namespace quintet
