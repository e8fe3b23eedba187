// What stages, recomputation, swapping, tiles and halves hold and send, and that none changes a bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "io/log/error.hpp"
#include "surrogates/flow/training/flow_trainer.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/training/split_bf16.hpp"
#include "tests/unit/flow/training/small_trainer.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::flow {
namespace {

/// Stages and buckets change who holds and sends what, never a bit; what a restart reads knows neither.
TEST(FlowTrainer, sharded_training_is_data_parallel_training_to_the_bit) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_sharded");
  const std::string path = scratch / "a.h5";
  const auto options = [](ParallelStrategy strategy, int stage, double bucket, Holder holder,
                          Progress progress = Progress::none) {
    FlowTrainerOptions all = small_options();
    all.parallel = {strategy, stage, bucket, holder, progress};
    return all;
  };
  auto data = small_trainer<float>(comm, options(ParallelStrategy::data, 1, 1, Holder::node));
  const Batch batch = own_crops(data);
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) losses.push_back(data.step(batch, step, 1e-2).total);
  {
    hdf5::File file = hdf5::File::create(comm, path);
    data.save(file.root());
    file.close();
  }
  for (int step = 3; step < 5; ++step) losses.push_back(data.step(batch, step, 1e-2).total);
  const auto expected = data.model().parameters;
  for (const Holder holder : {Holder::node, Holder::rank})
    for (const int stage : {0, 1, 2, 3})
      for (const double bucket : {0.0, 0.0005}) {
        if (holder == Holder::node && (bucket == 0 || stage == 3)) continue;
        const auto chosen = options(stage == 0 ? ParallelStrategy::data : ParallelStrategy::sharded, stage,
                                    bucket, holder, bucket == 0 ? Progress::blocks : Progress::none);
        const std::string what = fmt::format("stage {}, bucket {} MB", stage, bucket);
        auto whole = small_trainer<float>(comm, chosen);
        for (int step = 0; step < 5; ++step)
          ASSERT_EQ(whole.step(batch, step, 1e-2).total, losses[step]) << what;
        if (stage == 3 && comm.size() > 1) {  // twice the values and once the sums: those of data and a half
          const auto& layout = whole.layout();
          EXPECT_EQ(whole.account().bytes_sent, static_cast<std::int64_t>(5 * 3 * sizeof(float)) *
                                                    (comm.size() - 1) *
                                                    static_cast<std::int64_t>(layout.slices()))
              << what;
        }
        EXPECT_EQ(whole.model().parameters, expected) << what;
        EXPECT_EQ(whole.account().bytes_sent > 0, comm.size() > 1 && holder == Holder::rank) << what;
        auto again = small_trainer<float>(comm, chosen);
        const hdf5::File file = hdf5::File::open(comm, path);
        again.restore(file.root());
        for (int step = 3; step < 5; ++step)
          ASSERT_EQ(again.step(batch, step, 1e-2).total, losses[step]) << what;
        EXPECT_EQ(again.model().parameters, expected) << what;
      }
}

/// What is run again, or was away, changes no number: neither losses, weights nor running statistics, at any
/// stage.
TEST(FlowTrainer, activations_that_are_made_again_are_the_same_to_the_bit) {
  const Comm comm = Comm::world();
  const auto options = [](ActivationPolicy policy, std::optional<double> megabytes, int stage) {
    FlowTrainerOptions all = small_options();
    all.memory = {megabytes, policy};
    if (stage > 0) all.parallel = {ParallelStrategy::sharded, stage, 0.0005, Holder::rank, Progress::blocks};
    return all;
  };
  struct Trained {
    std::vector<double> losses;
    FlowModel model;
    std::optional<ActivationsInForce> activations;
    std::size_t peak;
    std::int64_t bytes_sent;
  };
  FlowModelHeader header = small_header();
  header.options.encoder.width = 16;
  header.options.encoder.widest = 32;
  const auto train = [&](const FlowTrainerOptions& chosen) {
    auto trainer = small_trainer<float>(comm, chosen, header);
    const Batch batch = own_crops(trainer);
    trainer.plan_activations(batch);
    Trained trained;
    for (int step = 0; step < 4; ++step) trained.losses.push_back(trainer.step(batch, step, 1e-2).total);
    trained.losses.push_back(trainer.evaluate(batch, 0).total);
    trained.model = trainer.model();
    trained.activations = trainer.activations();
    trained.peak = trainer.account().ledger.peak(Tier::host, ByteCategory::activations);
    trained.bytes_sent = trainer.account().bytes_sent;
    return trained;
  };
  const Trained plain = train(options(ActivationPolicy::keep, std::nullopt, 0));
  EXPECT_FALSE(plain.activations);
  const auto expect_same = [&](const Trained& other, const std::string& what) {
    EXPECT_EQ(other.losses, plain.losses) << what;
    EXPECT_EQ(other.model.parameters, plain.model.parameters) << what;
    EXPECT_EQ(other.model.statistics, plain.model.statistics) << what;
  };
  std::int64_t least = 0;
  for (int stage = 0; stage <= 3; ++stage) {
    const Trained again = train(options(ActivationPolicy::recompute, std::nullopt, stage));
    expect_same(again, fmt::format("recompute, stage {}", stage));
    least = again.activations->plan.cost.peak;
    EXPECT_TRUE(again.activations->decoder_again);
    EXPECT_NEAR(comm.maximum(static_cast<std::int64_t>(again.peak)), least, 0.15 * least);
    if (stage < 3) continue;
    // Values are gathered no more often, and what measuring sends is not the training's.
    EXPECT_EQ(again.bytes_sent, train(options(ActivationPolicy::keep, std::nullopt, 3)).bytes_sent);
  }
  const Trained kept = train(options(ActivationPolicy::keep, 1e3, 0));
  const std::int64_t most = kept.activations->plan.cost.peak;
  EXPECT_GT(most, least);
  const double between = 0.5e-6 * (least + most);
  const Trained planned = train(options(ActivationPolicy::planned, between, 0));
  expect_same(planned, "planned");
  const auto& policies = planned.activations->plan.policies;
  const auto n_again = std::count(policies.begin(), policies.end(), planning::BlockPolicy::recompute);
  EXPECT_GT(n_again, 0);
  EXPECT_LT(n_again, std::ssize(policies) - 1);
  EXPECT_LE(1e-6 * planned.activations->plan.cost.peak, between);
  for (const Trained* one : {&kept, &planned}) {
    const double predicted = one->activations->plan.cost.peak;
    EXPECT_NEAR(comm.maximum(static_cast<std::int64_t>(one->peak)), predicted, 0.15 * predicted);
  }
  // Swapped, over links from fast to slow: the same bits, and never more than the plan says.
  int n_swapped = 0;
  struct Case {
    ActivationPolicy policy;
    double budget, link;  ///< 0: to a file
  };
  const std::string folder = fmt::format("flow_trainer_test.swapped_{}", comm.size());
  if (comm.is_root()) std::filesystem::create_directory(folder);
  comm.barrier();
  for (const auto& of : {Case{ActivationPolicy::swap, between, 0.02},
                         {ActivationPolicy::swap, between, 0},
                         {ActivationPolicy::planned, between, 1e3},
                         {ActivationPolicy::planned, 1.05e-6 * least, 1e3}}) {
    const bool all = of.policy == ActivationPolicy::swap;
    auto chosen = options(of.policy, of.budget, all ? 0 : 3);
    if (of.link > 0)
      chosen.memory.link = of.link;
    else
      chosen.memory.path = folder;
    const Trained swapped = train(chosen);
    expect_same(swapped, fmt::format("link of {} GB/s", of.link));
    const auto& found = *swapped.activations;
    const auto n =
        std::count(found.plan.policies.begin(), found.plan.policies.end(), planning::BlockPolicy::swap);
    if (!all) n_swapped += n;
    if (all) {
      EXPECT_EQ(n, std::ssize(found.chain) - 1);
      EXPECT_GT(found.bytes_swapped, 0);
    }
    const double peak = comm.maximum(static_cast<std::int64_t>(swapped.peak));
    EXPECT_LE(peak, 1.01 * found.plan.cost.peak);
    EXPECT_LE(1e-6 * peak, of.budget);
  }
  EXPECT_GT(comm.maximum(static_cast<std::int64_t>(n_swapped)), 0);
  comm.barrier();
  if (comm.is_root()) {
    EXPECT_EQ(std::filesystem::remove_all(folder), 1U);  // each file went with its run
  }
  EXPECT_THROW(train(options(ActivationPolicy::planned, 0.9e-6 * least, 0)), ResourceError);
  EXPECT_THROW(train(options(ActivationPolicy::keep, between, 0)), ResourceError);
}

/// Layers in tiles change who has what at hand, never a bit; checkpoints know nothing of them.
TEST(FlowTrainer, layers_in_tiles_train_like_whole_ones_to_the_bit) {
  at::set_num_threads(1);  // of several torch's kernels share sums out by the number of channels
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_tiles");
  const std::string path = scratch / "a.h5";
  FlowModelHeader header = small_header();
  header.options.encoder.width = 32;
  header.options.encoder.widest = 72;
  const auto options = [](int stage, const LayerTiles& tile) {
    FlowTrainerOptions all = small_options();
    all.tile = tile;
    all.parallel.bucket = 0.0005;
    all.parallel.holder = Holder::rank;
    all.parallel = all.parallel.at_stage(stage);
    return all;
  };
  // conv2 of the middle is 64 x 64 x 27, the shortcut of merge_1 is 128 to 32.
  const LayerTiles tiles{
      {"middle.conv2", 4}, {"merge_1.shortcut", 2}, {"middle.conv1", 3}, {"down_1.conv3", 1}};
  const auto save = [&](FlowTrainer<float>& trainer) {
    hdf5::File file = hdf5::File::create(comm, path);
    trainer.save(file.root());
    file.close();
  };
  auto plain = small_trainer<float>(comm, options(0, {}), header);
  const Batch batch = own_crops(plain);
  std::vector losses{plain.step(batch, 0, 1e-2).total};
  save(plain);
  for (int step = 1; step < 3; ++step) losses.push_back(plain.step(batch, step, 1e-2).total);
  losses.push_back(plain.evaluate(batch, 0).total);
  const FlowModel expected = plain.model();
  const auto goes_on = [&](FlowTrainer<float>& trainer, int first, const std::string& what) {
    for (int step = first; step < 3; ++step)
      ASSERT_EQ(trainer.step(batch, step, 1e-2).total, losses[step]) << what;
    EXPECT_EQ(trainer.evaluate(batch, 0).total, losses.back()) << what;
    EXPECT_EQ(trainer.model().parameters, expected.parameters) << what;
    EXPECT_EQ(trainer.model().statistics, expected.statistics) << what;
  };
  for (const int stage : {2, 3}) {
    auto tiled = small_trainer<float>(comm, options(stage, tiles), header);
    if (stage == 3 && comm.size() > 1) {  // no more words than whole layers send
      auto counted = small_trainer<float>(comm, options(stage, tiles), header);
      static_cast<void>(counted.step(batch, 0, 1e-2));
      EXPECT_EQ(counted.account().bytes_sent, static_cast<std::int64_t>(3 * sizeof(float)) *
                                                  (comm.size() - 1) *
                                                  static_cast<std::int64_t>(counted.layout().slices()));
      // The unit at hand is a tile's part and the rest of its block.
      const auto whole = small_trainer<float>(comm, options(stage, {}), header).account().held;
      EXPECT_LT(counted.account().held.live, whole.live);
      planning::Division division{.units = counted.layout().unit_sizes(), .shares_node = false};
      EXPECT_EQ(static_cast<double>(counted.account().held.total()),
                planning::stages()[3].bytes(division, comm.size(), 1));
    }
    goes_on(tiled, 0, fmt::format("stage {}", stage));
    if (stage == 2) continue;
    auto restarted = small_trainer<float>(comm, options(stage, tiles), header);
    const hdf5::File file = hdf5::File::open(comm, path);
    restarted.restore(file.root());
    goes_on(restarted, 1, fmt::format("restarted, stage {}", stage));
  }
  // What tiles have written goes on without them, and with activations that are made again.
  FlowTrainerOptions again = options(3, tiles);
  again.memory = {std::nullopt, ActivationPolicy::recompute};
  auto recomputed = small_trainer<float>(comm, again, header);
  recomputed.plan_activations(batch);
  ASSERT_EQ(recomputed.step(batch, 0, 1e-2).total, losses[0]);
  save(recomputed);
  goes_on(recomputed, 1, "recomputed");
  {
    auto whole = small_trainer<float>(comm, options(1, {}), header);
    const hdf5::File file = hdf5::File::open(comm, path);
    whole.restore(file.root());
    goes_on(whole, 1, "whole again");
  }
  // Halves: another training, the same one with and without tiles.
  std::vector<double> of_halves;
  for (const bool in_tiles : {false, true}) {
    FlowTrainerOptions halves = options(in_tiles ? 3 : 0, in_tiles ? tiles : LayerTiles{});
    halves.precision.parameters = ParameterPrecision::split_bf16;
    auto trainer = small_trainer<float>(comm, halves, header);
    for (int step = 0; step < 2; ++step) {
      const double loss = trainer.step(batch, step, 1e-2).total;
      if (in_tiles)
        EXPECT_EQ(loss, of_halves[step]);
      else
        of_halves.push_back(loss);
    }
  }
}

/// Tiles of a few channels, of any convolution and padding: the gradient of the whole layers to round-off.
TEST(FlowTrainer, tiles_of_any_layer_have_the_gradient_of_whole_ones) {
  const Comm comm = Comm::world();
  for (const auto middle : {ResidualMiddle::convolution, ResidualMiddle::perturb}) {
    FlowModelHeader header = small_header();
    header.options.encoder.block = middle;
    header.options.encoder.padding = {"replicate", "zeros", "circular"};
    FlowTrainerOptions options = small_options();
    auto whole = small_trainer<double>(comm, options, header);
    for (const auto& block : whole.layout().blocks())
      if (block.name != "decoder")
        for (const char* name : {"conv1", "conv2", "conv3", "shortcut"})
          options.tile.emplace_back(fmt::format("{}.{}", block.name, name), 2);
    options.tile.front().second = 1;
    options.parallel = {ParallelStrategy::sharded, 3, 0.0005, Holder::rank, Progress::blocks};
    auto tiled = small_trainer<double>(comm, options, header);
    const Batch batch = own_crops(whole);
    const auto expected = whole.gradient(batch, 1), found = tiled.gradient(batch, 1);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << i;
  }
}

TEST(FlowTrainer, tiles_of_no_layer_are_refused) {
  const Comm comm = Comm::world();
  const auto message = [&](const std::string& layer, double n) -> std::string {
    FlowTrainerOptions options = small_options();
    options.tile = {{layer, n}};
    try {
      static_cast<void>(small_trainer<float>(comm, options));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message("middle.conv2", 4), "accepted");
  EXPECT_NE(
      message("middle.conv2", 5).find("it has 4 outputs and 4 inputs; expected a whole number from 1 to 4"),
      std::string::npos);
  EXPECT_NE(message("middle.conv2", 1.5).find("in 1.5 tiles"), std::string::npos);
  EXPECT_NE(message("midle.conv2", 2).find("did you mean 'middle.conv2'?"), std::string::npos);
  EXPECT_NE(message("middle", 2).find("Expected one of enter.conv1, "), std::string::npos);
  EXPECT_NE(message("decoder", 2).find("the decoder's kernels hold all of its weights"), std::string::npos);
}

/// Masks are neither stored nor sent: ranks, stages, weights in halves, what is made again and a restart give
/// the bits of the plain run.
TEST(FlowTrainer, perturbed_blocks_train_alike_however_they_are_trained) {
  const Comm comm = Comm::world();
  FlowModelHeader header = small_header();
  header.options.encoder.block = ResidualMiddle::perturb;
  {
    auto shared = small_trainer<double>(comm, small_options(), header),
         alone = small_trainer<double>(Comm::self(), small_options(), header);
    const auto gradient = shared.gradient(own_crops(shared), 2),
               expected = alone.gradient(own_crops(alone), 2);
    for (std::size_t i = 0; i < gradient.size(); ++i) ASSERT_NEAR(gradient[i], expected[i], 1e-10) << i;
  }
  for (const auto kept : {ParameterPrecision::full, ParameterPrecision::split_bf16}) {
    FlowTrainerOptions options = small_options();
    options.precision.parameters = kept;
    auto plain = small_trainer<float>(comm, options, header);
    const Batch batch = own_crops(plain);
    options.parallel = {ParallelStrategy::sharded, 3, 0.0005, Holder::rank, Progress::blocks};
    options.memory = {std::nullopt, ActivationPolicy::recompute};
    auto other = small_trainer<float>(comm, options, header);
    other.plan_activations(batch);
    for (int step = 0; step < 4; ++step)
      ASSERT_EQ(other.step(batch, step, 1e-2).total, plain.step(batch, step, 1e-2).total);
    EXPECT_EQ(other.evaluate(batch, 0).total, plain.evaluate(batch, 0).total);
    EXPECT_EQ(other.model().parameters, plain.model().parameters);
    EXPECT_EQ(other.model().statistics, plain.model().statistics);
  }
}

/// Weights in halves: one training at all stages and after a restart; the model is what was computed with.
TEST(FlowTrainer, weights_in_halves_train_alike_at_all_stages_and_after_a_restart) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("flow_halves");
  const std::string path = scratch / "a.h5";
  FlowTrainerOptions all = small_options();
  const auto floats = [&] {
    auto trainer = small_trainer<float>(comm, all);
    const Batch batch = own_crops(trainer);
    static_cast<void>(trainer.step(batch, 0, 1e-2));
    return trainer.step(batch, 1, 1e-2).total;
  }();
  all.precision.parameters = ParameterPrecision::split_bf16;
  auto data = small_trainer<float>(comm, all);
  const Batch batch = own_crops(data);
  std::vector<double> losses;
  for (int step = 0; step < 2; ++step) losses.push_back(data.step(batch, step, 1e-2).total);
  {
    hdf5::File file = hdf5::File::create(comm, path);
    data.save(file.root());
    file.close();
  }
  for (int step = 2; step < 4; ++step) losses.push_back(data.step(batch, step, 1e-2).total);
  EXPECT_NE(losses[1], floats);
  EXPECT_NEAR(losses[1], floats, 0.05 * floats);
  const auto expected = data.model();
  for (const float weight : expected.parameters) ASSERT_EQ(weight, as_bf16(weight));
  for (const int stage : {0, 1, 2, 3}) {
    all.parallel.bucket = 0.0005;
    all.parallel.holder = Holder::rank;
    all.parallel = all.parallel.at_stage(stage);
    auto again = small_trainer<float>(comm, all);
    const hdf5::File file = hdf5::File::open(comm, path);
    again.restore(file.root());
    for (int step = 2; step < 4; ++step)
      ASSERT_EQ(again.step(batch, step, 1e-2).total, losses[step]) << stage;
    EXPECT_EQ(again.model().parameters, expected.parameters) << stage;
  }
  // A model that is loaded validates as the training did.
  FlowModel model = expected;
  model.parameters.resize(data.n_parameters());
  comm.broadcast(std::span(model.parameters));
  FlowTrainer<float> loaded(comm, model, small_options(), small_parameters());
  EXPECT_EQ(loaded.evaluate(batch, 0).total, data.evaluate(batch, 0).total);
}

}  // namespace
}  // namespace quintet::flow
