#include <cstdlib>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "apps/dpmd/test/parity.hpp"
#include "apps/dpmd/train/train_setup.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/particles/files/files_support.hpp"

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

/// Extended XYZ of some frames with the model's own labels: a stress in `unit` (eV/angstrom^3), positive
/// under pressure where `sign` is -1; `offset` is added to its diagonal (eV/angstrom^3).
std::string labelled_by_model(double force_sign, double stress_sign, double unit, double offset = 0) {
  const auto options = small_training();
  potential::DataOptions read;
  const auto systems = potential::read_systems(options.data.training.systems, read);
  potential::DeepPotential field(potential::read_dp(copper("copper.dp")), {});
  std::string text;
  for (const auto& result : predict(Comm::self(), field, systems, frames_of(systems, 3))) {
    const auto& frame = systems[0].frames[result.index.frame];
    text += fmt::format("{}\nLattice=\"{:.17g}\" energy={:.17g} stress=\"", frame.n_atoms(),
                        fmt::join(frame.box.rows(), " "), result.energy);
    for (std::size_t k = 0; k < 9; ++k)
      text += fmt::format(
          "{}{:.17g}", k > 0 ? " " : "",
          stress_sign * (-result.virial[k] / frame.box.volume() + (k % 4 == 0 ? offset : 0)) / unit);
    text += "\" Properties=species:S:1:pos:R:3:forces:R:3\n";
    for (std::size_t i = 0; i < frame.n_atoms(); ++i)
      text += fmt::format("Cu {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g}\n", frame.positions[i][0],
                          frame.positions[i][1], frame.positions[i][2], force_sign * result.forces[i][0],
                          force_sign * result.forces[i][1], force_sign * result.forces[i][2]);
  }
  return text;
}

TEST(SetUpTraining, labels_of_the_other_sign_than_the_model_to_start_from_are_refused) {
  const Scratch scratch("start_check");
  auto options = small_training();
  options.model.start = copper("copper.dp");
  options.loss.virial = {0.02, 1};
  options.data.training.systems = {scratch / "a.xyz"};
  const auto learn = [&](const std::string& text) {
    files::put(scratch / "a.xyz", text);
    static_cast<void>(set_up_training(options));
  };
  const double gpa = 1 / 160.2176634;
  using Sign = LabelsOptions::Sign;
  learn(labelled_by_model(1, 1, 1));
  EXPECT_MESSAGE(learn(labelled_by_model(1, -1, 1)),
                 "For stresses in extended XYZ: data.labels.stress_sign: pressure;");
  options.data.labels.stress_sign = Sign::pressure;
  learn(labelled_by_model(1, -1, 1));
  EXPECT_MESSAGE(learn(labelled_by_model(1, 1, 1)), "data.labels.stress_sign: tension");
  options.data.labels.stress_sign = Sign::tension;
  options.data.labels.stress_unit = gpa;
  EXPECT_MESSAGE(learn(labelled_by_model(1, -1, gpa / 10)),
                 "data.labels.stress_unit: kbar, data.labels.stress_sign: pressure");
  options.data.labels.stress_unit = gpa / 10;
  options.data.labels.stress_sign = Sign::pressure;
  learn(labelled_by_model(1, -1, gpa / 10));
  // Of the same sign or of another pressure altogether: other theory, not another convention.
  options.data.labels = {};
  learn(labelled_by_model(1, 1, 2));
  learn(labelled_by_model(1, 1, 1, -0.3));
  learn(labelled_by_model(1, 1, 1, 0.3));
  // What the loss does not ask for does not matter.
  options.loss.virial = {0, 0};
  learn(labelled_by_model(1, -1, 1));
  EXPECT_MESSAGE(learn(labelled_by_model(-1, 1, 1)), "they are gradients; write forces");
  options.loss.force = {0, 0};
  learn(labelled_by_model(-1, 1, 1));
  // A training from nothing has nothing to compare with.
  options.loss = {};
  options.loss.virial = {0.02, 1};
  options.model.start.reset();
  learn(labelled_by_model(1, -1, 1));
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
