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

namespace quintet {
namespace {

namespace fs = std::filesystem;

/// The project's reference numbers.
std::string reference(const std::string& name) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  return std::string(source != nullptr ? source : ".") + "/../shared/data/training/" + name;
}

/// Blocks of a few tensors; sizes are no multiples of any slice.
std::vector<BlockTensors> blocks() {
  return {{"a", {{"weight", {1, 7}}}},
          {"b", {{"weight", {10, 99}}, {"bias", {10}}}},
          {"c", {{"bias", {17}}}},
          {"d", {{"weight", {7, 19, 30}}, {"bias", {109}}}}};
}

std::size_t n_parameters() {
  std::size_t n = 0;
  for (const auto& block : blocks()) n += block.size();
  return n;
}

std::vector<double> start() {
  std::vector<double> values(n_parameters());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  return values;
}

/// A rank's gradient: sums of them depend on their order.
template <class Real>
Real gradient_of(int rank, int t, std::size_t i) {
  return std::cos(0.1 * i + rank + t) * std::pow(10.0, (i + 2 * rank) % 5);
}

int n_blocks() { return blocks().size(); }

/// All values as a network reads them on this rank, block by block.
template <class Real>
std::vector<Real> values_read(FlatParameters<Real>& parameters) {
  std::vector<Real> all;
  for (int b = 0; b < n_blocks(); ++b) {
    parameters.enter(b, FlatParameters<Real>::Way::forward);
    const auto part = parameters.values(b);
    all.insert(all.end(), part.begin(), part.end());
  }
  parameters.leave();
  return all;
}

/// A pass forward and one back through the blocks, as a network makes them; both read the values.
template <class Real>
void add_gradients(FlatParameters<Real>& parameters, int rank, int t) {
  const std::vector<Real> forward = values_read(parameters);
  for (int b = n_blocks() - 1; b >= 0; --b) {
    parameters.enter(b, FlatParameters<Real>::Way::backward);
    const std::size_t first = parameters.layout().blocks()[b].first;
    const auto values = parameters.values(b);
    ASSERT_TRUE(std::equal(values.begin(), values.end(), forward.begin() + first));
    const auto to = parameters.gradient(b);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += gradient_of<Real>(rank, t, first + i);
    parameters.finish(b);
  }
  parameters.leave();
}

ParallelOptions at_stage(int stage, double bucket_mb = 0, Progress progress = Progress::blocks) {
  ParallelOptions options;
  options.progress = progress;
  options.strategy = stage == 0 ? ParallelStrategy::data : ParallelStrategy::sharded;
  options.stage = stage;
  options.bucket = bucket_mb;
  return options;
}

/// Values as each rank reads them, values and states on rank 0 after some steps, and what the steps sent.
template <class Real>
struct Trained {
  std::vector<Real> values, gathered;
  std::vector<std::vector<Real>> states;
  Comm::Counter sums, gathers;
};

constexpr PrecisionOptions whole{ParameterPrecision::full}, halves{ParameterPrecision::split_bf16};

template <class Real>
Trained<Real> train(const Comm& comm, const Comm& holder, const OptimiserOptions& optimiser,
                    const ParallelOptions& parallel, int n_steps = 3,
                    const PrecisionOptions& precision = whole) {
  FlatParameters<Real> parameters(comm, blocks(), start(), optimiser, parallel, holder, {}, precision);
  for (int t = 1; t <= n_steps; ++t) {
    add_gradients(parameters, comm.rank(), t);
    parameters.step(t, 0.01);
  }
  Trained<Real> trained{{}, parameters.all_values(), {}, {}, {}};
  for (int s = 0; s < n_states(optimiser); ++s) trained.states.push_back(parameters.all_states(s));
  trained.sums = parameters.traffic(Comm::Call::reduce_scatter);
  trained.gathers = parameters.traffic(Comm::Call::all_gather_into);
  trained.values = values_read(parameters);
  return trained;
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

/// Bytes held and sent against ../shared/data/training/zero.json: its rows of fp32 and of halves, N ranks
/// that share no memory, each block for itself. It counts words; those of gathered halves have 2 bytes.
TEST(FlatParameters, hold_and_send_what_the_formulas_say) {
  if (!fs::exists(reference("zero.json"))) GTEST_SKIP() << "../shared/data/training is not here";
  const Tree given = read_yaml(reference("zero.json"));
  const Comm comm = Comm::world();
  int rows = 0;
  for (const auto& row : given.at("rows").items()) {
    const auto number = [&](const char* key) { return static_cast<std::int64_t>(row.at(key).as_number()); };
    const int stage = number("stage");
    if (number("ranks") != comm.size() || row.at("kind").as_text() == "mixed16") continue;
    const auto& precision = row.at("kind").as_text() == "fp32" ? whole : halves;
    std::vector<BlockTensors> model;
    for (const auto& block : given.at("models").at(row.at("model").as_text()).items())
      model.push_back(
          {block.items()[0].as_text(), {{"all", {static_cast<std::int64_t>(block.items()[1].as_number())}}}});
    std::size_t n = 0;
    for (const auto& block : model) n += block.size();
    FlatParameters<float> parameters(comm, model, std::vector<double>(n), {}, at_stage(stage),
                                     comm.split(comm.rank(), 0), {}, precision);
    const HeldBytes held = parameters.bytes();
    EXPECT_EQ(static_cast<std::int64_t>(parameters.layout().padded()), number("padded"));
    EXPECT_EQ(static_cast<std::int64_t>(parameters.layout().slices()), number("slice"));
    EXPECT_EQ(static_cast<std::int64_t>(held.values + held.gradients + held.optimiser),
              number("state_bytes"));
    EXPECT_EQ(static_cast<std::int64_t>(held.live), number("live_extra_bytes"));
    const int n_model_blocks = model.size();
    for (int b = 0; b < n_model_blocks; ++b) parameters.enter(b, FlatParameters<float>::Way::forward);
    parameters.leave();
    for (int b = n_model_blocks - 1; b >= 0; --b) {
      parameters.enter(b, FlatParameters<float>::Way::backward);
      parameters.finish(b);
    }
    parameters.leave();
    parameters.step(1, 0.01);
    const auto sums = parameters.traffic(Comm::Call::reduce_scatter),
               gathers = parameters.traffic(Comm::Call::all_gather_into);
    EXPECT_EQ(sums.messages + gathers.messages, number("messages_sent"));
    const std::int64_t to_sum = (comm.size() - 1) * number("slice"),
                       width = precision.splits() && stage > 0 ? 2 : 4;
    EXPECT_EQ(sums.bytes, 4 * to_sum);
    EXPECT_EQ(gathers.bytes, width * (number("words_sent") - to_sum));
    EXPECT_EQ(sums.received + gathers.received, sums.bytes + gathers.bytes);
    ++rows;
  }
  EXPECT_EQ(rows, comm.size() <= 8 ? 24 : 0);
}

/// The same of every stage that the planner chooses among, in all groups that share memory.
TEST(FlatParameters, hold_and_send_what_plans_say) {
  const Comm comm = Comm::world();
  for (const Comm& holder : holders(comm))
    for (const auto& stage : planning::stages())
      for (const auto& [bucket, precision] :
           {std::pair{0.0, whole}, std::pair{0.005, whole}, std::pair{0.005, halves}}) {
        if (comm.size() == 1 && stage.value > 0) continue;    // one rank has everything
        if (holder.size() > 1 && stage.value == 3) continue;  // what is shared is not divided
        const auto options = at_stage(stage.value, bucket);
        FlatParameters<float> parameters(comm, blocks(), start(), {}, options, holder, {}, precision);
        planning::Division division;
        division.low_bytes = precision.splits() ? 2 : 0;
        division.units = parameters.layout().unit_sizes();
        add_gradients(parameters, comm.rank(), 1);
        parameters.step(1, 0.01);
        const auto held = parameters.bytes();
        const auto what = fmt::format("{}, {} a holder, bucket {}", stage.name, holder.size(), bucket);
        // Of a holder's ranks each has a part of its values, in whole bytes.
        EXPECT_NEAR(double(held.values + held.gradients + held.optimiser + held.live + held.workspace +
                           held.expanded),
                    stage.bytes(division, comm.size(), holder.size()), 1)
            << what;
        const auto sums = parameters.traffic(Comm::Call::reduce_scatter),
                   gathers = parameters.traffic(Comm::Call::all_gather_into);
        const auto planned = stage.traffic(division, comm.size(), holder.size());
        EXPECT_EQ(double(sums.bytes + gathers.bytes), planned.bytes) << what;
        EXPECT_EQ(double(sums.messages + gathers.messages), planned.messages) << what;
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

TEST(FlatParameters, ranks_that_share_memory_send_nothing) {
  const Comm comm = Comm::world();
  if (comm.node().size() < comm.size()) GTEST_SKIP() << "ranks on several nodes";
  for (const int stage : {0, 1, 2}) {
    const auto trained = train<float>(comm, comm.node(), {}, at_stage(stage));
    EXPECT_EQ(trained.sums.messages + trained.gathers.messages, 0);
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

/// The memory itself, as the system counts it: between passes nothing but slices, in them two units.
TEST(FlatParameters, at_stage_3_values_have_memory_while_their_blocks_compute) {
  const Comm comm = Comm::world(), alone = comm.split(comm.rank(), 0);
  if (comm.size() == 1) GTEST_SKIP() << "one rank divides nothing";
  const std::size_t n = std::size_t{1} << 18, page = 4096;  // 1 MB a block
  std::vector<BlockTensors> model;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"})
    model.push_back({name, {{"all", {static_cast<std::int64_t>(n)}}}});
  for (const Progress progress : {Progress::blocks, Progress::none}) {
    FlatParameters<float> parameters(comm, model, std::vector<double>(8 * n, 1.0), {},
                                     at_stage(3, 0, progress), alone);
    const std::size_t units = progress == Progress::blocks ? 2 : 1;
    EXPECT_EQ(parameters.bytes().values, 4 * parameters.layout().slices());
    EXPECT_LE(parameters.layout().slices(), 8 * (n / comm.size() + 16));
    EXPECT_EQ(parameters.values_resident(), 0u);
    for (int b = 0; b < 8; ++b) {
      parameters.enter(b, FlatParameters<float>::Way::forward);
      EXPECT_EQ(parameters.values(b)[n - 1], 1.0F);
      EXPECT_LE(parameters.values_resident(), units * 4 * n + 8 * page);  // a page may lie in two units
      EXPECT_GE(parameters.values_resident(), 4 * n);
    }
    parameters.leave();
    EXPECT_LE(parameters.values_resident(), 8 * page);
  }
  // d in 2 x 2 parts: one of them, what is left of d, and one on its way.
  for (int part = 0; part < 4; ++part) {
    model[static_cast<std::size_t>(part) + 4].part = {3, 0, part / 2, part % 2};
    model[static_cast<std::size_t>(part) + 4].tensors[0].rows = {(static_cast<std::size_t>(part) + 4) * n, n,
                                                                 0};
  }
  for (const Progress progress : {Progress::blocks, Progress::none}) {
    FlatParameters<float> parameters(comm, model, std::vector<double>(8 * n, 1.0), {},
                                     at_stage(3, 0, progress), alone);
    const std::size_t units = progress == Progress::blocks ? 3 : 2;
    EXPECT_EQ(parameters.bytes().live,
              4 * static_cast<std::size_t>(comm.size()) * (units + 1) * parameters.layout().largest_slice());
    using Way = FlatParameters<float>::Way;
    for (const auto& [way, order] : {std::pair{Way::forward, std::vector{0, 1, 2, 3, 4, 5, 6, 7}},
                                     std::pair{Way::again, std::vector{3, 4, 5, 6, 7}},
                                     std::pair{Way::backward, std::vector{3, 4, 6, 5, 7}},
                                     std::pair{Way::backward, std::vector{2, 1, 0}}}) {
      for (const int b : order) {
        parameters.enter(b, way);
        EXPECT_EQ(parameters.values(b)[n - 1], 1.0F);
        EXPECT_EQ(parameters.values(b > 3 ? 3 : b)[0], 1.0F);
        EXPECT_LE(parameters.values_resident(), units * 4 * n + 8 * page);
      }
      if (way == Way::forward) parameters.leave();
    }
    parameters.leave();
    // Forward and backward a slice of each, once more those of d's parts; d itself was at hand.
    const std::int64_t slices = parameters.layout().largest_slice();
    EXPECT_EQ(parameters.traffic(Comm::Call::all_gather_into).bytes,
              (2 * 8 + 4) * 4 * slices * (comm.size() - 1));
    EXPECT_THROW(parameters.enter(4, Way::forward), InternalError);
  }
  ParallelOptions options = at_stage(3);
  if (comm.node().size() == 1) return;
  EXPECT_THROW(FlatParameters<float>(comm, blocks(), start(), {}, options), InputError);
}

TEST(FlatLayout, has_a_place_for_each_tensor_and_units_that_buckets_fill) {
  const FlatLayout each(blocks(), 3, 0), joined(blocks(), 3, 1000), one(blocks(), 3, 1000000);
  EXPECT_EQ(each.units().size(), 4u);
  ASSERT_EQ(joined.units().size(), 3u);  // going backwards: d; c and b; a
  EXPECT_EQ(one.units().size(), 1u);
  EXPECT_EQ(joined.units()[1].first_block, 1);
  EXPECT_EQ(joined.units()[2].first_block, 3);
  EXPECT_EQ(joined.blocks()[2].offset, joined.blocks()[1].offset + 1000);
  EXPECT_EQ(each.tensors()[2].name, "bias");
  EXPECT_EQ(each.tensors()[2].offset, each.blocks()[1].offset + 990);
  for (const auto& unit : each.units()) {
    EXPECT_EQ(unit.slice % 16, 0u);
    EXPECT_EQ(unit.offset % 16, 0u);
    EXPECT_GE(3 * unit.slice, unit.size);
    EXPECT_LT(3 * unit.slice, unit.size + 48);
  }
  EXPECT_THROW(FlatLayout(one_block("small", 2), 3, 0), InputError);

  // Parts and what they are parts of are units by themselves, whatever the bucket.
  const FlatLayout parts(blocks_in_parts(), 3, 1000000);
  ASSERT_EQ(parts.units().size(), 7u);  // c and d are one
  EXPECT_EQ(parts.units()[3].within, 1);
  EXPECT_EQ(parts.units()[6].within, -1);
  const auto follows = [&](int unit, PassWay way) {
    return parts.units()[unit].next[static_cast<std::size_t>(way)];
  };
  std::vector<int> forward{0}, backward{6}, again{1};
  while (follows(forward.back(), PassWay::forward) >= 0)
    forward.push_back(follows(forward.back(), PassWay::forward));
  while (follows(backward.back(), PassWay::backward) >= 0)
    backward.push_back(follows(backward.back(), PassWay::backward));
  for (int i = 0; i < 5; ++i) again.push_back(follows(again.back(), PassWay::again));
  EXPECT_EQ(forward, (std::vector{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(backward, (std::vector{6, 1, 2, 4, 3, 5, 0}));
  EXPECT_EQ(again, (std::vector{1, 2, 3, 4, 5, 2}));
  std::vector<float> numbers(n_parameters()), room;
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const auto here = parts.from_file_order(std::span<const float>(numbers), room);
  EXPECT_EQ(here[7], 997.0F);                // b's bias comes first
  EXPECT_EQ(here[7 + 10 + 200], 7.0F + 40);  // then part (0, 0), then (0, 1)
  EXPECT_EQ(parts.to_file_order(std::vector<float>(here.begin(), here.end())), numbers);
  auto wrong = blocks_in_parts();
  wrong[3].tensors[0].rows->first += 1;
  EXPECT_THROW(FlatLayout(wrong, 3, 0), InternalError);
}

}  // namespace
}  // namespace quintet
