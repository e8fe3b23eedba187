#include "physics/particles/formats/lammps/lammps_dump.hpp"

#include "physics/particles/atoms/units.hpp"
#include "tests/unit/particles/files/files_support.hpp"

namespace {

using namespace quintet;
using files::replaced;
using Use = LabelSource::Use;

/// Two frames, atoms out of order, another cell in the second; the bounds of the second are those around a
/// slanted box with lo (1, 2, 3), edges 10 11 12 and xy 2, xz -3, yz 1.
const std::string water =
    "ITEM: UNITS\nmetal\nITEM: TIME\n0.5\nITEM: TIMESTEP\n100\nITEM: NUMBER OF ATOMS\n3\n"
    "ITEM: BOX BOUNDS pp pp ff\n0 10\n-1 10\n0 12.5\n"
    "ITEM: ATOMS id type element x y z ix fx fy fz vx vy vz\n"
    "3 2 H 1 0.5 0 1 0.3 0 0 1 0 0\n1 1 O 0 0 0 0 0.1 0 0 2 0 0\n2 2 H 0 1 0 0 0.2 0 0 3 0 0\n"
    "ITEM: TIMESTEP\n200\nITEM: NUMBER OF ATOMS\n2\n"
    "ITEM: BOX BOUNDS xy xz yz pp pp pp\n-2 13 2\n2 14 -3\n3 15 1\n"
    "ITEM: ATOMS id element xs ys zs\n2 H 0.5 0.5 0.25\n1 O 0 0 0\n";

struct LammpsDump : ::testing::Test {
  Scratch scratch{"dump"};
  std::vector<Configuration> read(const std::string& text, const LammpsDumpOptions& options = {},
                                  std::optional<std::int64_t> frame = std::nullopt) {
    return read_lammps_dump(files::put(scratch / "a.dump", text), frame, options);
  }
};

TEST_F(LammpsDump, atoms_are_sorted_by_id_and_named_by_element) {
  const auto frames = read(water);
  ASSERT_EQ(frames.size(), 2u);
  const auto& c = frames[0];
  EXPECT_EQ(c.ids, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(c.type_names, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(c.types, (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(c.positions, (std::vector<Vec3>{{0, 0, 0}, {0, 1, 0}, {1, 0.5, 0}}));
  EXPECT_EQ(c.forces, (std::vector<Vec3>{{0.1, 0, 0}, {0.2, 0, 0}, {0.3, 0, 0}}));
  EXPECT_EQ(c.velocities, (std::vector<Vec3>{{2, 0, 0}, {3, 0, 0}, {1, 0, 0}}));
  EXPECT_EQ(c.box, Box({10, 0, 0, 0, 11, 0, 0, 0, 12.5}, {true, true, false}, {0, -1, 0}));
  EXPECT_EQ(c.reading.text(), "not used: column ix");
}

TEST_F(LammpsDump, a_slanted_box_is_found_from_the_bounds_around_it) {
  const auto c = read(water)[1];
  EXPECT_EQ(c.box, Box({10, 0, 0, 2, 11, 0, -3, 1, 12}, {true, true, true}, {1, 2, 3}));
  EXPECT_EQ(c.positions[0], (Vec3{1, 2, 3}));
  EXPECT_EQ(c.positions[1], (Vec3{1 + 5 + 1 - 0.75, 2 + 5.5 + 0.25, 3 + 3}));
}

TEST_F(LammpsDump, general_boxes_and_unwrapped_positions_are_read) {
  const auto c = read(
      "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS abc origin pp pp pp\n0 5 0 1\n0 0 6 2\n"
      "7 0 0.5 3\nITEM: ATOMS element xsu ysu zsu\nCu 1.5 0 0\n")[0];
  EXPECT_EQ(c.box, Box({0, 5, 0, 0, 0, 6, 7, 0, 0.5}, {true, true, true}, {1, 2, 3}));
  EXPECT_EQ(c.positions[0], (Vec3{1, 2 + 7.5, 3}));
  EXPECT_EQ(c.reading.assumed.at(0), "atoms in the order of the file (no column id)");
}

TEST_F(LammpsDump, frames_are_chosen_from_both_ends) {
  EXPECT_EQ(read(water, {}, 1)[0].n_atoms(), 2u);
  EXPECT_EQ(read(water, {}, -1)[0].n_atoms(), 2u);
  EXPECT_EQ(read(water, {}, 0)[0].reading.text(),
            "frame 0 of several (system.frame chooses another); not used: column ix");
  EXPECT_EQ(read(water, {}, -2)[0].reading.assumed.at(0), "frame 0 of 2 (system.frame chooses another)");
  EXPECT_EQ(read(water, {}, -2)[0].n_atoms(), 3u);
  EXPECT_MESSAGE(read(water, {}, 2), "there is no frame 2, the file has 2");
  EXPECT_MESSAGE(read(water, {}, -3), "there is no frame -3");
}

const std::string numbered =
    "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS\n0 9\n0 9\n0 9\n"
    "ITEM: ATOMS id type mass xu yu zu\n1 2 1.008 0 0 0\n2 1 15.999 1 0 0\n";

TEST_F(LammpsDump, numbered_types_are_named_by_who_knows) {
  auto c = read(numbered)[0];
  EXPECT_EQ(c.type_names, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(c.types, (std::vector<int>{1, 0}));
  EXPECT_EQ(c.masses, (std::vector<double>{15.999, 1.008}));
  EXPECT_EQ(c.reading.assumed.at(0),
            "periodic in x y z (no boundary words; system.periodic or --periodic changes it)");
  EXPECT_EQ(c.reading.assumed.at(1), "types O H by mass");
  EXPECT_EQ(read(numbered, {.periodic = std::array{false, true, true}})[0].box.periodic()[0], false);
  const auto dummy = replaced(replaced(numbered, "1.008", "1"), "15.999", "1");
  EXPECT_MESSAGE(read(dummy), "type 2 has no name; give types (system.types, --types or model.type_map)");
  c = read(dummy, {.type_names = {"O", "H"}})[0];
  EXPECT_EQ(c.type_names[c.types[0]], "H");
  EXPECT_TRUE(c.masses.empty());
  EXPECT_MESSAGE(read(numbered, {.type_names = {"O"}}), "an atom has type 2, but 1 type names were given");
  EXPECT_MESSAGE(read(replaced(numbered, "15.999", "1.008")), "two types would be one element");
}

TEST_F(LammpsDump, a_type_map_names_what_nothing_else_does) {
  const std::vector<std::string> map{"H", "O", "Na"};
  for (const auto& [mass_of_1, mass_of_2] : {std::pair("1", "1"), std::pair("15.999", "1.008")}) {
    const auto text = replaced(replaced(numbered, "1.008", mass_of_2), "15.999", mass_of_1);
    const auto c = read(text, {.names_by_number = map})[0];
    const bool unnamed = mass_of_1 == std::string("1");
    EXPECT_EQ(c.type_names[c.types[0]], unnamed ? "O" : "H") << c.reading.text();
    EXPECT_EQ(c.reading.text().find("in the order of the type_map") != std::string::npos, unnamed);
  }
  const auto dummy = replaced(replaced(numbered, "1.008", "1"), "15.999", "1");
  EXPECT_EQ(read(dummy, {.type_names = {"O", "H"}, .names_by_number = map})[0].type_names,
            (std::vector<std::string>{"O", "H"}));
  EXPECT_MESSAGE(read(dummy, {.names_by_number = {"H"}}),
                 "an atom has type 2, which nothing names: the type_map has 1 names (H)");
}

TEST_F(LammpsDump, carbon_everywhere_is_the_default_of_who_named_nothing) {
  const std::string carbon =
      "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n"
      "ITEM: ATOMS id type element x y z\n1 1 C 0 0 0\n2 2 C 1 0 0\n";
  EXPECT_MESSAGE(read(carbon), "atoms of 2 types are all called C");
  EXPECT_EQ(read(carbon, {.type_names = {"O", "H"}})[0].type_names, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(read(carbon, {.names_by_number = {"O", "H"}})[0].type_names,
            (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(read(replaced(carbon, "2 2 C", "2 2 N"), {.names_by_number = {"O", "H"}})[0].type_names,
            (std::vector<std::string>{"C", "N"}));
  const auto one = replaced(carbon, "2 2 C", "2 1 C");
  EXPECT_EQ(read(one)[0].type_names, (std::vector<std::string>{"C"}));
  EXPECT_EQ(read(one, {.type_names = {"Cu"}})[0].type_names, (std::vector<std::string>{"Cu"}));
  EXPECT_MESSAGE(read(replaced(one, "2 1 C", "2 1 N"), {.type_names = {"Cu"}}), "are given");
}

TEST_F(LammpsDump, units_are_stated_or_told_by_the_velocities) {
  auto silent = replaced(water, "ITEM: UNITS\nmetal\n", "");
  EXPECT_EQ(read(silent)[0].reading.assumed.at(0), "units metal by the temperature of the velocities");
  // Real: angstrom/fs and kcal/mol/angstrom.
  auto real = read(replaced(water, "metal", "real"))[0];
  EXPECT_EQ(real.velocities[0], (Vec3{2000, 0, 0}));
  EXPECT_NEAR(real.forces[2][0], 0.3 * 0.0433641, 1e-7);
  // Slow: 1e-3 of the above, 3.9e-6 K in metal and 3.9 K in real.
  for (const std::string v : {" 1 0 0\n1", " 2 0 0\n2", " 3 0 0\n"}) {
    const std::string slow = " 0.00" + v.substr(1);
    silent = replaced(silent, v, slow);
  }
  real = read(silent)[0];
  EXPECT_NEAR(real.velocities[1][0], 3, 1e-12);
  EXPECT_EQ(real.reading.assumed.at(0), "units real by the temperature of the velocities");
  EXPECT_MESSAGE(read(replaced(water, "metal", "lj")), "units 'lj', only metal and real are read");
}

TEST_F(LammpsDump, forces_of_an_unknown_unit_are_no_labels) {
  std::string dump =
      "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n"
      "ITEM: ATOMS id element x y z fx fy fz\n1 Cu 0 0 0 23 0 0\n";
  EXPECT_MESSAGE(read(dump), "put lines 'ITEM: UNITS' and 'metal' on top");
  const auto compared = read(dump, {.labels = Use::compare})[0];
  EXPECT_TRUE(compared.forces.empty());
  EXPECT_EQ(compared.reading.not_used.back(), "forces, whose unit the dump does not say");
  EXPECT_TRUE(read(dump, {.labels = Use::none})[0].forces.empty());
  EXPECT_EQ(read("ITEM: UNITS\nmetal\n" + dump)[0].forces[0][0], 23);
}

TEST_F(LammpsDump, faults_are_named_with_their_line) {
  EXPECT_MESSAGE(read(replaced(water, "3 2 H", "1 2 H")), "two atoms of the frame have id 1");
  EXPECT_MESSAGE(read(replaced(water, "pp pp ff", "pp pp xx")), "a.dump:9: 'xx' is no boundary");
  EXPECT_MESSAGE(read(replaced(water, "1 0.5 0 1 0.3", "1 half 0 1 0.3")), "a.dump:14: a position is 'half'");
  EXPECT_MESSAGE(read(replaced(water, "0 12.5", "0 12.5 1")), "a line of the box has 3 numbers, expected 2");
  EXPECT_MESSAGE(read(replaced(water, "id type element x y z ix", "id type element x y q ix")),
                 "the atoms have no position");
  EXPECT_MESSAGE(read("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ENTRIES\n1\n"), "style local holds no atoms");
  EXPECT_MESSAGE(read(water.substr(0, water.size() - 1)), "a.dump:27: the file ends without a line feed");
  EXPECT_MESSAGE(read("ITEM: TIMESTEP\n0\n"), "the file ends within the head of a frame");
  files::expect_no_cut_crashes(
      water, scratch / "a.dump", [&] { (void)read_lammps_dump(scratch / "a.dump", std::nullopt); }, 3);
}

}  // namespace
