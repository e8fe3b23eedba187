#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/training/data.hpp"
#include "surrogates/potential/training/initialise.hpp"
#include "surrogates/potential/training/least_squares.hpp"
#include "tests/support/kinetics_reference.hpp"

namespace quintet::potential {
namespace {

/// Frames of random atoms in a small triclinic box, images of neighbours included.
LabelledSystem random_system(const std::vector<int>& types, std::size_t n_frames, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return (random() >> 11) * 0x1.0p-53; };
  LabelledSystem system{"random", {}};
  for (std::size_t f = 0; f < n_frames; ++f) {
    Configuration c;
    c.box = Box({7, 0, 0, 1, 8, 0, -1, 2, 9}, {true, true, true});
    c.type_names = {"A", "B", "C"};
    c.types = types;
    // One atom a cell of a grid, so that none overlap.
    for (std::size_t i = 0; i < types.size(); ++i)
      c.positions.push_back(
          c.box.to_cartesian({((i % 2) + 0.6 * uniform()) / 2, ((i / 2 % 2) + 0.6 * uniform()) / 2,
                              ((i / 4) + 0.6 * uniform()) / 3}));
    c.energy = -10 * uniform();
    system.frames.push_back(c);
  }
  return system;
}

NetworkOptions small_options() {
  NetworkOptions options;
  options.type_map = {"A", "B", "C"};
  options.rcut = 5;
  options.rcut_smooth = 1;
  options.embedding = {4, 8, 8};
  options.fitting = {6, 6, 5};
  options.axis_neuron = 3;
  return options;
}

/// Every neighbour of every atom by brute force: calls see(centre, neighbour's type, d, r).
template <class See>
void for_all_neighbours(const Configuration& c, double cutoff, See&& see) {
  for (std::size_t i = 0; i < c.n_atoms(); ++i)
    for (std::size_t j = 0; j < c.n_atoms(); ++j)
      for (int a = -2; a <= 2; ++a)
        for (int b = -2; b <= 2; ++b)
          for (int k = -2; k <= 2; ++k) {
            Vec3 d;
            const auto& rows = c.box.rows();
            for (int l = 0; l < 3; ++l)
              d[l] = c.positions[j][l] - c.positions[i][l] + a * rows[l] + b * rows[3 + l] + k * rows[6 + l];
            const double r = std::hypot(d[0], d[1], d[2]);
            if (r > 0 && r < cutoff) see(i, j, d, r);
          }
}

const std::vector<int> twelve{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1};

TEST(Statistics, neighbours_are_counted_as_by_brute_force) {
  const LabelledSystem system = random_system(twelve, 3, 1);
  std::vector<int> most(3, 0);
  double least = 5;
  for (const auto& frame : system.frames) {
    std::vector<std::vector<int>> count(frame.n_atoms(), std::vector<int>(3, 0));
    for_all_neighbours(frame, 5, [&](std::size_t i, std::size_t j, const Vec3&, double r) {
      ++count[i][frame.types[j]];
      least = std::min(least, r);
    });
    for (const auto& row : count)
      for (int t = 0; t < 3; ++t) most[t] = std::max(most[t], row[t]);
  }

  const auto census = count_neighbours({system}, 3, 5);

  EXPECT_EQ(census.most_neighbours, most);
  EXPECT_NEAR(census.least_distance, least, 1e-12);
}

TEST(Statistics, automatic_sel_is_the_peers) {
  // int(1.1 n), then up to a multiple of 4.
  EXPECT_EQ(automatic_sel({1, {0, 1, 35, 44, 67}}), (std::vector<int>{0, 4, 40, 48, 76}));
  EXPECT_EQ(automatic_sel({1, {0, 0}}), (std::vector<int>{4, 4}));
}

TEST(Statistics, overlapping_atoms_and_tiny_boxes_are_named) {
  LabelledSystem system = random_system(twelve, 2, 1);
  const auto message = [&] {
    try {
      (void)count_neighbours({system}, 3, 5);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  system.frames[1].positions[3] = system.frames[1].positions[7];
  EXPECT_NE(message().find("random: frame 1: atoms "), std::string::npos) << message();
  system = random_system({0}, 1, 1);
  system.frames[0].box = Box({0.1, 0, 0, 0, 1, 0, 0, 0, 1}, {true, true, true});
  EXPECT_NE(message().find("random: frame 0: a box 0.1"), std::string::npos) << message();
}

/// Mean of R[0], its deviation, and the deviation of R[1..3] of all slots by brute force.
std::array<double, 3> expected_statistics(const LabelledSystem& system, const Model& model, int centre) {
  double n = 0, s1 = 0, s2 = 0, a1 = 0, a2 = 0;
  const int nt = model.n_types();
  for (const auto& c : system.frames) {
    n += std::count(c.types.begin(), c.types.end(), centre) * model.n_slots();
    for_all_neighbours(c, model.rcut, [&](std::size_t i, std::size_t j, const Vec3& d, double r) {
      const int pair = centre * nt + c.types[j];
      if (c.types[i] != centre || model.excluded_descriptor_pairs[pair] || model.excluded_pairs[pair]) return;
      const double u = std::clamp((r - model.rcut_smooth) / (model.rcut - model.rcut_smooth), 0.0, 1.0);
      const double w = 1 - 10 * std::pow(u, 3) + 15 * std::pow(u, 4) - 6 * std::pow(u, 5);
      s1 += w / r;
      s2 += w * w / r / r;
      for (const double x : d) {
        a1 += w * x / r / r;
        a2 += std::pow(w * x / r / r, 2);
      }
    });
  }
  const double mean = s1 / n, angular = a1 / (3 * n);
  return {mean, std::sqrt(s2 / n - mean * mean), std::sqrt(a2 / (3 * n) - angular * angular)};
}

TEST(Statistics, davg_and_dstd_are_over_all_slots_by_centre_type) {
  const LabelledSystem system = random_system(twelve, 4, 2);
  auto options = small_options();
  for (const int excluded : {0, 1, 2}) {
    if (excluded == 1) options.excluded_descriptor_pairs = {{0, 1}};
    if (excluded == 2) {
      options.excluded_descriptor_pairs.clear();
      options.excluded_pairs = {{1, 1}};
    }
    const Model model = initial_model(options, {system});

    for (const int t : {0, 1}) {
      const auto [mean, radial, angular] = expected_statistics(system, model, t);
      EXPECT_NEAR(model.mean[t][0], mean, 1e-12);
      EXPECT_NEAR(model.deviation[t][0], radial, 1e-12);
      for (int k = 1; k < 4; ++k) {
        EXPECT_EQ(model.mean[t][k], 0);
        EXPECT_NEAR(model.deviation[t][k], angular, 1e-12);
      }
    }
    EXPECT_EQ(model.mean[2], (std::array<double, 4>{0, 0, 0, 0}));  // no such atoms
    EXPECT_EQ(model.deviation[2], (std::array<double, 4>{0.1, 0.1, 0.1, 0.1}));
  }
}

TEST(Statistics, few_neighbours_leave_a_least_deviation_and_zero_mean_can_be_asked_for) {
  auto options = small_options();
  options.rcut = 3;
  options.sel = {2000, 2000, 2000};
  options.set_davg_zero = true;

  const Model model = initial_model(options, {random_system(twelve, 2, 3)});

  EXPECT_EQ(model.mean[0], (std::array<double, 4>{0, 0, 0, 0}));
  EXPECT_EQ(model.deviation[0], (std::array<double, 4>{0.01, 0.01, 0.01, 0.01}));
}

TEST(LeastSquares, fits_what_is_determined_and_keeps_the_rest_small) {
  const auto exact = least_squares({2, 1, 1, 3}, 2, {4, 7});
  const auto mean = least_squares({1, 1, 1}, 1, {1, 2, 6});
  const auto ratio = least_squares({1, 2, 2, 4}, 2, {5, 10});  // only x + 2 y = 5 is known
  const auto nothing = least_squares({}, 2, {});

  EXPECT_NEAR(exact[0], 1, 1e-13);
  EXPECT_NEAR(exact[1], 2, 1e-13);
  EXPECT_NEAR(mean[0], 3, 1e-13);
  EXPECT_NEAR(ratio[0], 1, 1e-13);
  EXPECT_NEAR(ratio[1], 2, 1e-13);
  EXPECT_EQ(nothing, (std::vector<double>{0, 0}));
}

TEST(Statistics, energy_bias_weighs_each_frame_alike_and_is_zero_for_absent_or_excluded_types) {
  Model model;
  model.type_names = {"A", "B", "C"};
  LabelledSystem two = random_system({0, 0}, 3, 1), three = random_system({0, 1, 1}, 1, 2);
  for (auto& frame : two.frames) frame.energy = -6.0;
  two.frames[2].energy = -9.0;
  three.frames[0].energy = 1.0;

  set_energy_bias(model, {two, three});
  EXPECT_NEAR(model.output_bias[0], -3.5, 1e-12);  // mean of -6, -6, -9 by 2
  EXPECT_NEAR(model.output_bias[1], 2.25, 1e-12);
  EXPECT_EQ(model.output_bias[2], 0);

  two.frames[0].energy.reset();
  model.excluded_atoms = {false, true, false};
  set_energy_bias(model, {two, three});
  EXPECT_NEAR(model.output_bias[0], (2 * -6.0 + 2 * -9.0 + 1.0) / 9, 1e-12);
  EXPECT_EQ(model.output_bias[1], 0);
}

/// Mean and standard deviation of some numbers.
std::array<double, 2> moments(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  for (const double v : values) squares += std::pow(v - sum / values.size(), 2);
  return {sum / values.size(), std::sqrt(squares / values.size())};
}

TEST(InitialModel, weights_have_the_documented_distributions) {
  auto options = small_options();
  options.embedding = {50, 100};
  options.fitting = {200, 200};
  options.embedding_timestep = true;
  const Model model = initial_model(options, {random_system(twelve, 1, 1)});

  const auto& layer = model.fitting[1].layers[1];
  const auto expect = [](const std::vector<double>& values, double mean, double deviation) {
    const double n = values.size();
    EXPECT_NEAR(moments(values)[0], mean, 4 * deviation / std::sqrt(n));
    EXPECT_NEAR(moments(values)[1], deviation, 4 * deviation / std::sqrt(2 * n));
  };
  expect(layer.weight, 0, 1 / std::sqrt(400.0));
  expect(layer.bias, 0, 1);
  expect(layer.timestep, 0.1, 0.001);
  expect(model.embedding[3].layers[1].weight, 0, 1 / std::sqrt(150.0));
}

TEST(InitialModel, has_the_layers_skips_and_time_steps_of_the_peer) {
  using Skip = DenseLayer::Skip;
  const Model model = initial_model(small_options(), {random_system(twelve, 1, 1)});

  ASSERT_EQ(model.embedding.size(), 9u);
  ASSERT_EQ(model.fitting.size(), 3u);
  const auto skips = [](const Network& network) {
    std::vector<Skip> found;
    for (const auto& layer : network.layers) found.push_back(layer.skip);
    return found;
  };
  EXPECT_EQ(skips(model.embedding[0]), (std::vector<Skip>{Skip::none, Skip::doubled, Skip::identity}));
  EXPECT_EQ(skips(model.fitting[0]), (std::vector<Skip>{Skip::none, Skip::identity, Skip::none, Skip::none}));
  const auto& layers = model.fitting[0].layers;
  EXPECT_EQ(layers[0].n_in, 24);
  EXPECT_EQ(layers[0].timestep, std::vector<double>(6, 1.0));
  EXPECT_NEAR(layers[1].timestep[0], 0.1, 0.01);
  EXPECT_EQ(layers[3].n_out, 1);
  EXPECT_EQ(layers[3].activation, Activation::linear);
  EXPECT_EQ(model.embedding[0].layers[1].timestep, std::vector<double>(8, 1.0));  // resnet_dt: false
}

TEST(InitialModel, is_of_the_seed_and_no_two_networks_are_alike) {
  auto options = small_options();
  const LabelledSystem system = random_system(twelve, 1, 1);
  const Model model = initial_model(options, {system}), again = initial_model(options, {system});
  options.seed = 2;
  const Model other = initial_model(options, {system});

  // Written down once: a change would change every run that names a seed.
  EXPECT_NEAR(model.fitting[0].layers[0].weight[0], 0.0995541, 1e-7);
  EXPECT_NEAR(model.embedding[1].layers[0].bias[0], -1.10873, 1e-5);
  EXPECT_EQ(model.embedding[8].layers[2].weight, again.embedding[8].layers[2].weight);
  EXPECT_NE(model.fitting[0].layers[0].weight, other.fitting[0].layers[0].weight);
  EXPECT_NE(model.fitting[0].layers[0].weight, model.fitting[1].layers[0].weight);
  EXPECT_NE(model.embedding[0].layers[0].weight, model.embedding[1].layers[0].weight);
}

TEST(InitialModel, takes_neighbours_that_were_counted_before) {
  const auto options = small_options();
  const LabelledSystem system = random_system(twelve, 2, 1);
  const auto census = count_neighbours({system}, 3, options.rcut);

  const Model counted = initial_model(options, {system}, census), model = initial_model(options, {system});

  EXPECT_EQ(counted.sel, model.sel);
  EXPECT_EQ(counted.sel, automatic_sel(census));
  EXPECT_EQ(counted.least_distance, model.least_distance);
  EXPECT_EQ(counted.mean, model.mean);
  EXPECT_THROW((void)initial_model(options, {system}, {1, {3}}), InputError);
}

TEST(InitialModel, says_where_sel_is_too_small) {
  auto options = small_options();
  options.sel = {3, 100, 0};
  const int before = log::warning_count();

  (void)initial_model(options, {random_system(twelve, 1, 1)});

  ASSERT_EQ(log::warning_count(), before + 1);
  EXPECT_NE(log::warnings().back().find("sel is 3 for type A"), std::string::npos);
}

TEST(InitialModel, options_that_make_no_model_are_refused) {
  const auto refused = [](auto change) {
    auto options = small_options();
    change(options);
    EXPECT_THROW(validate(options), InputError);
  };
  EXPECT_NO_THROW(validate(small_options()));
  refused([](NetworkOptions& o) { o.type_map = {"A", "A", "B"}; });
  refused([](NetworkOptions& o) { o.rcut_smooth = 5; });
  refused([](NetworkOptions& o) { o.rcut = std::nan(""); });
  refused([](NetworkOptions& o) { o.sel = {1, 2}; });
  refused([](NetworkOptions& o) { o.sel = {0, 0, 0}; });
  refused([](NetworkOptions& o) { o.sel = {1, -2, 1}; });
  refused([](NetworkOptions& o) { o.embedding = {}; });
  refused([](NetworkOptions& o) { o.fitting = {8, 0}; });
  refused([](NetworkOptions& o) { o.axis_neuron = 9; });
  refused([](NetworkOptions& o) { o.excluded_pairs = {{0, 3}}; });
  refused([](NetworkOptions& o) { o.excluded_descriptor_pairs = {{-1, 0}}; });
  refused([](NetworkOptions& o) { o.excluded_atoms = {7}; });
}

TEST(Statistics, parameters_of_atoms_have_the_mean_and_deviation_of_all_of_them) {
  std::vector<LabelledSystem> systems{random_system({0, 1}, 2, 3), random_system({0, 1, 2, 0}, 1, 4)};
  systems[0].frames[0].parameters = {1, 7, 2, 7};
  systems[0].frames[1].parameters = {3, 7, 4, 7};
  systems[1].frames[0].parameters = {5, 7, 6, 7, 7, 7, 8, 7};
  auto options = small_options();
  options.n_atom_parameters = 2;
  const Model model = initial_model(options, systems);
  const auto& read = model.atom_parameters;
  ASSERT_EQ(read.count(), 2);
  EXPECT_NEAR(read.mean[0], 4.5, 1e-14);
  EXPECT_NEAR(read.inverse_deviation[0], 1 / std::sqrt(5.25), 1e-14);
  EXPECT_NEAR(read.mean[1], 7, 1e-14);
  EXPECT_EQ(read.inverse_deviation[1], 100);  // a number that is always the same
  EXPECT_EQ(model.fitting.front().n_in(), 8 * 3 + 2);
  options.kind = DescriptorKind::dpa1;
  options.sel = {8};
  EXPECT_EQ(initial_model(options, systems).atom_parameters.mean, read.mean);
}

TEST(Statistics, water_has_the_peers_numbers) {
  const std::string name = "../deep_potential/water_deepmd_example.npz";
  if (!kinetics::reference_here(name)) GTEST_SKIP() << kinetics::reference_absent(name);
  const auto arrays = kinetics::reference_npz(name);
  std::vector<LabelledSystem> systems(3);
  Configuration c;
  c.type_names = {"O", "H"};
  for (const double t : arrays.at("type").values) c.types.push_back(t);
  c.positions.resize(192);
  for (int s = 0; s < 3; ++s) {
    systems[s].name = "data_" + std::to_string(s);
    const std::string set = systems[s].name + "/set.000/";
    Mat3 rows;
    std::copy_n(arrays.at(set + "box").values.begin(), 9, rows.begin());
    c.box = Box(rows, {true, true, true});
    for (std::size_t f = 0; f < 80; ++f) {
      for (std::size_t i = 0; i < 576; ++i) c.positions[i / 3][i % 3] = arrays.at(set + "coord").at(f, i);
      c.energy = arrays.at(set + "energy").values[f];
      systems[s].frames.push_back(c);
    }
  }
  NetworkOptions options;
  options.type_map = {"O", "H"};
  options.sel = {46, 92};
  options.statistics_frames = 80;

  const Model model = initial_model(options, systems);

  // DeePMD-kit 3.2.0 took some frames of the same data.
  const double mean[2] = {0.05035, 0.04812}, radial[2] = {0.13991, 0.12394}, angular[2] = {0.08585, 0.07676};
  for (int t = 0; t < 2; ++t) {
    EXPECT_NEAR(model.mean[t][0], mean[t], 1e-3 * mean[t]);
    EXPECT_NEAR(model.deviation[t][0], radial[t], 1e-3 * radial[t]);
    EXPECT_NEAR(model.deviation[t][2], angular[t], 1e-3 * angular[t]);
  }
  EXPECT_NEAR(model.output_bias[0], -93.574, 2e-3);
  EXPECT_NEAR(model.output_bias[1], -187.149, 4e-3);  // energies differ by 0.65 eV between frames
  EXPECT_NEAR(model.least_distance.value(), 0.9, 0.02);
}

}  // namespace
}  // namespace quintet::potential
