#include "physics/particles/formats/lammps/lammps_data.hpp"

#include <cmath>

#include <fmt/format.h>

#include "files_support.hpp"

namespace {

using namespace quintet;
using files::put;
using files::replaced;

const std::string copper_oxide =
    "a title with 7 atoms in it\n"
    "\n"
    "3 atoms\n"
    "2 atom types\n"
    "0.5 10.5 xlo xhi\n"
    "0 20 ylo yhi # a comment\n"
    "-5 25 zlo zhi\n"
    "1 2 3 xy xz yz\n"
    "\n"
    "Masses\n"
    "\n"
    "1 63.546 # Cu\n"
    "2 15.999 # O2-\n"
    "\n"
    "Atoms # atomic\n"
    "\n"
    "7 1 1 2 3\n"
    "2 2 40 5 6\n"
    "3 1 7 8 9\n"
    "\n"
    "Velocities\n"
    "\n"
    "2 0.1 0.2 0.3\n"
    "3 0.4 0.5 0.6\n"
    "7 0.7 0.8 0.9\n";

Configuration read_text(const std::string& content, const LammpsDataOptions& options = {}) {
  const Scratch scratch("lammps");
  return read_lammps_data(put(scratch / "a.data", content), options);
}

TEST(LammpsData, a_line_of_the_box_that_begins_with_no_number_is_not_passed_over) {
  EXPECT_MESSAGE(read_text(replaced(copper_oxide, "1 2 3 xy", "nan 2 3 xy")),
                 "a.data:8: 'nan 2 3 xy xz yz' is no");
  EXPECT_MESSAGE(read_text(replaced(copper_oxide, "1 2 3 xy", "nan nan nan xy")), "is no header line");
  EXPECT_MESSAGE(read_text(replaced(copper_oxide, "3 atoms", "three atoms")),
                 "'three atoms' is no header line");
  const auto c = read_text(replaced(copper_oxide, "1 2 3 xy xz yz\n", "1 2 3 xy xz yz\n5 ellipsoids\n"));
  EXPECT_EQ(c.box.rows()[7], 3);
  EXPECT_NE(c.reading.text().find("ellipsoids"), std::string::npos);
}

/// A one-atom file with this section Atoms.
std::string with_atoms(const std::string& head, const std::string& row) {
  return "title\n\n1 atoms\n3 atom types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\nMasses\n\n1 1.008\n2 "
         "12.011\n3 63.5\n\n" +
         head + "\n\n" + row + "\n";
}

TEST(LammpsData, labels_stand_for_numbers_in_masses_and_sections_that_are_passed_over) {
  const auto c = read_text(
      "t\n\n2 atoms\n2 atom types\n1 bonds\n1 bond types\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nAtom Type "
      "Labels\n\n1 O\n2 H\n\nMasses\n\nO 15.999\nH 1.008\n\nBond Coeffs\n\nO-H 450 1.0\n\nAtoms # "
      "full\n\n1 1 O -0.8 1 2 3\n2 1 H 0.4 2 2 3\n\nBonds\n\n1 O-H 1 2\n");
  EXPECT_EQ(c.type_names, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(c.masses, (std::vector<double>{15.999, 1.008}));
  EXPECT_EQ(c.reading.not_used, (std::vector<std::string>{"section Bond Coeffs", "section Bonds", "charges",
                                                          "molecule numbers"}));
}

TEST(LammpsData, a_box_that_was_shrunk_to_the_atoms_is_told_of) {
  const auto with_gap = [](double gap) {
    return read_text(fmt::format(
                         "t\n\n2 atoms\n1 atom types\n{} 4 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nMasses\n\n1 "
                         "63.546\n\nAtoms # atomic\n\n1 1 1 2 3\n2 1 {} 4 5\n",
                         1 - gap, 4 - gap))
        .reading.text();
  };
  EXPECT_NE(with_gap(1e-4).find("the box ends at the outermost atoms along x,"), std::string::npos);
  EXPECT_EQ(with_gap(3e-4).find("outermost"), std::string::npos);
  EXPECT_EQ(with_gap(-1e-4).find("outermost"), std::string::npos);
}

TEST(LammpsData, reads_box_masses_labels_atoms_and_velocities) {
  const auto c = read_text(copper_oxide);

  EXPECT_EQ(c.box, Box({10, 0, 0, 1, 20, 0, 2, 3, 30}, {true, true, true}, {0.5, 0, -5}));
  EXPECT_EQ(c.type_names, (std::vector<std::string>{"Cu", "O2-"}));
  EXPECT_EQ(c.masses, (std::vector<double>{63.546, 15.999}));
  EXPECT_EQ(c.ids, (std::vector<std::int64_t>{7, 2, 3}));
  EXPECT_EQ(c.types, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(c.positions[1], (Vec3{40, 5, 6}));
  EXPECT_EQ(c.velocities[0], (Vec3{0.7, 0.8, 0.9}));
}

TEST(LammpsData, round_trip_is_exact_for_a_restricted_cell) {
  const Scratch scratch("lammps");
  const auto c = files::sample();

  write_lammps_data(scratch / "a.data", c);
  const auto back = read_lammps_data(scratch / "a.data");

  EXPECT_EQ(back.box, c.box);
  EXPECT_EQ(back.type_names, c.type_names);
  EXPECT_EQ(back.masses, c.masses);
  EXPECT_EQ(back.types, c.types);
  EXPECT_EQ(back.ids, c.ids);
  EXPECT_EQ(back.positions, c.positions);
  EXPECT_EQ(back.velocities, c.velocities);
}

TEST(LammpsData, a_general_cell_is_turned_and_distances_stay) {
  const Scratch scratch("lammps");
  auto c = files::sample();
  c.box = Box({1, 2, 9, 8, -1, 2, 1, 9, -1}, {true, true, true}, {1, 2, 3});

  write_lammps_data(scratch / "a.data", c);
  const auto back = read_lammps_data(scratch / "a.data");

  EXPECT_NEAR(back.box.volume(), c.box.volume(), 1e-9);
  EXPECT_EQ(back.box.rows()[1], 0);
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    const Vec3 s = c.box.to_fractional(c.positions[i]), t = back.box.to_fractional(back.positions[i]);
    const auto speed = [](const Vec3& v) { return std::hypot(v[0], v[1], v[2]); };
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(s[k], t[k], 1e-12);
    EXPECT_NEAR(speed(back.velocities[i]), speed(c.velocities[i]), 1e-12);
  }
}

TEST(LammpsData, image_flags_unwrap) {
  const auto c = read_text(
      replaced(replaced(replaced(copper_oxide, "7 1 1 2 3\n", "7 1 1 2 3 1 -2 3\n"), "5 6\n", "5 6 0 0 0\n"),
               "8 9\n", "8 9 0 0 0\n"));

  EXPECT_EQ(c.positions[0], (Vec3{1 + 10 - 2 + 6, 2 - 40 + 9, 3 + 90}));
}

TEST(LammpsData, styles_are_taken_from_the_hint_the_option_or_the_columns) {
  const Vec3 x{1.5, 2.5, 3.5};
  const auto first = [](const std::string& text, const LammpsDataOptions& options = {}) {
    const auto c = read_text(text, options);
    return std::pair(c.types[0], c.positions[0]);
  };
  EXPECT_EQ(first(with_atoms("Atoms", "1 3 1.5 2.5 3.5")), std::pair(2, x));
  EXPECT_EQ(first(with_atoms("Atoms", "1 3 1.5 2.5 3.5 0 0 0")), std::pair(2, x));
  EXPECT_EQ(first(with_atoms("Atoms", "1 3 -0.8 1.5 2.5 3.5")), std::pair(2, x));
  EXPECT_EQ(first(with_atoms("Atoms", "1 3 0 1.5 2.5 3.5 0 0 0")), std::pair(2, x));
  EXPECT_EQ(first(with_atoms("Atoms", "1 1 3 -0.8 1.5 2.5 3.5")), std::pair(2, x));
  EXPECT_EQ(first(with_atoms("Atoms # full", "1 1 3 -0.8 1.5 2.5 3.5 0 0 0")), std::pair(2, x));
  EXPECT_EQ(first(with_atoms("Atoms  # molecular", "1 1 3 1.5 2.5 3.5")), std::pair(2, x));
  EXPECT_EQ(first(with_atoms("Atoms  # charge", "1 1 3 1.5 2.5 3.5")), std::pair(0, x));
  EXPECT_EQ(first(with_atoms("Atoms", "1 1 3 1.5 2.5 3.5"), {.type_names = {}, .atom_style = "molecular"}),
            std::pair(2, x));
  EXPECT_MESSAGE(read_text(with_atoms("Atoms", "1 1 3 1.5 2.5 3.5")), "may be of style charge or molecular");
  EXPECT_MESSAGE(read_text(with_atoms("Atoms # sphere", "1 1 3 1.5 1.5 2.5 3.5")),
                 "atom style 'sphere' is not read");
  EXPECT_EQ(first(with_atoms("Atoms # metal", "1 3 1.5 2.5 3.5")), std::pair(2, x));
  EXPECT_EQ(first(with_atoms("Atoms # relaxed at 300 K", "1 1 3 -0.8 1.5 2.5 3.5")), std::pair(2, x));
  EXPECT_MESSAGE(read_text(with_atoms("Atoms # real", "1 3 1.5 2.5 3.5")), "LAMMPS units real; only metal");
  EXPECT_MESSAGE(read_text(with_atoms("Atoms", "1 1")), "2 columns, which fits none of the styles");
  EXPECT_MESSAGE(read_text(with_atoms("Atoms # atomic", "1 1 1 2 3 4")),
                 "has 6 columns, expected 5 or, with image flags, 8");
}

TEST(LammpsData, names_come_from_labels_then_comments_then_the_option_then_masses) {
  const std::string labels = "\nAtom Type Labels\n\n1 Aa\n2 Bb\n\nMasses\n";
  const std::string labelled =
      replaced(replaced(copper_oxide, "\nMasses\n", labels), "2 2 40 5 6", "2 Bb 40 5 6");
  const std::string bare = replaced(replaced(copper_oxide, " # Cu", ""), " # O2-", "#");

  EXPECT_EQ(read_text(labelled, {.type_names = {"X", "Y"}, .atom_style = ""}).type_names,
            (std::vector<std::string>{"X", "Y"}));
  const auto other_way = read_text(copper_oxide, {.type_names = {"O", "Cu"}, .atom_style = ""});
  EXPECT_EQ(other_way.type_names[0], "O");
  EXPECT_NE(other_way.reading.text().find("type 1 is O as given, not Cu as a comment says"),
            std::string::npos);
  EXPECT_EQ(read_text(copper_oxide, {.type_names = {"Cu", "O"}, .atom_style = ""}).type_names[1], "O");
  EXPECT_EQ(read_text(labelled).type_names, (std::vector<std::string>{"Aa", "Bb"}));
  EXPECT_EQ(read_text(labelled).types, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(read_text(bare).type_names, (std::vector<std::string>{"Cu", "O"}));
  EXPECT_MESSAGE(read_text(replaced(bare, "15.999", "17.5")),
                 "no element has mass 17.5 amu within 0.1; give types, a list of 2");
  EXPECT_MESSAGE(read_text(labelled, {.type_names = {"X"}, .atom_style = ""}),
                 "2 atom types, but 1 type names were given (X)");
  EXPECT_MESSAGE(read_text(replaced(labelled, "2 Bb 40", "2 C 40")),
                 "atom type 'C' is neither a number nor in section Atom Type Labels");
  EXPECT_MESSAGE(read_text(replaced(bare, "Masses\n\n1 63.546\n2 15.999#\n", "")),
                 "there is neither a section Masses nor Atom Type Labels");
}

TEST(LammpsData, topology_comments_blank_lines_and_windows_line_ends_are_passed_over) {
  std::string text = replaced(copper_oxide, "Velocities",
                              "Bonds\n\n1 1 2 3\n\nBond Coeffs # harmonic\n\n1 2.0 3.0\n\nVelocities");
  text = replaced(text, "3 atoms\n", "3 atoms\n\n\t# nothing\n1 bonds\n0 angles\n");
  text = replaced(text, "7 1 1 2 3\n", "\t7\t1  1 2 3   # the first\n\n");
  std::string windows;
  for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);

  EXPECT_EQ(read_text(windows).positions, read_text(copper_oxide).positions);
  EXPECT_EQ(read_text(windows).velocities, read_text(copper_oxide).velocities);
}

TEST(LammpsData, each_mistake_is_named_with_its_place) {
  const auto with = [](const std::string& from, const std::string& to) {
    return read_text(replaced(copper_oxide, from, to));
  };
  EXPECT_MESSAGE(with("\n3 atoms\n", "\n"), "no line 'N atoms'");
  EXPECT_MESSAGE(with("\n3 atoms\n", "\n0 atoms\n"), "expected 1 or more");
  EXPECT_MESSAGE(with("\n3 atoms\n", "\n-3 atoms\n"), "a.data:3: '-3 atoms' cannot be true");
  EXPECT_MESSAGE(with("\n3 atoms\n", "\n99999999999999 atoms\n"), "cannot be true of a file of");
  EXPECT_MESSAGE(with("\n3 atoms\n", "\n4 atoms\n"), "section Atoms ends after 3 of 4 rows");
  EXPECT_MESSAGE(with("\n3 atoms\n", "\n2 atoms\n"), "section Atoms has more than the 2 rows");
  EXPECT_MESSAGE(with("2 atom types\n", ""), "no line 'N atom types'");
  EXPECT_MESSAGE(with("0 20 ylo yhi", ""), "no line 'ylo yhi'");
  EXPECT_MESSAGE(with("0 20 ylo yhi", "20 0 ylo yhi"), "the box is empty or inverted");
  EXPECT_MESSAGE(with("0 20 ylo yhi", "20 ylo yhi"), "has 1 numbers, expected 2");
  EXPECT_MESSAGE(with("1 2 3 xy xz yz", "1 0 0 avec"), "general triclinic cells (avec) are not read");
  EXPECT_MESSAGE(with("1 63.546", "1 -63.546"), "the mass of type 1 is -63.546");
  EXPECT_MESSAGE(with("2 15.999", "1 15.999"), "no mass for type 2");
  EXPECT_MESSAGE(with("2 15.999", "3 15.999"), "atom type is 3, expected 1 to 2");
  EXPECT_MESSAGE(with("7 1 1 2 3", "7 0 1 2 3"), "a.data:17: atom type is 0, expected 1 to 2");
  EXPECT_MESSAGE(with("7 1 1 2 3", "-7 1 1 2 3"), "the atom id is -7, expected 1 or more");
  EXPECT_MESSAGE(with("7 1 1 2 3", "3 1 1 2 3"), "atom id 3 is there twice");
  EXPECT_MESSAGE(with("7 1 1 2 3", "7 1 1 inf 3"), "the position is 'inf'");
  EXPECT_MESSAGE(with("7 0.7", "8 0.7"), "atom '8', which is not in section Atoms");
  EXPECT_MESSAGE(with("7 0.7", "3 0.7"), "atom 3 has two velocities");
  EXPECT_MESSAGE(with("Velocities", "Velocitys"), "'Velocitys' is no section that is read");
  EXPECT_MESSAGE(with("a title", "LAMMPS data, units = real, title"), "LAMMPS units 'real', only metal");
  EXPECT_MESSAGE(read_text(""), "the file is empty");
  EXPECT_MESSAGE(read_text(std::string("\x00\x01\xff junk\n\x07 more", 16)), "a.data");
}

TEST(LammpsData, a_file_cut_anywhere_is_refused_without_a_crash) {
  const Scratch scratch("lammps");
  const std::string path = scratch / "a.data";
  const auto read = [&] { (void)read_lammps_data(path); };

  files::expect_no_cut_crashes(copper_oxide, path, read);
  // Without its section Velocities the file is whole; that cut alone is no mistake.
  const auto velocities = copper_oxide.find("\nVelocities");
  files::expect_every_cut_is_refused(copper_oxide.substr(0, velocities), path, read);
  for (auto at = copper_oxide.find('\n', velocities + 2); at + 1 < copper_oxide.size();
       at = copper_oxide.find('\n', at + 1)) {
    put(path, copper_oxide.substr(0, at + 1));
    EXPECT_MESSAGE((read(), 0), "of 3 rows of section Velocities");
  }
}

}  // namespace
