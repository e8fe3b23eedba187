// What flat parameters hold and send, and where their tensors lie.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/planning/stages.hpp"
#include "tests/unit/training/flat_sample.hpp"

namespace quintet {
namespace {

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

TEST(FlatParameters, ranks_that_share_memory_send_nothing) {
  const Comm comm = Comm::world();
  if (comm.node().size() < comm.size()) GTEST_SKIP() << "ranks on several nodes";
  for (const int stage : {0, 1, 2}) {
    const auto trained = train<float>(comm, comm.node(), {}, at_stage(stage));
    EXPECT_EQ(trained.sums.messages + trained.gathers.messages, 0);
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
