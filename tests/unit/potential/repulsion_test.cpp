#include "surrogates/potential/model/repulsion/repulsion.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/read_configuration_elements.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/model/repulsion/repulsion_kernels.hpp"
#include "tests/support/deep_potential_case.hpp"

namespace quintet::potential {
namespace {

std::string source(const std::string& path) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/" + path;
}

std::unique_ptr<ForceField> copper() {
  return std::make_unique<DeepPotential>(read_dp(source("inputs/dpmd/copper/copper.dp")),
                                         DeepPotentialOptions{});
}

/// Two copper atoms in the open.
Configuration pair_at(double r) {
  Configuration c;
  c.type_names = {"Cu"};
  c.types = {0, 0};
  c.positions = {{1, 1, 1}, {1 + 0.6 * r, 1, 1 + 0.8 * r}};
  c.box = Box({40, 0, 0, 0, 40, 0, 0, 0, 40}, {false, false, false});
  return c;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Values of the formula evaluated in Python.
TEST(Repulsion, is_the_universal_formula) {
  const RepulsionOptions options;
  EXPECT_NEAR(universal_repulsion(nuclear_pair(29, 29, options), 0.25).value, 8988.477978772024, 1e-6);
  EXPECT_NEAR(universal_repulsion(nuclear_pair(29, 29, options), 0.5).value, 1476.038755673642, 1e-7);
  EXPECT_NEAR(universal_repulsion(nuclear_pair(29, 29, options), 0.9).value, 204.4709234949511, 1e-7);
  EXPECT_NEAR(universal_repulsion(nuclear_pair(8, 1, options), 0.3).value, 103.3331125338393, 1e-7);
  EXPECT_NEAR(universal_repulsion(nuclear_pair(1, 8, options), 0.3).value, 103.3331125338393, 1e-7);
  EXPECT_NEAR(universal_repulsion(nuclear_pair(1, 1, options), 0.7).value, 2.6746086168780248, 1e-9);
}

TEST(Repulsion, slope_is_the_derivative_of_the_value) {
  const auto pair = nuclear_pair(29, 8, {0.6, 1.0});
  const double h = 1e-5;
  for (const double r : {0.3, 0.59, 0.65, 0.8, 0.95}) {
    const double difference =
        (switched_repulsion(pair, r + h).value - switched_repulsion(pair, r - h).value) / (2 * h);
    EXPECT_NEAR(switched_repulsion(pair, r).slope, difference, 1e-6 * std::abs(difference)) << r;
  }
}

TEST(Repulsion, is_whole_below_inner_half_midway_and_nothing_from_outer_on) {
  const auto pair = nuclear_pair(29, 29, {0.6, 1.0});
  EXPECT_EQ(switched_repulsion(pair, 0.6).value, universal_repulsion(pair, 0.6).value);
  EXPECT_NEAR(switched_repulsion(pair, 0.8).value, universal_repulsion(pair, 0.8).value / 2, 1e-10);
  EXPECT_EQ(switched_repulsion(pair, 1.0).value, 0);
  EXPECT_EQ(switched_repulsion(pair, 1.0).slope, 0);
}

TEST(Repulsion, its_value_slope_and_curvature_are_continuous_at_both_ends) {
  const auto pair = nuclear_pair(29, 29, {0.6, 1.0});
  const double h = 1e-6;
  for (const double r : {0.6, 1.0}) {
    const Radial below = switched_repulsion(pair, r - h), above = switched_repulsion(pair, r + h);
    EXPECT_NEAR(below.value, above.value, 3 * h * std::abs(below.slope) + 1e-9) << r;
    const double left =
        (switched_repulsion(pair, r - h).slope - switched_repulsion(pair, r - 2 * h).slope) / h;
    const double right =
        (switched_repulsion(pair, r + 2 * h).slope - switched_repulsion(pair, r + h).slope) / h;
    EXPECT_NEAR(left, right, 1e-4 * std::abs(universal_repulsion(pair, r).slope / (r * r)) + 2) << r;
  }
}

TEST(Repulsion, adds_its_pair_energy_and_force_to_the_model) {
  Repulsion field(copper(), {0.6, 1.0});
  const auto plain = copper();
  const auto with = evaluate(Comm::self(), field, pair_at(0.7)),
             without = evaluate(Comm::self(), *plain, pair_at(0.7));
  const Radial v = switched_repulsion(nuclear_pair(29, 29, {0.6, 1.0}), 0.7);

  EXPECT_NEAR(with.energy - without.energy, v.value, 1e-9);
  EXPECT_NEAR(with.atom_energy[0] - without.atom_energy[0], v.value / 2, 1e-9);
  EXPECT_NEAR(with.force[0] - without.force[0], 0.6 * v.slope, 1e-8);
  EXPECT_NEAR(with.force[3] - without.force[3], -0.6 * v.slope, 1e-8);
  EXPECT_NEAR(with.virial[2] - without.virial[2], -v.slope * 0.6 * 0.8 * 0.7, 1e-8);
}

TEST(Repulsion, changes_nothing_beyond_outer) {
  Repulsion field(copper(), {0.6, 1.0});
  const auto plain = copper();
  for (const double r : {1.0, 1.5, 2.5}) {
    const auto with = evaluate(Comm::self(), field, pair_at(r)),
               without = evaluate(Comm::self(), *plain, pair_at(r));
    EXPECT_EQ(with.energy, without.energy) << r;
    EXPECT_EQ(with.force, without.force) << r;
    EXPECT_EQ(with.virial, without.virial) << r;
  }
}

TEST(Repulsion, keeps_the_models_word_on_atoms_that_are_too_close) {
  Repulsion field(copper(), {});
  const auto said = message_of([&] { (void)evaluate(Comm::self(), field, pair_at(0.15)); });
  EXPECT_NE(said.find("closer than 0.2 angstrom"), std::string::npos) << said;
}

TEST(Repulsion, refuses_ranges_that_make_no_sense) {
  EXPECT_NE(message_of([] { Repulsion(copper(), {1.0, 0.6}); }).find("inner < outer"), std::string::npos);
  EXPECT_NE(message_of([] {
              Repulsion(copper(), {1.0, 7.0});
            }).find("the model's cutoff"),
            std::string::npos);
}

TEST(Repulsion, knows_elements_by_their_names_alone) {
  EXPECT_EQ(atomic_number("H"), 1);
  EXPECT_EQ(atomic_number("D"), 1);
  EXPECT_EQ(atomic_number("Cu"), 29);
  EXPECT_EQ(atomic_number("Og"), 118);
  for (const int number : {1, 8, 29, 118}) EXPECT_EQ(atomic_number(element_of_number(number)), number);
  for (const int number : {0, 119})
    EXPECT_NE(message_of([&] { (void)element_of_number(number); }).find("expected 1 to 118"),
              std::string::npos);
  EXPECT_NE(message_of([] { (void)atomic_number("Ow"); }).find("'Ow' is not the symbol"), std::string::npos);
}

}  // namespace
}  // namespace quintet::potential
