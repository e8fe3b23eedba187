#include <cstdlib>

#include <gtest/gtest.h>

#include "apps/dpmd/train/train_setup.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {
namespace {

using Pairs = std::vector<std::array<int, 2>>;

std::string copper(const std::string& path) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/inputs/dpmd/copper/" + path;
}

TrainOptions small_training() {
  TrainOptions options;
  options.data.training.systems = {copper("data/train_vacancy31")};
  options.model.descriptor.rcut = 4;
  options.model.descriptor.neurons = {4, 8};
  options.model.fitting.neurons = {6};
  return options;
}

TEST(FrameStore, keeps_frames_within_its_budget_and_makes_the_others_anew) {
  const auto setup = set_up_training(small_training());
  const auto& systems = setup.data.training;
  const std::vector<std::size_t> wanted{3, 0, 5};
  FrameStore rich(systems, 4, std::size_t{1} << 30), poor(systems, 4, 0);

  const auto first = rich.take(0, wanted);
  const std::vector<const potential::TrainingFrame*> kept(first.begin(), first.end());
  const auto again = rich.take(0, wanted);
  const auto anew = poor.take(0, wanted);

  ASSERT_EQ(anew.size(), 3);
  EXPECT_EQ(poor.bytes(), 0);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again[i], kept[i]);
    EXPECT_EQ(anew[i]->position, kept[i]->position);
    EXPECT_EQ(anew[i]->neighbour, kept[i]->neighbour);
    EXPECT_EQ(*anew[i]->energy, *systems[0].frames[wanted[i]].energy);
    bytes += kept[i]->bytes();
  }
  EXPECT_EQ(rich.bytes(), bytes);
}

TEST(SetUpTraining, automatic_sel_and_a_factor) {
  auto options = small_training();
  const auto automatic = set_up_training(options);
  options.model.descriptor.sel = {"auto:2"};
  const auto doubled = set_up_training(options);

  const int most = automatic.data.census.most_neighbours.front();
  EXPECT_EQ(automatic.model.sel, automatic_sel(automatic.data.census));
  EXPECT_EQ(doubled.model.sel.front(), (2 * most + 3) / 4 * 4);
}

TEST(SetUpTraining, what_a_checkpoint_knows_goes_before_the_data) {
  const KnownModel known{{"Cu"}, {40}, {{0.1, 0, 0, 0}}, {{0.5, 0.2, 0.2, 0.2}}, {-3.0}};

  const auto setup = set_up_training(small_training(), known);

  EXPECT_EQ(setup.model.sel, known.sel);
  EXPECT_EQ(setup.model.mean, known.mean);
  EXPECT_EQ(setup.model.deviation, known.deviation);
  EXPECT_EQ(setup.model.output_bias, known.output_bias);
}

TEST(SetUpTraining, goes_on_from_a_model_as_it_is) {
  auto options = small_training();
  options.model.start = copper("copper.dp");
  const auto start = potential::read_dp(*options.model.start);

  const auto setup = set_up_training(options);

  EXPECT_EQ(setup.model.rcut, start.rcut);
  EXPECT_EQ(setup.model.mean, start.mean);
  EXPECT_EQ(setup.model.fitting.front().layers.front().weight, start.fitting.front().layers.front().weight);
}

TEST(TrainingSampler, blocks_have_their_shares_and_systems_in_none_are_not_drawn) {
  const auto first = set_up_training(small_training()).data.training.front();
  std::vector<potential::LabelledSystem> systems(4, first);
  systems[1].frames.resize(first.frames.size() / 2);
  auto options = small_training();
  options.data.training.batch_size = {"1"};
  options.data.training.blocks = {"0:2:0.75", "3:4:0.25"};
  const auto share = [&](std::size_t system) {
    const auto sampler = training_sampler(options, systems);
    int n = 0;
    for (int step = 0; step < 4000; ++step) n += sampler.batch(step).system == system;
    return n / 4000.0;
  };

  EXPECT_NEAR(share(0), 0.5, 0.03);
  EXPECT_NEAR(share(1), 0.25, 0.03);
  EXPECT_EQ(share(2), 0);
  EXPECT_NEAR(share(3), 0.25, 0.03);
  options.data.training.blocks = {"0:5:1"};
  EXPECT_THROW(share(0), InputError);
  options.data.training.blocks = {"0:2:1", "1:3:1"};
  EXPECT_THROW(share(0), InputError);
}

TEST(ParseTypePairs, names_with_dashes) {
  const std::vector<std::string> types{"O", "H", "Fe-hi", "hi"};

  EXPECT_EQ(parse_type_pairs({"O-H", "H-H"}, types, "key"), (Pairs{{0, 1}, {1, 1}}));
  EXPECT_EQ(parse_type_pairs({"Fe-hi-O"}, types, "key"), (Pairs{{2, 0}}));
  for (const char* wrong : {"O", "O-", "O-X", "OH", "-"})
    EXPECT_THROW(static_cast<void>(parse_type_pairs({wrong}, types, "key")), InputError) << wrong;
}

}  // namespace
}  // namespace quintet::dpmd
