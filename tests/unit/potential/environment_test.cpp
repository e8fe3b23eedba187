#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "surrogates/potential/evaluation/environment.hpp"
#include "surrogates/potential/model/environment_cell.hpp"
#include "tests/support/deep_potential_writer.hpp"

namespace quintet::potential {
namespace {

/// Atom 0 at the origin among atoms at given distances along random directions; all listed, type O first.
struct Surroundings {
  Surroundings(const Model& model, const std::vector<std::pair<int, double>>& atoms)
      : position(3, 0.0), type{0}, offset{0} {
    batch.reserve(4, 64, model.n_types(), model.n_channels());
    std::mt19937 random(6);
    std::normal_distribution<double> normal;
    auto sorted = atoms;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [t, r] : sorted) {
      double d[3] = {normal(random), normal(random), normal(random)};
      const double scale = r / std::hypot(d[0], d[1], d[2]);
      list.push_back(type.size());
      type.push_back(t);
      for (const double x : d) position.push_back(scale * x);
    }
    offset.push_back(list.size());
  }
  void append(const Environment& environment) {
    environment.append(0, position.data(), type.data(), offset.data(), list.data(), batch, scratch);
  }
  /// Distances that stayed, by type.
  [[nodiscard]] std::vector<double> kept(int t) const {
    std::vector<double> distances;
    for (int r = batch.first[t]; r < batch.first[t + 1]; ++r)
      distances.push_back(std::hypot(batch.dx[r], batch.dy[r], batch.dz[r]));
    std::sort(distances.begin(), distances.end());
    return distances;
  }
  std::vector<double> position;
  std::vector<int> type, list;
  std::vector<std::size_t> offset;
  Batch<double> batch;
  Environment::Scratch scratch;
};

Model small_model() {
  dp::Shape shape;
  shape.embedding = {4, 8};
  shape.fitting = {4};
  shape.axis = 2;
  shape.sel = {2, 3};
  return dp::random_model(shape, 5);
}

void expect_distances(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
}

TEST(Environment, rows_are_the_formula_and_its_slopes) {
  Model model = small_model();
  model.protection = 0.07;
  model.sel = {20, 20};
  std::vector<std::pair<int, double>> atoms;
  for (int i = 0; i < 17; ++i) atoms.push_back({i % 2, 0.3 + 0.37 * i});  // some beyond the cutoff of 6
  Surroundings s(model, atoms);
  s.append(Environment(model, SelRule::per_type));

  ASSERT_EQ(s.batch.first[2], 16);
  const auto weight = [&](double r) {
    const double u = std::clamp((r - model.rcut_smooth) / (model.rcut - model.rcut_smooth), 0.0, 1.0);
    return 1 - 10 * std::pow(u, 3) + 15 * std::pow(u, 4) - 6 * std::pow(u, 5);
  };
  const auto q = [&](double r) { return weight(r) / std::pow(r + model.protection, 2); };
  for (int r = 0; r < s.batch.first[2]; ++r) {
    const double d[3] = {s.batch.dx[r], s.batch.dy[r], s.batch.dz[r]},
                 distance = std::hypot(d[0], d[1], d[2]), h = 1e-6;
    EXPECT_NEAR(s.batch.row[4 * r], model.normalised_s(0, distance), 1e-13);
    for (int l = 0; l < 3; ++l)
      EXPECT_NEAR(s.batch.row[4 * r + 1 + l],
                  (q(distance) * d[l] - model.mean[0][1 + l]) / model.deviation[0][1 + l], 1e-11);
    const double slope =
        (model.normalised_s(0, distance + h) - model.normalised_s(0, distance - h)) / (2 * h * distance);
    EXPECT_NEAR(s.batch.slope[r], slope, 1e-7 * (1 + std::abs(slope)));
    const double dq = (q(distance + h) - q(distance - h)) / (2 * h * distance);
    EXPECT_NEAR(s.batch.dq[r], dq, 1e-7 * (1 + std::abs(dq)));
  }
}

TEST(EnvironmentTerm, is_the_same_in_a_pack_as_alone) {
  constexpr int w = pack_width<double>;
  const SwitchRange range{0.5, 1 / 5.5, 0.07};
  const auto expect_same = [](double alone, double lane) {
    EXPECT_NEAR(lane, alone, 1e-14 * (1 + std::abs(alone)));
  };
  for (double first = 0.1; first < 7; first += 0.3) {  // inside, between and beyond the switch
    alignas(64) double distance2[w];
    for (int l = 0; l < w; ++l) distance2[l] = std::pow(first + 0.04 * l, 2);
    const EnvironmentTerm<Pack<double>> pack(range, 0.1, 1.7, load<double>(distance2));
    alignas(64) double s[w], slope[w], q[w], dq[w];
    store<double>(s, pack.s);
    store<double>(slope, pack.slope);
    store<double>(q, pack.q);
    store<double>(dq, pack.dq);
    for (int l = 0; l < w; ++l) {
      const EnvironmentTerm<double> alone(range, 0.1, 1.7, distance2[l]);
      expect_same(alone.s, s[l]);
      expect_same(alone.slope, slope[l]);
      expect_same(alone.q, q[l]);
      expect_same(alone.dq, dq[l]);
    }
  }
}

TEST(EnvironmentTerm, switch_has_its_slope_and_is_smooth_at_both_ends) {
  const double h = 1e-6;
  for (const double u : {0.01, 0.3, 0.5, 0.77, 0.99})
    EXPECT_NEAR(smooth_switch_slope(u), (smooth_switch(u + h) - smooth_switch(u - h)) / (2 * h), 1e-8);
  EXPECT_EQ(smooth_switch(0.0), 1);
  EXPECT_NEAR(smooth_switch(1.0), 0, 1e-15);
  EXPECT_EQ(smooth_switch_slope(0.0), 0);
  EXPECT_EQ(smooth_switch_slope(1.0), 0);
}

TEST(Environment, keeps_the_nearest_of_each_type) {
  const Model model = small_model();  // sel 2 O, 3 H
  Surroundings s(model, {{0, 3.0}, {0, 1.0}, {0, 2.0}, {1, 5.0}, {1, 4.0}, {1, 7.0}});
  s.append(Environment(model, SelRule::per_type));

  expect_distances(s.kept(0), {1, 2});
  expect_distances(s.kept(1), {4, 5});
  EXPECT_EQ(s.batch.empty[0], 0);
  EXPECT_EQ(s.batch.empty[1], 1);
  EXPECT_EQ(s.scratch.overflowing, 1);
}

TEST(Environment, two_stage_rule_first_keeps_the_nearest_of_all) {
  const Model model = small_model();  // 5 slots in all
  const std::vector<std::pair<int, double>> atoms{{0, 1.0}, {0, 1.1}, {0, 1.2}, {0, 1.3},
                                                  {1, 2.0}, {1, 3.0}, {1, 4.0}};
  Surroundings two_stage(model, atoms), per_type(model, atoms);
  two_stage.append(Environment(model, SelRule::two_stage));
  per_type.append(Environment(model, SelRule::per_type));

  expect_distances(two_stage.kept(0), {1.0, 1.1});
  expect_distances(two_stage.kept(1), {2.0});
  EXPECT_EQ(two_stage.batch.empty[1], 2);
  expect_distances(per_type.kept(1), {2, 3, 4});
}

TEST(Environment, is_silent_as_long_as_sel_is_enough) {
  const Model model = small_model();
  Surroundings s(model, {{0, 3.0}, {0, 1.0}, {1, 4.0}, {1, 4.1}, {1, 4.2}, {1, 6.1}});
  s.append(Environment(model, SelRule::two_stage));

  EXPECT_EQ(s.scratch.overflowing, 0);
  EXPECT_EQ(s.kept(1).size(), 3u);
}

TEST(Environment, excluded_descriptor_pairs_keep_their_slot_and_excluded_pairs_free_it) {
  Model dropped = small_model(), emptied = small_model();
  dropped.excluded_descriptor_pairs = emptied.excluded_pairs = {false, true, true, false};  // O-H
  const std::vector<std::pair<int, double>> atoms{{0, 1.0}, {1, 2.0}, {1, 2.5}};
  Surroundings with_dropped(dropped, atoms), with_emptied(emptied, atoms);
  with_dropped.append(Environment(dropped, SelRule::per_type));
  with_emptied.append(Environment(emptied, SelRule::per_type));

  for (const auto* s : {&with_dropped, &with_emptied}) {
    EXPECT_EQ(s->kept(0).size(), 1u);
    EXPECT_EQ(s->kept(1).size(), 0u);
    EXPECT_EQ(s->batch.empty[0], 1);
  }
  EXPECT_EQ(with_dropped.batch.empty[1], 1);
  EXPECT_EQ(with_emptied.batch.empty[1], 3);
}

TEST(Environment, an_atom_at_the_cutoff_is_like_an_empty_slot) {
  const Model model = small_model();
  Surroundings s(model, {{1, model.rcut * (1 - 1e-9)}});
  s.append(Environment(model, SelRule::per_type));

  ASSERT_EQ(s.batch.first[2], 1);
  EXPECT_NEAR(s.batch.row[0], -model.mean[0][0] / model.deviation[0][0], 1e-13);
  for (int a = 1; a < 4; ++a) EXPECT_NEAR(s.batch.row[a], 0, 1e-13);
  EXPECT_NEAR(s.batch.slope[0], 0, 1e-13);
}

TEST(Environment, has_room_for_more_neighbours_than_expected) {
  Model model = small_model();
  model.sel = {500, 500};
  std::vector<std::pair<int, double>> atoms;
  for (int i = 0; i < 700; ++i) atoms.push_back({i % 2, 1 + 0.007 * i});
  Surroundings s(model, atoms);
  s.append(Environment(model, SelRule::per_type));

  EXPECT_EQ(s.batch.first[2], 700);
}

}  // namespace
}  // namespace quintet::potential
