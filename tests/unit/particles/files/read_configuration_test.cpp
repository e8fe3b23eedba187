#include "physics/particles/files/read_configuration.hpp"

#include "files_support.hpp"
#include "physics/particles/formats/extended_xyz.hpp"
#include "physics/particles/formats/lammps_data.hpp"

namespace {

using namespace quintet;
using files::put;

struct ReadConfiguration : ::testing::Test {
  Scratch scratch{"read"};
  Configuration sample = of_elements(files::sample());

  static Configuration of_elements(Configuration configuration) {
    configuration.masses.clear();  // those of the table
    return configuration;
  }
};

TEST_F(ReadConfiguration, formats_are_known_by_name_or_by_content) {
  for (const std::string name : {"a.xyz", "a.extxyz", "a.unheard", "none"}) {
    write_extended_xyz(scratch / name, sample);
    EXPECT_EQ(read_configuration(scratch / name).positions, sample.positions) << name;
  }
  for (const std::string name : {"a.data", "a.lmp", "a.lammps", "b.unheard", "b"}) {
    write_lammps_data(scratch / name, sample);
    EXPECT_EQ(read_configuration(scratch / name).positions, sample.positions) << name;
  }
  put(scratch / "CONTCAR_relaxed", "t\n1\n3 0 0\n0 3 0\n0 0 3\nCu\n1\nDirect\n0 0 0\n");
  EXPECT_EQ(read_configuration(scratch / "CONTCAR_relaxed").type_names.at(0), "Cu");
}

TEST_F(ReadConfiguration, frames_and_what_a_format_leaves_open_are_passed_on) {
  write_extended_xyz(scratch / "a.xyz", sample);
  write_extended_xyz(scratch / "a.xyz", of_elements(files::sample(3)), {.append = true, .atom_energies = {}});
  write_lammps_data(scratch / "a.data", sample);
  ReadOptions options;
  options.periodic = std::array{true, false, true};
  options.type_names = sample.type_names;

  EXPECT_EQ(read_configuration(scratch / "a.xyz").n_atoms(), 7u);
  EXPECT_EQ(read_configuration(scratch / "a.data", options).box.periodic(), *options.periodic);
  EXPECT_EQ(read_configuration(scratch / "a.data", options).type_names, options.type_names);
  EXPECT_MESSAGE(read_configuration(scratch / "a.xyz", options), "but periodic is given as true false true");
  EXPECT_EQ(read_configuration(scratch / "a.data").reading.assumed.back(),
            "periodic in x y z (a LAMMPS data file does not say; system.periodic or --periodic changes it)");
  options.frame = 1;
  options.periodic.reset();
  EXPECT_EQ(read_configuration(scratch / "a.xyz", options).n_atoms(), 3u);
  EXPECT_MESSAGE(read_configuration(scratch / "a.data", options),
                 "there is no frame 1, files of this format hold one");
  options.all_frames = true;
  EXPECT_EQ(read_configurations(scratch / "a.xyz", options).size(), 2u);
  EXPECT_MESSAGE(read_configuration(scratch / "a.xyz", options), "one frame was expected");
}

TEST_F(ReadConfiguration, what_cannot_be_read_is_told_what_can) {
  std::filesystem::create_directories(scratch / "folder");
  EXPECT_MESSAGE(read_configuration(scratch / "folder"),
                 "it has no type.raw. What can be read: extended XYZ");
  EXPECT_MESSAGE(read_configuration(put(scratch / "a.pdb", "ATOM 1\n")), "What can be read: extended XYZ");
  EXPECT_MESSAGE(read_configuration(put(scratch / "empty", "")), "What can be read");
  EXPECT_MESSAGE(read_configuration(scratch / "absent.xyz"), "there is no such file or folder");
  EXPECT_MESSAGE(read_configuration(put(scratch / "a.h5", "no HDF5")), "a.h5");
}

}  // namespace
