#include "physics/particles/formats/poscar.hpp"
#include "files_support.hpp"

namespace {

using namespace quintet;

const std::string salt =
    "rock salt\n2.0\n 2 0 0\n0 2 0\n0.5 0 2\nNa Cl\n1 2\nSelective dynamics\nDirect\n0 0 0 T T F\n0.5 0.5 "
    "0.5 F F F\n0.25 0 1 T T T\n\n0 0 0\n0 0 0\n0 0 0\n";

Configuration read_text(const std::string& content, const std::vector<std::string>& names = {}) {
  const Scratch scratch("poscar");
  return read_poscar(files::put(scratch / "POSCAR", content), {names, {}});
}

TEST(Poscar, direct_positions_are_turned_into_cartesian_ones) {
  const auto c = read_text(salt);

  EXPECT_EQ(c.box.rows(), (Mat3{4, 0, 0, 0, 4, 0, 1, 0, 4}));
  EXPECT_EQ(c.type_names, (std::vector<std::string>{"Na", "Cl"}));
  EXPECT_EQ(c.types, (std::vector<int>{0, 1, 1}));
  EXPECT_NEAR(c.positions[2][0], 2, 1e-14);
  EXPECT_NEAR(c.positions[2][2], 4, 1e-14);
}

TEST(Poscar, cartesian_positions_scale_and_a_negative_scale_is_the_volume) {
  const auto scaled = read_text(files::replaced(salt, "Direct", "Cartesian"));
  const auto of_volume =
      read_text(files::replaced(files::replaced(salt, "Direct", "Cartesian"), "2.0\n", "-64\n"));

  EXPECT_EQ(scaled.positions[1], (Vec3{1, 1, 1}));
  EXPECT_NEAR(of_volume.box.volume(), 64, 1e-11);
  EXPECT_NEAR(of_volume.positions[1][0], 1, 1e-14);
}

TEST(Poscar, a_last_number_without_a_line_feed_may_lack_digits) {
  const std::string bare = "a\n1\n4 0 0\n0 4 0\n0 0 4\nCu\n1\nDirect\n0 0 0.25",
                    flagged = "a\n1\n4 0 0\n0 4 0\n0 0 4\nCu\n1\nSelective\nDirect\n0 0 0.25 T T F";
  EXPECT_MESSAGE(read_text(bare), "POSCAR:9: the file ends without a line feed");
  EXPECT_EQ(read_text(bare + "\n").positions[0][2], 1);
  EXPECT_EQ(read_text(flagged).positions[0][2], 1);  // the flags come last: the number is whole
  EXPECT_MESSAGE(read_text(bare + "\n\n0 0 0.5"), "POSCAR:11: the file ends without a line feed");
  EXPECT_EQ(read_text(bare + "\n\n0 0 0.5\n").velocities[0][2], 500);
}

TEST(Poscar, each_mistake_is_named_with_its_place) {
  const auto with = [](const std::string& from, const std::string& to) {
    return read_text(files::replaced(salt, from, to));
  };
  EXPECT_MESSAGE(with("Na Cl\n", ""), "does not name its species; give types");
  EXPECT_EQ(read_text(files::replaced(salt, "Na Cl\n", ""), {"K", "Br"}).type_names[1], "Br");
  EXPECT_MESSAGE(with("1 2\n", "1\n"), "POSCAR:7: there are 1 numbers of atoms for 2 species");
  EXPECT_MESSAGE(with("1 2\n", "1 -2\n"), "cannot be true");
  EXPECT_MESSAGE(with("1 2\n", "1 99999999999999\n"), "cannot be true");
  EXPECT_MESSAGE(with("1 2\n", "0 0\n"), "0 atoms");
  EXPECT_MESSAGE(with("2.0\n", "0\n"), "the scale is 0");
  EXPECT_MESSAGE(with(" 2 0 0", " 2 0"), "a cell vector has 2 numbers");
  EXPECT_MESSAGE(with(" 2 0 0", " 0 0 0"), "POSCAR:5: ");
  EXPECT_MESSAGE(with("Direct", "Fractional"), "expected Direct or Cartesian");
  EXPECT_MESSAGE(with("0.25 0 1", "0.25 x 1"), "POSCAR:12: a position is 'x'");
}

TEST(Poscar, flags_of_selective_dynamics_are_kept) {
  EXPECT_EQ(read_text(salt).held, (std::vector<std::uint8_t>{4, 7, 0}));
  EXPECT_EQ(read_text(files::replaced(salt, "F F F", ".FALSE. .F. F")).held[1], 7);
  EXPECT_TRUE(
      read_text(files::replaced(files::replaced(salt, "T T F", "T T T"), "F F F", "T T T")).held.empty());
  EXPECT_MESSAGE(read_text(files::replaced(salt, "F F F", "F F")), "needs three of T and F behind it");
  EXPECT_MESSAGE(read_text(files::replaced(salt, "F F F", "F F Na")),
                 "'Na' says nothing of whether the atom moves");
}

TEST(Poscar, velocities_are_read_and_what_follows_is_named) {
  const std::string begin = salt.substr(0, salt.find("\n\n") + 1), block = "1e-2 0 0\n0 0 0\n0 -2e-3 0\n";
  const auto c = read_text(begin + "\n" + block + "\n1\n0.5\n");
  EXPECT_EQ(c.velocities, (std::vector<Vec3>{{10, 0, 0}, {0, 0, 0}, {0, -2, 0}}));
  EXPECT_EQ(c.reading.not_used, (std::vector<std::string>{"VASP's predictor-corrector block"}));
  EXPECT_EQ(read_text(begin + "Cartesian\n" + block).velocities, c.velocities);

  const auto lattice = read_text(
      begin + "Lattice velocities and vectors\n1\n0 0 0\n0 0 0\n0 0 0\n2 0 0\n0 2 0\n0.5 0 2\n\n" + block);
  EXPECT_EQ(lattice.velocities, c.velocities);
  EXPECT_EQ(lattice.reading.not_used, (std::vector<std::string>{"lattice velocities"}));

  const std::string zeros = "0 0 0\n0 0 0\n0 0 0\n";
  EXPECT_TRUE(read_text(begin + "\n" + zeros).velocities.empty());
  EXPECT_TRUE(read_text(begin + "Direct\n" + zeros).velocities.empty());
  EXPECT_TRUE(read_text(begin + "\n\n\n").velocities.empty());
  EXPECT_MESSAGE(read_text(begin + "Direct\n" + block), "the velocities are direct");
  EXPECT_MESSAGE(read_text(begin + "\n1e-2 0 0\n"), "the file ends before a velocity");
  EXPECT_MESSAGE(read_text(begin + "something\n"), "'something' follows the 3 positions");
}

TEST(Poscar, a_left_handed_cell_is_the_same_crystal) {
  const auto right = read_text(salt), left = read_text(files::replaced(salt, "0.5 0 2", "-0.5 0 -2"));
  EXPECT_GT(left.box.volume(), 0);
  EXPECT_EQ(left.box.rows(), right.box.rows());
  EXPECT_NEAR(left.positions[2][2], -4, 1e-14);  // by the row as the file has it
  EXPECT_NE(left.reading.text().find("left-handed"), std::string::npos);
}

TEST(Poscar, boundaries_are_said_to_be_assumed_unless_they_are_given) {
  const Scratch scratch("poscar");
  const auto path = files::put(scratch / "POSCAR", salt);
  EXPECT_NE(read_poscar(path).reading.text().find("periodic in x y z"), std::string::npos);
  const auto open = read_poscar(path, {{}, std::array{true, true, false}});
  EXPECT_EQ(open.box.periodic(), (std::array{true, true, false}));
  EXPECT_EQ(open.reading.text(), "not used: velocities, which are all 0");
}

TEST(Poscar, a_file_cut_anywhere_is_refused_without_a_crash) {
  const Scratch scratch("poscar");
  const std::string path = scratch / "POSCAR", whole = salt.substr(0, salt.find("\n\n") + 1);
  const auto read = [&] { (void)read_poscar(path); };

  files::expect_every_cut_is_refused(whole, path, read);
  files::expect_no_cut_crashes(salt, path, read);
}

}  // namespace
