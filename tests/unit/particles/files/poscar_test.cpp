#include "files_support.hpp"
#include "physics/particles/files/read_configuration_poscar.hpp"

namespace {

using namespace quintet;

const std::string salt =
    "rock salt\n2.0\n 2 0 0\n0 2 0\n0.5 0 2\nNa Cl\n1 2\nSelective dynamics\nDirect\n0 0 0 T T F\n0.5 0.5 "
    "0.5 F F F\n0.25 0 1 T T T\n\n0 0 0\n";

Configuration read_text(const std::string& content, const std::vector<std::string>& names = {}) {
  const Scratch scratch("poscar");
  return read_poscar(files::put(scratch / "POSCAR", content), names);
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
  EXPECT_MESSAGE(with(" 2 0 0", " -2 0 0"), "POSCAR:5: ");
  EXPECT_MESSAGE(with("Direct", "Fractional"), "expected Direct or Cartesian");
  EXPECT_MESSAGE(with("0.25 0 1", "0.25 x 1"), "POSCAR:12: a position is 'x'");
}

TEST(Poscar, a_file_cut_anywhere_is_refused_without_a_crash) {
  const Scratch scratch("poscar");
  const std::string path = scratch / "POSCAR", whole = salt.substr(0, salt.find("\n\n") + 1);
  const auto read = [&] { (void)read_poscar(path); };

  files::expect_every_cut_is_refused(whole, path, read);
  files::expect_no_cut_crashes(salt, path, read);
}

}  // namespace
