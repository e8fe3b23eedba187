#include "physics/particles/formats/cif.hpp"

#include <map>

#include "tests/unit/particles/files/files_support.hpp"

namespace {

using namespace quintet;
using files::replaced;

/// Rock salt by the operations of its primitive part: four translations of the face-centred cell.
const std::string salt =
    "#\\#CIF_1.1\n# a remark\ndata_NaCl\n_chemical_formula_sum 'Cl Na'\n_cell_length_a 5.64(2)\n"
    "_cell_length_b 5.64\n_cell_length_c 5.64\n_cell_angle_alpha 90\n_cell_angle_beta 90.0\n"
    "_cell_angle_gamma 90\n_symmetry_space_group_name_H-M 'F m -3 m'\n"
    "loop_\n_symmetry_equiv_pos_site_id\n_symmetry_equiv_pos_as_xyz\n1 'x, y, z'\n2 'x, 1/2+y, z+1/2'\n"
    "3 x+1/2,y,0.5+z\n4 \"1/2+x, 1/2+y, z\"\n5 '-x, -y, -z'\n"
    "loop_\n_atom_site_label\n_atom_site_type_symbol\n_atom_site_fract_x\n_atom_site_fract_y\n"
    "_atom_site_fract_z\n_atom_site_occupancy\nNa1 Na1+ 0 0 0 1\nCl1 Cl1- 0.5 0.5 0.5 1.0(1)\n";

struct Cif : ::testing::Test {
  Scratch scratch{"cif"};
  std::vector<Configuration> read(const std::string& text, std::optional<std::int64_t> frame = std::nullopt) {
    return read_cif(files::put(scratch / "a.cif", text), frame);
  }
};

TEST_F(Cif, operations_make_all_atoms_of_the_cell) {
  const auto frames = read(salt);
  ASSERT_EQ(frames.size(), 1u);
  const auto& c = frames[0];
  EXPECT_EQ(c.type_names, (std::vector<std::string>{"Na", "Cl"}));
  EXPECT_EQ(c.types, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(c.positions[1], (Vec3{0, 2.82, 2.82}));
  EXPECT_EQ(c.positions[4], (Vec3{2.82, 2.82, 2.82}));
  EXPECT_EQ(c.box.rows(), (Mat3{5.64, 0, 0, 0, 5.64, 0, 0, 0, 5.64}));
  EXPECT_EQ(c.reading.text(),
            "periodic in x y z, as crystals are (system.periodic or --periodic changes it)");
}

TEST_F(Cif, a_last_row_without_a_line_feed_may_be_cut_off) {
  const auto cut = salt.substr(0, salt.size() - 1);
  EXPECT_MESSAGE(read(cut), "the file ends without a line feed");
  EXPECT_EQ(read(cut + "\n").size(), 1u);
  EXPECT_EQ(read(cut + "\n# end").size(), 1u);
  EXPECT_EQ(read(cut + "\n  ").size(), 1u);
}

/// P 3: a threefold axis along z; 0.3333 is the special position 1/3 up to its digits.
std::string threefold(const std::string& x, const std::string& y) {
  return "data_a\n_cell_length_a 6\n_cell_length_b 6\n_cell_length_c 8\n_cell_angle_alpha 90\n"
         "_cell_angle_beta 90\n_cell_angle_gamma 120\n_space_group_name_H-M_alt 'P 3'\n"
         "loop_\n_space_group_symop_operation_xyz\nx,y,z\n-y,x-y,z\n-x+y,-x,z\n"
         "loop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\nFe1 " +
         x + " " + y + " 0.25\n";
}

TEST_F(Cif, images_on_an_axis_are_one_atom_at_their_mean) {
  const auto special = read(threefold("0.3333", "0.6667"))[0];
  ASSERT_EQ(special.n_atoms(), 1u);
  const auto s = special.box.to_fractional(special.positions[0]);
  EXPECT_NEAR(s[0], 1. / 3, 1e-12);
  EXPECT_NEAR(s[1], 2. / 3, 1e-12);
  EXPECT_EQ(read(threefold("0.1", "0.3"))[0].n_atoms(), 3u);
  // 0.09 angstrom from the axis is on it up to digits, 0.5 angstrom is not, 0.2 may be either.
  EXPECT_EQ(read(threefold("0.005", "0"))[0].n_atoms(), 1u);
  EXPECT_EQ(read(threefold("0.06", "0"))[0].n_atoms(), 3u);
  EXPECT_MESSAGE(read(threefold("0.02", "0")), "two images of site 'Fe1' are 0.21 angstrom apart");
}

TEST_F(Cif, a_triclinic_cell_keeps_lengths_and_angles) {
  const auto c = read(
      "data_t\n_cell_length_a 4\n_cell_length_b 5\n_cell_length_c 6\n_cell_angle_alpha 80\n"
      "_cell_angle_beta 95\n_cell_angle_gamma 100\nloop_\n_atom_site_label\n_atom_site_fract_x\n"
      "_atom_site_fract_y\n_atom_site_fract_z\nC1 0.1 0.2 0.3\nH1A 0.4 0.5 0.6\n")[0];
  const auto& r = c.box.rows();
  const auto cosine = [&](int i, int j, double lengths) {
    return (r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2]) / lengths;
  };
  const double degree = std::acos(-1.0) / 180;
  EXPECT_NEAR(cosine(2, 2, 36), 1, 1e-14);
  EXPECT_NEAR(cosine(1, 2, 30), std::cos(80 * degree), 1e-14);
  EXPECT_NEAR(cosine(0, 2, 24), std::cos(95 * degree), 1e-14);
  EXPECT_NEAR(cosine(0, 1, 20), std::cos(100 * degree), 1e-14);
  EXPECT_NEAR(c.positions[1][2], 0.6 * r[8], 1e-14);
  EXPECT_EQ(c.reading.assumed.at(1), "all atoms are listed (the file names no symmetry)");
  EXPECT_EQ(c.reading.assumed.at(2), "elements by the labels of the sites");
}

TEST_F(Cif, symmetry_that_is_not_in_the_file_is_asked_for) {
  const auto from = salt.find("loop_\n_symmetry"), to = salt.find("loop_\n_atom");
  std::string bare = salt;
  bare.erase(from, to - from);
  EXPECT_MESSAGE(read(bare), "is of space group 'Fm-3m', but lists no operation of it");
  EXPECT_EQ(read(replaced(bare, "'F m -3 m'", "'P 1'"))[0].n_atoms(), 2u);
  EXPECT_MESSAGE(
      read(replaced(salt, salt.substr(salt.find("2 'x, 1"), salt.find("loop_\n_atom") - salt.find("2 'x, 1")),
                    "")),
      "one operation of it alone");
}

TEST_F(Cif, sites_that_are_no_atoms_are_refused_by_name) {
  EXPECT_MESSAGE(read(replaced(salt, "1.0(1)", "0.5")), "site 'Cl1' has an occupancy of 0.5");
  EXPECT_MESSAGE(read(replaced(salt, "0.5 0.5 0.5 1", "0.5 ? 0.5 1")), "site 'Cl1' has no position ('?')");
  EXPECT_MESSAGE(read(replaced(salt, "Cl1 Cl1- 0.5 0.5 0.5", "Cl1 Cl1- 0 0 0.04")),
                 "sites 'Na1' and 'Cl1' are 0.23 angstrom apart");
  EXPECT_MESSAGE(read(replaced(salt, "Cl1 Cl1- ", "OW1 . ")), "'OW1' of site 'OW1' names no element");
  EXPECT_MESSAGE(read(replaced(salt, "3 x+1/2,y,0.5+z", "3 x+1/2,y")), "is no operation of symmetry");
  EXPECT_MESSAGE(read(replaced(salt, "3 x+1/2,y,0.5+z", "3 x,x,z")), "its determinant is 0");
  EXPECT_MESSAGE(read(replaced(salt, "_cell_length_b 5.64\n", "")), "has no _cell_length_b");
  EXPECT_MESSAGE(read(replaced(salt, "5.64(2)", "5.64(2")),
                 "_cell_length_a is '5.64(2', a number was expected");
  EXPECT_MESSAGE(read(replaced(salt, "1.0(1)", "")), "a.cif:20: the loop has 11 values");
}

TEST_F(Cif, atoms_that_the_formula_does_not_have_are_told) {
  EXPECT_EQ(read(replaced(salt, "'Cl Na'", "'Cl2 Na'"))[0].reading.assumed.at(1),
            "atoms Cl4 Na4, which are not of the formula Cl2 Na that the file states");
  EXPECT_EQ(read(replaced(salt, "'Cl Na'", "'Cl12 Na12'"))[0].reading.assumed.size(), 1u);
}

TEST_F(Cif, each_block_with_atoms_is_a_frame) {
  const auto other = replaced(salt, "data_NaCl", "data_other");
  const auto frames = read("data_global\n_title\n;\na text\nwith lines\n;\n" + salt + other);
  EXPECT_EQ(frames.size(), 2u);
  EXPECT_EQ(read(salt + replaced(other, "5.64(2)", "6"), -1)[0].box.rows()[0], 6);
  EXPECT_MESSAGE(read("data_a\n_title x\n"), "holds no data block with atom sites");
  EXPECT_MESSAGE(read("data_a\n_title\n;\nnever\n"), "never closed");
  files::expect_no_cut_crashes(
      salt, scratch / "a.cif", [&] { (void)read_cif(scratch / "a.cif"); }, 5);
}

}  // namespace
