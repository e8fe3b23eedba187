#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/exported/exported_potential.hpp"
#include "tests/support/kept.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

ForceField& compiled(const std::string& name) {
  const std::string path = source("tests/data/exported/" + name + ".pt2");
  return Kept<ForceField>::get(path, [&] { return make_potential(path, {}); });
}

/// Atoms of the first type and one of the second in a box of 30 angstrom without images.
Configuration atoms_at(const std::vector<Vec3>& positions, const std::vector<int>& types) {
  Configuration atoms;
  atoms.type_names = {"O", "H"};
  atoms.box = Box({30, 0, 0, 0, 30, 0, 0, 0, 30}, {false, false, false});
  atoms.positions = positions;
  atoms.types = types;
  return atoms;
}

/// A skewed cell of one atom, 2.4 angstrom wide: most of its neighbours are its own images.
Configuration cell_of_one_atom() {
  Configuration cell;
  cell.type_names = {"O", "H"};
  cell.box = Box({2.5, 0, 0, 0.6, 2.7, 0, -0.4, 0.5, 2.9}, {true, true, true});
  cell.positions = {{0.3, 1.1, -0.2}};
  cell.types = {0};
  return cell;
}

Configuration copies(const Configuration& cell, int n) {
  Configuration all = cell;
  all.positions.clear();
  all.types.clear();
  Mat3 rows = cell.box.rows();
  for (int a = 0; a < n * n * n; ++a) {
    const Vec3 s = cell.box.to_fractional(cell.positions[0]);
    all.positions.push_back(cell.box.to_cartesian({s[0] + a % n, s[1] + a / n % n, s[2] + a / (n * n)}));
    all.types.push_back(cell.types[0]);
  }
  for (double& x : rows) x *= n;
  all.box = Box(rows, cell.box.periodic());
  return all;
}

TEST(CompiledModel, gives_atoms_that_see_nobody_the_energies_of_their_types) {
  for (const std::string name : {"allegro", "nequip"})
    for (const double apart : {3.4, 3.6}) {  // on both sides of the cutoff
      const auto alone = evaluate(Comm::self(), compiled(name), atoms_at({{15, 15, 15}}, {0}));
      EXPECT_NEAR(alone.energy, -3.25, 1e-12) << name;
      EXPECT_EQ(largest(alone.force), 0) << name;
      const auto two =
          evaluate(Comm::self(), compiled(name), atoms_at({{15, 15, 15}, {15 + apart, 15, 15}}, {0, 0}));
      EXPECT_EQ(std::abs(two.energy + 6.5) < 1e-12, apart > 3.5) << name << " " << two.energy;
      EXPECT_EQ(largest(two.force) == 0, apart > 3.5) << name;
    }
}

TEST(CompiledModel, sees_a_type_as_far_as_its_file_says) {
  // Allegro's: oxygen sees hydrogen up to 3.0 angstrom, hydrogen oxygen up to 3.2.
  const auto energies = [](double apart) {
    return evaluate(Comm::self(), compiled("allegro"), atoms_at({{15, 15, 15}, {15, 15 + apart, 15}}, {0, 1}))
        .atom_energy;
  };
  EXPECT_NE(energies(2.9)[0], -3.25);
  EXPECT_EQ(energies(3.1)[0], -3.25);
  EXPECT_NE(energies(3.1)[1], -1.75);
  EXPECT_EQ(energies(3.3)[1], -1.75);
}

TEST(CompiledModel, of_a_cell_of_one_atom_is_that_of_its_copies) {
  for (const std::string name : {"allegro", "nequip", "oneside"}) {
    const auto one = evaluate(Comm::self(), compiled(name), cell_of_one_atom());
    const auto many = evaluate(Comm::self(), compiled(name), copies(cell_of_one_atom(), 3));
    EXPECT_NEAR(many.energy, 27 * one.energy, 1e-11 * std::abs(many.energy)) << name;
    EXPECT_LE(largest(many.force), 1e-11) << name;
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(many.virial[k], 27 * one.virial[k], 1e-10) << name;
  }
}

TEST(CompiledModel, that_passes_messages_is_refused_where_ranks_share_the_atoms) {
  const auto start = copies(cell_of_one_atom(), 6);
  if (Comm::world().size() == 1) {
    EXPECT_NO_THROW((void)evaluate(Comm::world(), compiled("nequip"), start));
    return;
  }
  try {
    (void)evaluate(Comm::world(), compiled("nequip"), start);
    FAIL() << "was not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("run it on one rank"), std::string::npos) << error.what();
  }
}

TEST(CompiledModel, knows_whether_its_atoms_pass_messages) {
  EXPECT_NE(compiled("allegro").description().find("local"), std::string::npos);
  EXPECT_NE(compiled("oneside").description().find("local"), std::string::npos);
  EXPECT_NE(compiled("nequip").description().find("atoms pass messages"), std::string::npos);
}

TEST(CompiledModel, gives_the_same_numbers_each_time) {
  for (const std::string name : {"allegro", "nequip", "oneside"}) {
    const auto start = copies(cell_of_one_atom(), 4);
    const auto first = evaluate(Comm::self(), compiled(name), start);
    for (int again = 0; again < 3; ++again) {
      const auto next = evaluate(Comm::self(), compiled(name), start);
      EXPECT_EQ(next.energy, first.energy) << name;
      EXPECT_EQ(next.force, first.force) << name;
    }
  }
}

}  // namespace
}  // namespace quintet::potential
