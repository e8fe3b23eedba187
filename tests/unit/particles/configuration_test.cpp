#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "tests/support/sample_systems.hpp"

using namespace quintet;

namespace {

/// Two atoms of a triclinic cell.
Configuration pair_of_atoms() {
  Configuration c;
  c.box = Box({5, 0, 0, 1, 6, 0, 0.5, -1, 7}, {true, true, true}, {1, 1, 1});
  c.type_names = {"O", "H"};
  c.types = {0, 1};
  c.positions = {{1, 1, 1}, {3, 3, 3}};
  return c;
}

std::string refusal(const Configuration& c) {
  try {
    validate(c);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_refused(const Configuration& c, const std::string& why) {
  const auto message = refusal(c);
  EXPECT_NE(message.find(why), std::string::npos) << message;
}

}  // namespace

TEST(Configuration, is_repeated_along_its_rows_with_x_slowest) {
  auto c = pair_of_atoms();
  c.energy = -2.0;
  c.velocities = {{1, 0, 0}, {0, 1, 0}};
  c.ids = {5, 9};

  const auto r = replicated(c, {2, 1, 3});

  ASSERT_EQ(r.n_atoms(), 12u);
  EXPECT_EQ(r.box.rows(), (Mat3{10, 0, 0, 1, 6, 0, 1.5, -3, 21}));
  EXPECT_EQ(r.box.origin(), c.box.origin());
  EXPECT_TRUE(r.ids.empty());
  EXPECT_EQ(r.positions[3], (Vec3{3.5, 2, 10}));  // second atom of copy (0, 0, 1)
  EXPECT_EQ(r.positions[6], (Vec3{6, 1, 1}));     // first atom of copy (1, 0, 0)
  EXPECT_EQ(r.types[7], 1);
  EXPECT_EQ(r.velocities[11], (Vec3{0, 1, 0}));
  EXPECT_DOUBLE_EQ(*r.energy, -12.0);
}

TEST(Configuration, cannot_be_repeated_along_an_open_direction_or_zero_times) {
  auto c = pair_of_atoms();
  EXPECT_THROW(static_cast<void>(replicated(c, {1, 0, 1})), InputError);
  EXPECT_THROW(static_cast<void>(replicated(c, {100000, 100000, 1})), InputError);
  c.box = Box(c.box.rows(), {true, true, false});
  EXPECT_THROW(static_cast<void>(replicated(c, {1, 1, 2})), InputError);
  EXPECT_NO_THROW(static_cast<void>(replicated(c, {2, 1, 1})));
}

TEST(Configuration, what_no_run_can_start_from_is_refused_by_atom) {
  EXPECT_EQ(refusal(pair_of_atoms()), "");
  expect_refused(Configuration{}, "no atoms");
  auto c = pair_of_atoms();
  c.positions[1][2] = std::numeric_limits<double>::quiet_NaN();
  expect_refused(c, "position of atom 2 (H)");
  c.positions[1][2] = 1e9;
  expect_refused(c, "position of atom 2 (H)");
  c = pair_of_atoms();
  c.ids = {4, 4};
  expect_refused(c, "two atoms have the id 4");
  c.ids = {0, 1};
  expect_refused(c, "id 0");
  c = pair_of_atoms();
  c.types[0] = 2;
  expect_refused(c, "atom 1 has type index 2");
  c.types.pop_back();
  expect_refused(c, "1 types for 2 positions");
  c = pair_of_atoms();
  c.velocities = {{0, 0, 0}, {NAN, 0, 0}};
  expect_refused(c, "velocity of atom 2 (H)");
  c = pair_of_atoms();
  c.masses = {16, 0};
  expect_refused(c, "mass of type H is 0 amu");
}

TEST(Configuration, overlapping_atoms_are_found_across_periodic_faces) {
  auto c = pair_of_atoms();
  c.ids = {31, 12};
  c.positions[1] = {1 + 5 - 0.03, 1, 1 + 0.04};  // 0.05 A from the first one's image along a

  expect_refused(c, "overlap: they are 0.05 A apart");
  c.positions[0] = {-0.0, 1, 1}, c.positions[1] = {0.1 - 1e-12, 1, 1};  // a hair less than is expected
  const auto near = refusal(c);
  EXPECT_EQ(near.find("they are 0.1 A"), std::string::npos) << near;
  EXPECT_NE(near.find("they are 0.0999999"), std::string::npos) << near;
  EXPECT_EQ(near.find("(-0"), std::string::npos) << near;
  c.positions[0] = {1, 1, 1}, c.positions[1] = {1 + 5 - 0.03, 1, 1 + 0.04};
  const auto message = refusal(c);
  EXPECT_NE(message.find("31 (O)"), std::string::npos) << message;
  EXPECT_NE(message.find("12 (H)"), std::string::npos) << message;
  c.box = Box(c.box.rows(), {false, true, true}, c.box.origin());
  EXPECT_EQ(refusal(c), "");
}

TEST(Configuration, an_atom_that_overlaps_its_own_image_is_refused) {
  Configuration c;
  c.box = Box({0.05, 0, 0, 0, 9, 0, 0, 0, 9}, {true, true, true});
  c.type_names = {"Cu"};
  c.types = {0};
  c.positions = {{0, 0, 0}};

  expect_refused(c, "atoms 1 (Cu) and its own image overlap");
}

TEST(Configuration, a_large_one_is_validated_in_linear_time) {
  // 110 592 atoms: an all-pairs search would take minutes.
  auto c = cubic_lattice(48, 2.5, 0.1, 3);
  c.velocities.clear();
  EXPECT_EQ(refusal(c), "");
  c.positions[70000] = {c.positions[123][0] + 0.01, c.positions[123][1], c.positions[123][2]};
  expect_refused(c, "70001 (A)");
}

TEST(AtomicMass, elements_and_the_isotopes_of_hydrogen_are_known) {
  EXPECT_DOUBLE_EQ(atomic_mass("Cu"), 63.546);
  EXPECT_DOUBLE_EQ(atomic_mass("H"), 1.008);
  EXPECT_DOUBLE_EQ(atomic_mass("D"), 2.014);
  EXPECT_DOUBLE_EQ(atomic_mass("Og"), 294);
}

TEST(AtomicMass, an_unknown_symbol_is_refused_with_a_suggestion) {
  try {
    static_cast<void>(atomic_mass("CU"));
    FAIL() << "CU is no element";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'Cu'"), std::string::npos) << error.what();
  }
  EXPECT_THROW(static_cast<void>(atomic_mass("")), InputError);
  EXPECT_THROW(static_cast<void>(atomic_mass("Wat")), InputError);
}
