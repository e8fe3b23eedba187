#include "files_support.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "physics/particles/formats/extended_xyz.hpp"
#include "physics/particles/formats/lammps/lammps_data.hpp"

namespace {

using namespace quintet;
using files::put;
using Names = std::vector<std::string>;

/// Water in each format, oxygen first; the ways in which names and masses can be given beside it.
struct Types : ::testing::Test {
  Scratch scratch{"types"};

  std::string lammps(const std::string& masses) {
    return put(scratch / "water.data",
               "title\n\n3 atoms\n2 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\n" +
                   (masses.empty() ? "" : "Masses\n\n" + masses + "\n\n") +
                   "Atoms # metal\n\n1 1 0 0 0\n2 2 1 0 0\n3 2 0 1 0\n");
  }
  std::string poscar() {
    return put(scratch / "water.vasp", "title\n1\n9 0 0\n0 9 0\n0 0 9\nO H\n1 2\nC\n0 0 0\n1 0 0\n0 1 0\n");
  }
  std::string xyz(const std::string& mass = "15.999") {
    return put(scratch / "water.xyz",
               "3\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3:mass:R:1\n"
               "O 0 0 0 " +
                   mass + "\nH 1 0 0 1.008\nH 0 1 0 1.008\n");
  }
};

Names names(const std::string& path, const Names& given, const NamedMasses& masses = {}) {
  ReadOptions options;
  options.type_names = given;
  options.masses = masses;
  return read_configuration(path, options).type_names;
}

TEST_F(Types, names_given_never_override_those_of_the_file_in_any_format) {
  const Names right{"O", "H"}, exchanged{"H", "O"};
  EXPECT_EQ(names(poscar(), {}), right);
  EXPECT_EQ(names(poscar(), right), right);
  EXPECT_MESSAGE(names(poscar(), exchanged), "calls its types [O, H], but types [H, O] are given");
  EXPECT_MESSAGE(names(poscar(), {"O", "C"}), "'H' would be taken for 'C'");
}

TEST_F(Types, names_given_win_over_comments_but_not_over_masses) {
  const Names right{"O", "H"};
  const auto path = lammps("1 15.999 # Os\n2 1.008 # Ho");
  EXPECT_EQ(names(path, right), right);
  EXPECT_NE(read_lammps_data(path, {right, {}, {}}).reading.text().find("type 1 is O as given, not Os"),
            std::string::npos);
  EXPECT_MESSAGE(names(path, {}), "type 1 is called Os and has a mass of 15.999 amu");
  EXPECT_MESSAGE(names(path, {"H", "O"}), "type 1 is called H and has a mass of 15.999 amu");
}

TEST_F(Types, masses_name_no_type_where_two_readings_are_possible) {
  EXPECT_EQ(names(lammps("1 15.999\n2 1.008"), {}), (Names{"O", "H"}));
  EXPECT_MESSAGE(names(lammps("1 1.0\n2 1.0"), {}), "a mass of 1 amu is no element's");
  EXPECT_MESSAGE(names(lammps("1 1.008\n2 1.00794"), {}), "types 1 and 2 would both be H by their masses");
  ReadOptions named;
  named.type_names = {"O", "H"};
  const auto dummy = read_configuration(lammps("1 1.0\n2 1.0"), named);
  EXPECT_TRUE(dummy.masses.empty());
  EXPECT_NE(dummy.reading.text().find("standard masses"), std::string::npos);
}

TEST_F(Types, files_that_name_every_atom_take_a_list_in_any_order_that_holds_their_elements) {
  EXPECT_EQ(names(xyz(), {"H", "O"}), (Names{"O", "H"}));
  EXPECT_MESSAGE(names(xyz(), {"Cu", "H"}), "has atoms of 'O', which is not among the types given, [Cu, H]");
}

TEST_F(Types, words_that_are_no_elements_give_way) {
  EXPECT_EQ(agreed_names("here", {"TYPE_0", "TYPE_1"}, {"H", "O"}), (Names{"H", "O"}));
  EXPECT_EQ(agreed_names("here", {"", "H"}, {"O", "H"}), (Names{"O", "H"}));
  EXPECT_EQ(agreed_names("here", {"O", "H", "Cu"}, {"O", "H"}), (Names{"O", "H", "Cu"}));
  EXPECT_MESSAGE(agreed_names("here", {"Hw", "Ow"}, {"Ow", "Hw"}), "'Hw' would be taken for 'Ow'");
}

TEST_F(Types, a_mass_of_another_element_is_refused_whoever_named_the_type) {
  EXPECT_EQ(names(lammps(""), {"H", "O"}), (Names{"H", "O"}));  // the file says nothing
  EXPECT_MESSAGE(
      names(lammps("1 15.999\n2 1.008"), {"H", "O"}),
      "water.data: type 1 is called H and has a mass of 15.999 amu, but H weighs 1.008, 15.999 is O; are "
      "two types exchanged?");
  EXPECT_MESSAGE(names(lammps("1 15.999 # H\n2 1.008 # O"), {}), "are two types exchanged?");
  EXPECT_MESSAGE(names(xyz("1.008"), {}), "type 1 is called O and has a mass of 1.008 amu");
  EXPECT_EQ(names(lammps("1 16 # O\n2 1 # H"), {}), (Names{"O", "H"}));         // rounded
  EXPECT_EQ(names(lammps("1 62.93 # Cu\n2 28 # Si"), {})[0], "Cu");             // isotopes
  EXPECT_MESSAGE(names(lammps("1 58.933 # Ni\n2 1 # H"), {}), "58.933 is Co");  // not of the next element
}

TEST_F(Types, an_isotope_must_be_said) {
  const std::string heavy = lammps("1 15.999 # O\n2 2.014 # H");
  EXPECT_MESSAGE(names(heavy, {}), "If the mass is meant, say so: masses {H: 2.014 u}");
  ReadOptions options;
  options.masses = {{"H", 2.0141}};
  EXPECT_EQ(read_configuration(heavy, options).masses, (std::vector<double>{15.999, 2.0141}));
  EXPECT_EQ(read_configuration(poscar(), options).masses, (std::vector<double>{15.999, 2.0141}));
  EXPECT_EQ(names(lammps("1 15.999 # O\n2 2.014 # D"), {})[1], "D");
}

TEST_F(Types, masses_given_are_refused_where_no_isotope_has_them) {
  EXPECT_FALSE(unlikely_mass({{"H", 2.014}, {"O", 17.999}, {"Ow", 1}}));
  EXPECT_FALSE(unlikely_mass({{"H", 4.03}}));  // repartitioned to allow longer steps
  EXPECT_NE(unlikely_mass({{"O", 1.008}})->find("it is the mass of H"), std::string::npos);
  EXPECT_NE(unlikely_mass({{"H", 2}, {"H", 1}})->find("twice"), std::string::npos);
}

}  // namespace
