#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "surrogates/potential/training/finetune.hpp"
#include "surrogates/potential/training/initialise.hpp"
#include "surrogates/potential/training/trainer.hpp"

namespace quintet::potential {
namespace {

/// Frames of atoms on a jagged grid with labels 0, so that deviations are the model's own values.
LabelledSystem system_of(const std::vector<int>& types, std::size_t n_frames, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 0.6);
  LabelledSystem system{"jagged", {}};
  for (std::size_t f = 0; f < n_frames; ++f) {
    Configuration c;
    c.box = Box({7, 0, 0, 1, 8, 0, -1, 2, 9}, {true, true, true});
    c.type_names = {"A", "B", "C"};
    c.types = types;
    for (std::size_t i = 0; i < types.size(); ++i)
      c.positions.push_back(
          c.box.to_cartesian({((i % 2) + uniform(random)) / 2, ((i / 2 % 2) + uniform(random)) / 2,
                              ((i / 4) + uniform(random)) / 3}));
    c.forces.assign(types.size(), {0, 0, 0});
    c.energy = 0;
    system.frames.push_back(c);
  }
  return system;
}

NetworkOptions options_of(const std::vector<std::string>& names, bool one_side) {
  NetworkOptions options;
  options.type_map = names;
  options.rcut = 5;
  options.rcut_smooth = 1;
  options.embedding = {4, 8, 8};
  options.fitting = {6, 6, 5};
  options.axis_neuron = 3;
  options.type_one_side = one_side;
  return options;
}

/// A model of A and B, or of A alone, with the statistics of some frames.
Model known_model(const std::vector<std::string>& names, bool one_side) {
  std::vector<int> types(10, 0);
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = i % names.size();
  return initial_model(options_of(names, one_side), {system_of(types, 4, 1)});
}

std::array<double, 2> values_of(const Model& model, const LabelledSystem& system) {
  const auto trainer = Trainer::create(model, SelRule::per_type);
  const TrainingFrame frame = make_frame(system.frames.front(), model.rcut);
  const TrainingFrame* one[] = {&frame};
  const auto found = trainer->evaluate(one, {1, 1, 0});
  return {found.rmse_energy(), found.rmse_force()};
}

Model widened(const Model& model, const std::vector<std::string>& names, const LabelledSystem& data) {
  return with_types(model, names, {data}, count_neighbours({data}, names.size(), model.rcut), 4, 7);
}

/// Atoms of A and B as types of [C, A, B]: frames without C, and data with all three.
const std::vector<int> of_two{0, 1, 1, 0, 1, 0, 0, 1}, of_three{1, 2, 2, 1, 2, 1, 1, 2},
    all{0, 1, 2, 0, 1, 2, 0, 1};

TEST(WithTypes, new_types_change_no_energy_of_the_known_ones) {
  for (const auto& [names, one_side] :
       {std::pair(std::vector<std::string>{"A", "B"}, false), std::pair(std::vector<std::string>{"A"}, true),
        std::pair(std::vector<std::string>{"A"}, false)}) {
    const Model model = known_model(names, one_side);
    const bool two = names.size() == 2;
    const auto before = values_of(model, system_of(two ? of_two : std::vector<int>(8, 0), 1, 5));
    auto wider = names;
    wider.insert(wider.begin(), "C");
    const auto data = system_of(two ? all : std::vector<int>{0, 1, 0, 1, 1, 0, 1, 1}, 4, 9);
    const Model more = widened(model, wider, data);
    EXPECT_GT(more.n_slots(), model.n_slots());
    const auto after = values_of(more, system_of(two ? of_three : std::vector<int>(8, 1), 1, 5));
    for (const std::size_t k : {0, 1})
      EXPECT_NEAR(after[k], before[k], 1e-9 * before[k]) << names.size() << one_side;
    const auto mixed = values_of(more, data);  // and the new ones are there
    EXPECT_TRUE(std::isfinite(mixed[0]) && mixed[1] > 0);
  }
}

/// dpa1: as many types as the width of their embedding, so that there is a skip, and more.
TEST(WithTypes, networks_that_read_types_know_the_old_ones_exactly_in_any_order) {
  for (const bool has_gate : {false, true})
    for (const int width : {2, 4, 5}) {
      auto options = options_of({"A", "B"}, false);
      options.kind = DescriptorKind::dpa1;
      options.type_width = width;
      options.embedding = {7, 8, 8};
      options.has_gate = has_gate;
      const Model model = initial_model(options, {system_of(of_two, 4, 1)});
      const Model more = widened(model, {"C", "A", "B"}, system_of(all, 4, 9));
      EXPECT_EQ(more.sel, model.sel);
      const auto before = values_of(model, system_of(of_two, 1, 5)),
                 after = values_of(more, system_of(of_three, 1, 5));
      for (const std::size_t k : {0, 1}) EXPECT_NEAR(after[k], before[k], 1e-11 * before[k]) << width;
      const auto mixed = values_of(more, system_of(all, 1, 9));
      EXPECT_TRUE(std::isfinite(mixed[0]) && mixed[1] > 0);
    }
}

TEST(WithTypes, networks_that_read_types_may_lose_some) {
  for (const bool has_gate : {false, true}) {
    auto options = options_of({"C", "A", "B"}, false);
    options.kind = DescriptorKind::dpa1;
    options.type_width = 3;
    options.embedding = {6, 8, 8};
    options.has_gate = has_gate;
    const Model model = initial_model(options, {system_of(all, 4, 1)});
    const auto before = values_of(model, system_of(of_three, 1, 5));  // of A and B
    const Model fewer = widened(model, {"B", "A"}, system_of(of_two, 4, 9)),
                others = widened(model, {"B", "D", "A"}, system_of(all, 4, 9));  // one goes, one comes
    EXPECT_EQ(fewer.mean.size(), 2U);
    std::vector<int> turned(of_two), among_others(of_two);
    for (int& type : turned) type = 1 - type;
    for (int& type : among_others) type = type == 0 ? 2 : 0;
    const auto after = values_of(fewer, system_of(turned, 1, 5)),
               beside = values_of(others, system_of(among_others, 1, 5));
    for (const std::size_t k : {0, 1}) {
      EXPECT_NEAR(after[k], before[k], 1e-11 * before[k]);
      EXPECT_NEAR(beside[k], before[k], 1e-11 * before[k]);
    }
  }
}

TEST(WithTypes, networks_of_two_neighbours_know_the_old_ones_exactly_in_any_order) {
  auto options = options_of({"A", "B"}, false);
  options.kind = DescriptorKind::se_e3;
  const Model model = initial_model(options, {system_of(of_two, 4, 1)});
  const auto before = values_of(model, system_of(of_two, 1, 5));
  for (const auto& names : {std::vector<std::string>{"C", "A", "B"}, {"C", "B", "A"}}) {
    std::vector<int> types(of_three);
    if (names[1] == "B")
      for (int& type : types) type = 3 - type;
    const Model more = widened(model, names, system_of(all, 4, 9));
    const auto after = values_of(more, system_of(types, 1, 5));
    for (const std::size_t k : {0, 1}) EXPECT_NEAR(after[k], before[k], 1e-11 * before[k]) << names[1];
    const auto mixed = values_of(more, system_of(all, 1, 9));
    EXPECT_TRUE(std::isfinite(mixed[0]) && mixed[1] > 0);
  }
}

std::string refusal(const Model& model, const std::vector<std::string>& names) {
  try {
    static_cast<void>(widened(model, names, system_of({0, 0, 1, 1, 0, 0, 1, 1}, 2, 3)));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(WithTypes, networks_of_two_neighbours_take_new_types_only_where_empty_slots_add_nothing) {
  auto options = options_of({"A", "B"}, false);
  options.kind = DescriptorKind::se_e3;
  Model model = initial_model(options, {system_of(of_two, 4, 1)});
  model.mean[1][2] = 0.3;
  EXPECT_NE(refusal(model, {"A", "B", "C"}).find("davg of directions is not 0"), std::string::npos);
  EXPECT_EQ(refusal(model, {"B", "A"}), "");
}

TEST(TrainedTriplets, cover_rows_with_means_and_refuse_what_no_interval_holds) {
  auto options = options_of({"A", "B"}, false);
  options.kind = DescriptorKind::se_e3;
  Model model = initial_model(options, {system_of(of_two, 4, 1)});
  model.mean[0] = {0.1, 1.5, -1.4, 1.3};
  const auto data = system_of(of_two, 1, 5);
  EXPECT_TRUE(std::isfinite(values_of(model, data)[1]));
  for (auto& row : model.deviation) row[1] = row[2] = row[3] = 1e-3;
  EXPECT_TRUE(std::isfinite(values_of(model, data)[1]));
  for (auto& row : model.deviation) row[3] = 1e-6;
  EXPECT_THROW(static_cast<void>(values_of(model, data)), InputError);
}

TEST(WithTypes, networks_of_two_neighbours_need_room_for_each_type) {
  auto options = options_of({"A", "B"}, false);
  options.kind = DescriptorKind::se_e3;
  options.sel = {4, 1};
  EXPECT_NO_THROW(validate(options));
  options.sel = {4, 0};
  EXPECT_THROW(validate(options), InputError);
  options.kind = DescriptorKind::se_e2_a;
  EXPECT_NO_THROW(validate(options));
}

TEST(WithTypes, one_sided_networks_of_several_types_change_little) {
  const Model model = known_model({"A", "B"}, true);
  const auto before = values_of(model, system_of(of_two, 1, 5));
  const auto after =
      values_of(widened(model, {"C", "A", "B"}, system_of(all, 4, 9)), system_of(of_three, 1, 5));
  for (const std::size_t k : {0, 1}) EXPECT_NEAR(after[k], before[k], 0.05 * before[k]);
}

TEST(WithTypes, another_order_is_the_same_model) {
  for (const bool one_side : {true, false}) {
    const Model model = known_model({"A", "B"}, one_side);
    const Model turned = widened(model, {"B", "A"}, system_of(of_two, 4, 9));
    std::vector<int> others(of_two);
    for (int& type : others) type = 1 - type;
    const auto before = values_of(model, system_of(of_two, 1, 5)),
               after = values_of(turned, system_of(others, 1, 5));
    for (const std::size_t k : {0, 1}) EXPECT_NEAR(after[k], before[k], 1e-11 * before[k]);
    EXPECT_EQ(turned.sel[0], model.sel[1]);
  }
}

TEST(WithTypes, what_cannot_be_carried_over_is_refused_by_name) {
  EXPECT_NE(refusal(known_model({"A", "B"}, false), {"A", "C"}).find("lacks B"), std::string::npos);
  auto options = options_of({"A"}, true);
  const std::vector<LabelledSystem> some{system_of(std::vector<int>(8, 0), 2, 1)};
  EXPECT_EQ(refusal(initial_model(options, some), {"A", "C"}), "");
  options.embedding_activation = Activation::sigmoid;
  EXPECT_NE(refusal(initial_model(options, some), {"A", "C"}).find("not 0 at 0"), std::string::npos);
  options = options_of({"A"}, true);
  options.fitting = {24, 6};  // the width of the descriptor
  EXPECT_NE(refusal(initial_model(options, some), {"A", "C"})
                .find("first layer of its fitting networks has a skip"),
            std::string::npos);
  EXPECT_EQ(refusal(initial_model(options, some), {"A"}).find("skip"), std::string::npos);
}

TEST(ChangeEnergyBias, finds_what_was_added_to_each_type) {
  Model model = known_model({"A", "B"}, false);
  const auto bias = model.output_bias;
  std::vector<LabelledSystem> systems{system_of({0, 0, 1, 1}, 3, 1), system_of({0, 1, 1, 1}, 2, 2)};
  std::vector<FrameOfSystem> frames;
  std::vector<double> predicted;
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t f = 0; f < systems[s].frames.size(); ++f) {
      frames.push_back({s, f});
      predicted.push_back(std::sin(3.0 * s + f));
      const double n_b = s == 0 ? 2 : 3, n_a = 4 - n_b;
      systems[s].frames[f].energy = predicted.back() + 0.7 * n_a - 1.3 * n_b;
    }
  systems[0].frames[1].energy.reset();  // one without a label
  const auto change = change_energy_bias(model, systems, frames, [&](std::size_t k) { return predicted[k]; });
  EXPECT_NEAR(change[0], 0.7, 1e-12);
  EXPECT_NEAR(change[1], -1.3, 1e-12);
  EXPECT_NEAR(model.output_bias[0], bias[0] + 0.7, 1e-12);
}

}  // namespace
}  // namespace quintet::potential
