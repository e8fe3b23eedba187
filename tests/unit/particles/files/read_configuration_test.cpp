#include "physics/particles/files/read_configuration.hpp"

#include "files_support.hpp"
#include "physics/particles/formats/extended_xyz.hpp"
#include "physics/particles/formats/lammps/lammps_data.hpp"
#include "physics/particles/formats/lammps/lammps_dump.hpp"

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

const std::string dump =
    "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n"
    "ITEM: ATOMS id type x y z\n1 1 0 0 0\n";
const std::string outcar =
    " vasp.6.3.0\n   TITEL  = PAW_PBE Cu 05Jan2001\n   ions per type =   1\n"
    "--- Iteration 1( 3) ---\n--- aborting loop because EDIFF is reached ---\n"
    "      direct lattice vectors   reciprocal\n 3 0 0 1 0 0\n 0 3 0 0 1 0\n 0 0 3 0 0 1\n"
    " POSITION     TOTAL-FORCE (eV/Angst)\n ------\n 0 0 0 0.1 0 0\n ------\n"
    "  free  energy   TOTEN  =       -3.5 eV\n";
const std::string xdatcar = "t\n1\n3 0 0\n0 3 0\n0 0 3\nCu\n1\nDirect configuration=     1\n0 0 0\n";
const std::string vasprun =
    "<?xml version=\"1.0\"?>\n<modeling><atominfo><array name=\"atoms\"><set><rc><c>Cu</c></rc></set></array>"
    "</atominfo><calculation><scstep><energy><i name=\"e_fr_energy\">-3.5</i></energy></scstep><structure>"
    "<crystal><varray name=\"basis\"><v>3 0 0</v><v>0 3 0</v><v>0 0 3</v></varray></crystal>"
    "<varray name=\"positions\"><v>0 0 0</v></varray></structure><energy><i name=\"e_fr_energy\">-3.5</i>"
    "</energy></calculation></modeling>\n";
const std::string cif =
    "# from somewhere\n\ndata_Cu\n_cell_length_a 3\n_cell_length_b 3\n_cell_length_c 3\n_cell_angle_alpha "
    "90\n"
    "_cell_angle_beta 90\n_cell_angle_gamma 90\nloop_\n_atom_site_label\n_atom_site_fract_x\n"
    "_atom_site_fract_y\n_atom_site_fract_z\nCu1 0 0 0\n";

/// Every format through the one door: name, content, names of types, boundaries, frames, unwanted labels.
TEST_F(ReadConfiguration, other_programs_files_are_known_by_name_or_by_content) {
  struct Case {
    std::string format, content;
    std::vector<std::string> names;
    bool says_boundaries, labelled;
  };
  const std::vector<Case> cases{
      {"LAMMPS dump", dump, {"a.dump", "a.lammpstrj", "dump.1", "a.unheard"}, true, false},
      {"VASP OUTCAR", outcar, {"OUTCAR", "OUTCAR.1", "a.outcar", "b"}, false, true},
      {"VASP XDATCAR", xdatcar, {"XDATCAR", "a.xdatcar", "c"}, false, false},
      {"VASP vasprun.xml", vasprun, {"vasprun.xml", "b.xml", "d"}, false, true},
      {"CIF", cif, {"a.cif", "e"}, false, false},
  };
  for (const auto& one : cases)
    for (const auto& name : one.names) {
      const auto path = put(scratch / name, one.content);
      EXPECT_EQ(configuration_format(path), one.format) << name;
      ReadOptions options;
      options.type_names = {"Cu"};
      options.all_frames = true;
      const auto frames = read_configurations(path, options);
      ASSERT_EQ(frames.size(), 1u) << name;
      EXPECT_EQ(frames[0].type_names.at(frames[0].types.at(0)), "Cu") << name;
      EXPECT_EQ(frames[0].energy.has_value(), one.labelled) << name;
      EXPECT_EQ(frames[0].box.fully_periodic(), true);
      options.labels.use = LabelSource::Use::none;
      options.all_frames = false;
      options.frame = -1;
      EXPECT_FALSE(read_configuration(path, options).energy) << name;
      options.frame = 1;
      EXPECT_MESSAGE(read_configuration(path, options), "there is no frame 1");
      options.frame.reset();
      options.periodic = std::array{true, true, false};
      if (one.says_boundaries) {
        EXPECT_MESSAGE(read_configuration(path, options), "leave it out, the file says it itself");
      } else {
        EXPECT_EQ(read_configuration(path, options).box.periodic(), *options.periodic) << name;
      }
      options.periodic.reset();
      options.type_names = {"O"};
      if (name != "a.dump" && one.format != "LAMMPS dump") {
        EXPECT_NE(files::message_of([&] { (void)read_configuration(path, options); }), "") << name;
      }
    }
  EXPECT_EQ(configuration_format(put(scratch / "words", "nothing\n")), std::nullopt);
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
