#include "surrogates/planning/strategy.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/unit/planning/networks.hpp"

using namespace quintet;
using namespace quintet::planning;

namespace {

/// All weights of small_network(): 216 + 3200 + 16 * 64 * 32 + 128.
constexpr double weights = 216 + 3200 + 32768 + 128;

}  // namespace

TEST(Strategies, one_rank_is_serial_whatever_it_is_called) {
  Job job = small_job();
  job.group = 1;
  const auto serial = project(job, Strategy::serial, 1);
  ASSERT_EQ(serial.impossible, "");
  EXPECT_DOUBLE_EQ(serial.compute, 1280 * 3e-3 + 20 * 1e-4);

  for (const auto& row : strategies()) {
    job.micro_batches = row.value == Strategy::pipeline ? 4 : 1;
    const auto one = project(job, row.value, 1);
    EXPECT_EQ(one.impossible, "") << row.name;
    EXPECT_DOUBLE_EQ(one.compute, serial.compute) << row.name;
    EXPECT_EQ(one.communication, 0) << row.name;
    EXPECT_EQ(one.traffic.messages + one.traffic.bytes, 0) << row.name;
    EXPECT_DOUBLE_EQ(one.memory, serial.memory) << row.name;
  }
}

TEST(Strategies, data_is_worked_out_by_hand) {
  const auto data = project(small_job(), Strategy::data, 8);

  EXPECT_DOUBLE_EQ(data.compute, 1280 / 8 * 3e-3 + 20 * 1e-4);
  EXPECT_DOUBLE_EQ(data.traffic.messages, 20 * 2 * 7);
  EXPECT_DOUBLE_EQ(data.traffic.bytes, 20 * 2 * 7 * 4 * weights / 8);
  EXPECT_DOUBLE_EQ(data.communication, data.traffic.messages * 5e-6 + data.traffic.bytes * 1e-10);
}

TEST(Strategies, faces_of_slabs_are_worked_out_by_hand) {
  Job job = small_job();
  const auto spatial = project(job, Strategy::spatial, 4);

  // Two neighbours, forward and backward: conv_1 3 x 16 and 8 x 16 items, conv_2 2 x 8 x 8 and 2 x 16 x 8;
  // the pool's windows do not overlap. Then y of conv_2 both ways, 16 x 8 x 8, and all gradients.
  const double halo = 2 * (48 + 128 + 128 + 256), gather = 2 * 3 * 1024 / 4.0,
               gradients = 2 * 3 * weights / 4;
  EXPECT_DOUBLE_EQ(spatial.traffic.bytes, 20 * 4 * (64 * (halo + gather) + gradients));
  EXPECT_DOUBLE_EQ(spatial.traffic.messages, 20 * (8 + 6 + 6));
  // Of two slabs each has one neighbour.
  EXPECT_DOUBLE_EQ(project(job, Strategy::spatial, 2).traffic.messages, 20 * (4 + 2 + 2));
}

TEST(Strategies, filters_gather_and_sum_all_layers_but_the_last) {
  const auto filter = project(small_job(), Strategy::filter, 4);
  const auto channel = project(small_job(), Strategy::channel, 2);

  const double items = 8 * 256 + 16 * 64 + 32;
  EXPECT_DOUBLE_EQ(filter.traffic.messages, 20 * 3 * 3 * 3);
  EXPECT_DOUBLE_EQ(filter.traffic.bytes, 20 * 3 * 3 * 64 * items * 4 / 4);
  EXPECT_DOUBLE_EQ(channel.traffic.bytes, 20 * 3 * 1 * 64 * items * 4 / 2);
}

TEST(Strategies, memory_never_rises_with_ranks) {
  Job job = small_job();
  job.group = 1;
  for (const auto& row : strategies()) {
    double before = project(job, Strategy::serial, 1).memory;
    for (double p = 2; p <= 64; p *= 2) {
      const auto now = project(job, row.value, p);
      if (!now.impossible.empty()) continue;
      EXPECT_LE(now.memory, before * (1 + 1e-12)) << row.name << " " << p;
      before = now.memory;
    }
  }
}

TEST(Strategies, groups_are_the_product_of_their_parts) {
  Job job = small_job();
  for (const auto& [both, inner] : {std::pair{Strategy::data_and_filter, Strategy::filter},
                                    std::pair{Strategy::data_and_spatial, Strategy::spatial}}) {
    job.group = 4;
    const auto one_group = project(job, both, 4), alone = project(job, inner, 4);
    EXPECT_EQ(one_group.traffic.bytes, alone.traffic.bytes);
    EXPECT_EQ(one_group.communication, alone.communication);
    EXPECT_EQ(one_group.compute, alone.compute);
    EXPECT_EQ(one_group.memory, alone.memory);

    job.group = 1;
    const auto groups_of_one = project(job, both, 8), data = project(job, Strategy::data, 8);
    EXPECT_DOUBLE_EQ(groups_of_one.traffic.bytes, data.traffic.bytes);
    EXPECT_DOUBLE_EQ(groups_of_one.compute, data.compute);
    EXPECT_DOUBLE_EQ(groups_of_one.memory, data.memory);
  }
}

TEST(Strategies, a_shared_link_is_slower_and_sends_no_more) {
  Job job = small_job();
  const auto alone = project(job, Strategy::data_and_filter, 8);
  job.contention = 3;
  const auto shared = project(job, Strategy::data_and_filter, 8);

  const double gradients = 20 * 2 * 3 * 4 * weights / 2 / 4 * 1e-10;
  EXPECT_NEAR(shared.communication - alone.communication, 2 * gradients, 1e-12);
  EXPECT_EQ(shared.traffic.bytes, alone.traffic.bytes);
}

TEST(Strategies, each_limit_is_told) {
  const Job job = small_job();
  const auto reason = [&](Strategy strategy, double p) { return project(job, strategy, p).impossible; };

  EXPECT_EQ(reason(Strategy::serial, 2), "one rank does it all");
  EXPECT_EQ(reason(Strategy::data, 64), "");
  EXPECT_EQ(reason(Strategy::data, 65), "65 parts of a batch of 64 samples");
  EXPECT_EQ(reason(Strategy::spatial, 8), "");
  EXPECT_EQ(reason(Strategy::spatial, 9), "9 parts of the 8 cells of width of pool");
  EXPECT_EQ(reason(Strategy::filter, 5), "5 parts of the 4 filters of dense_2");
  EXPECT_EQ(reason(Strategy::channel, 4), "4 parts of the 3 channels of conv_1");
  EXPECT_EQ(reason(Strategy::pipeline, 7), "7 stages of 6 layers");
  EXPECT_EQ(reason(Strategy::data_and_filter, 7), "7 ranks are no multiple of groups of 2");
  EXPECT_EQ(reason(Strategy::data_and_spatial, 130), "65 parts of a batch of 64 samples");
}

TEST(Strategies, what_does_not_fit_is_impossible) {
  Job job = small_job();
  const double one = project(job, Strategy::serial, 1).memory, eight = project(job, Strategy::data, 8).memory;
  job.memory = (one + eight) / 2;

  EXPECT_NE(project(job, Strategy::serial, 1).impossible.find("GB a rank, which has"), std::string::npos);
  EXPECT_EQ(project(job, Strategy::data, 8).impossible, "");
}

TEST(Strategies, the_ranking_begins_with_the_fastest_possible_one) {
  Job job = small_job();
  const auto all = ranking(job, 8);

  ASSERT_EQ(all.size(), strategies().size());
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_LE(all[i - 1].impossible.empty() ? 0 : 1, all[i].impossible.empty() ? 0 : 1);
    if (!all[i].impossible.empty()) continue;
    EXPECT_LE(all[i - 1].seconds(), all[i].seconds());
  }
  ASSERT_NE(choice(all), nullptr);
  EXPECT_EQ(choice(all)->impossible, "");
  job.memory = 1;
  EXPECT_EQ(choice(ranking(job, 8)), nullptr);
}

TEST(Strategies, a_small_batch_of_many_weights_is_not_shared_by_samples) {
  Job job = small_job();
  job.batch = 2;  // its gradients are 290 KB, its activations a few KB
  job.micro_batches = 2;
  const auto all = ranking(job, 2);

  ASSERT_NE(choice(all), nullptr);
  EXPECT_NE(choice(all)->strategy, Strategy::data);
}

TEST(Strategies, operations_are_counted_by_layer) {
  const auto network = small_network();
  const auto flops = [&](std::size_t l) { return row_of(network.layers[l].kind).flops(network.layers[l]); };

  EXPECT_EQ(flops(0), 2 * 3 * 9 * 8 * 256);
  EXPECT_EQ(flops(1), 8 * 256);
  EXPECT_EQ(flops(2), 4 * 8 * 64);
  EXPECT_EQ(flops(4), 2 * 1024 * 32);
  double all = 0;
  for (const double share : time_shares(network, false)) all += share;
  EXPECT_NEAR(all, 1, 1e-14);
}

TEST(Strategies, a_job_without_content_is_refused) {
  EXPECT_THROW(static_cast<void>(project(Job{}, Strategy::data, 1)), InputError);
  Job job = small_job();
  EXPECT_THROW(static_cast<void>(project(job, Strategy::data, 1.5)), InputError);
  job.split = {true};
  EXPECT_THROW(static_cast<void>(project(job, Strategy::data, 1)), InputError);
  job = small_job();
  job.batch = 0;
  EXPECT_THROW(static_cast<void>(project(job, Strategy::data, 1)), InputError);
}
