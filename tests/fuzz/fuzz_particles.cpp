#include <filesystem>

#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "physics/particles/files/deepmd_store.hpp"
#include "physics/particles/files/deepmd_system.hpp"
#include "physics/particles/files/h5md.hpp"
#include "physics/particles/files/npy.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "physics/particles/formats/cif.hpp"
#include "physics/particles/formats/extended_xyz.hpp"
#include "physics/particles/formats/lammps/lammps_data.hpp"
#include "physics/particles/formats/lammps/lammps_dump.hpp"
#include "physics/particles/formats/poscar.hpp"
#include "physics/particles/formats/vasp_output.hpp"
#include "tests/fuzz/reader.hpp"

/// Readers of configurations of atoms.
namespace quintet::fuzz {
namespace {

using Texts = std::vector<std::string>;

Texts extended_xyz() {
  return {
      "3\nLattice=\"10 0 0 1 11 0 0 0 12\" Properties=species:S:1:pos:R:3:forces:R:3:id:I:1 pbc=\"T T F\" "
      "energy=-3.5 virial=\"1 0 0 0 2 0 0 0 3\"\nO 0.1 0.2 0.3 1 2 3 1\nH 1 0 0 0 0 0 2\nH 0 1 0 0 0 0 3\n",
      "1\n\nCu 0 0 0\n2\nProperties=species:S:1:pos:R:3:momenta:R:3:mass:R:1 Origin=\"0 1 2\" stress=\"1 2 3 "
      "4 5 "
      "6\" Lattice=\"4 0 0 0 4 0 0 0 4\"\nO 0 0 0 1 1 1 16\nO 1.0D+00 1 1 0 0 0 16\n"};
}

Texts lammps_data() {
  return {
      "# copper\n\n2 atoms\n2 atom types\n\n0 4 xlo xhi\n0 5 ylo yhi\n0 6 zlo zhi\n0.5 0 0 xy xz "
      "yz\n\nMasses\n\n"
      "1 63.546 # Cu\n2 58.69 # Ni\n\nAtoms # atomic\n\n1 1 0 0 0\n2 2 1.5 1.5 1.5 0 0 -1\n\nVelocities\n\n"
      "1 0 0 1\n2 0.5 0 0\n",
      "x\n1 atoms\n1 atom types\n0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\n\nAtoms # full\n\n1 1 1 -0.5 0 0 "
      "0\n"};
}

Texts poscar() {
  return {
      "Si2 O1\n1.5\n4 0 0\n0 4 0\n0 0.5 4\nSi O\n2 1\nSelective dynamics\nDirect\n0 0 0 T T F\n0.5 0.5 0.5 F "
      "F F\n"
      "0.25 0.25 0.25 T T T\n",
      "Cu\n-64\n1 0 0\n0 1 0\n0 0 1\n1\nCartesian\n0 0 0\n"};
}

Texts lammps_dump() {
  return {
      "ITEM: UNITS\nmetal\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS xy xz yz pp pp ff\n"
      "-2 13 2\n2 14 -3\n3 15 1\nITEM: ATOMS id type element x y z fx fy fz vx vy vz\n2 2 H 1 1 1 0 0 0 1 0 "
      "0\n"
      "1 1 O 0 0 0 0 0 0 0 1 0\n",
      "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS abc origin pp pp pp\n5 0 0 0\n0 5 0 0\n"
      "0 0 5 0\nITEM: ATOMS type mass xsu ysu zsu\n1 15.999 0.5 0 0\nITEM: TIMESTEP\n1\nITEM: NUMBER OF "
      "ATOMS\n"
      "1\nITEM: BOX BOUNDS\n0 5\n0 5\n0 5\nITEM: ATOMS id element xs ys zs ix\n1 Cu 0 0 0 3\n"};
}

Texts outcar() {
  const std::string step =
      "--- Iteration      1(   3) ---\n--- aborting loop because EDIFF is reached ---\n"
      "  FORCE on cell =-STRESS in cart. coord.  units (eV):\n  in kB      10.0  20.0  30.0 "
      "5.00000-1234.50000 1.0\n"
      "      direct lattice vectors                 reciprocal lattice vectors\n 3 0 0 1 0 0\n 0 3 0 0 1 0\n"
      " 0 0.000000000-10.000000000 3 1\n POSITION   TOTAL-FORCE (eV/Angst)\n ------\n 0 0 0 0.1 0 0\n"
      " 1 1 1 -0.1 0 0\n ------\n  free  energy   TOTEN  =  -3.5 eV\n\n"
      "  energy  without entropy=  -3.4  energy(sigma->0) =  -3.45\n";
  return {
      " vasp.6.3.0\n   TITEL  = PAW_PBE O_h 05Jan2001\n   TITEL  = PAW_PBE H 05Jan2001\n   ions per type = 1 "
      "1\n"
      "   NELM   =     60;   NELMIN=  2\n   ISIF   =  3\n   PSTRESS=    0.0 pullay stress\n" +
      step + step};
}

Texts xdatcar() {
  const std::string head = "t\n1.0\n3 0 0\n0 3 0\n0 0 3\nO H\n1 1\n",
                    step = "Direct configuration=     1\n0 0 0\n0.5 0.5 0.5\n";
  return {head + step + step, head + step + head + step};
}

Texts vasprun() {
  const std::string step =
      "<calculation><scstep><energy><i name=\"e_fr_energy\">-3.5</i></energy></scstep><structure><crystal>"
      "<varray name=\"basis\"><v>3 0 0</v><v>0 3 0</v><v>0 0 3</v></varray></crystal><varray "
      "name=\"positions\">"
      "<v>0 0 0</v><v>.5 .5 .5</v></varray></structure><varray name='forces'><v>0 0 1</v><v>0 0 "
      "-1</v></varray>\n"
      "<varray name=\"stress\"><v>1 0 0</v><v>0 1 0</v><v>0 0 1</v></varray><energy><i "
      "name=\"e_fr_energy\">-3.5"
      "</i><i name=\"e_0_energy\"> -3.4 </i></energy></calculation>\n";
  return {
      "<?xml version=\"1.0\"?>\n<!-- a --><modeling><parameters><i "
      "name=\"NELM\">60</i></parameters><atominfo>"
      "<array name=\"atoms\"><set><rc><c>O</c></rc><rc><c>H "
      "&amp;</c></rc></set></array></atominfo><structure "
      "name=\"initialpos\"><varray name=\"selective\"><v>T F T</v><v>T T T</v></varray></structure><a "
      "b='c'/>" +
      step + step + "</modeling>\n"};
}

Texts cif() {
  const std::string cell =
      "_cell_length_a 6(1)\n_cell_length_b 6\n_cell_length_c 8\n_cell_angle_alpha 90\n_cell_angle_beta 90\n"
      "_cell_angle_gamma 120\n";
  return {
      "# a\ndata_a\n_chemical_formula_sum 'H O2'\n" + cell +
          "_space_group_name_H-M_alt 'P 3'\nloop_\n_space_group_symop_operation_xyz\nx,y,z\n'-y, x-y, z'\n"
          "-x+y,-x,z+1/2\nloop_\n_atom_site_label\n_atom_site_type_symbol\n_atom_site_fract_x\n"
          "_atom_site_fract_y\n_atom_site_fract_z\n_atom_site_occupancy\nO1 O2- 0.3333 0.6667 0.25 1\n"
          "H1 H 0.1 0.2 0.3(2) 1.0\n",
      "data_t\n;\na text\n;\n",
      "data_b\n_a\n;\na text\n;\n" + cell +
          "loop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\nCu1 0 0 0\n"};
}

/// An array of float64 in NumPy's format 1.0.
std::string npy(const std::string& shape, const std::vector<double>& values) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header +
         std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

const std::vector<double> coordinates{0, 0, 0, 1, 1, 1, 0.1, 0, 0, 1, 1.1, 1},
    cells{4, 0, 0, 0, 4, 0, 0, 0, 4, 5, 0, 0, 0, 5, 0, 0, 0, 5};

Texts deepmd_folder() {
  return {packed({{"type.raw", "0 1"},
                  {"type_map.raw", "O\nH"},
                  {"set.000/coord.npy", npy("(2, 6)", coordinates)},
                  {"set.000/box.npy", npy("(2, 9)", cells)},
                  {"set.000/energy.npy", npy("(2,)", {-1, -2})},
                  {"set.000/force.npy", npy("(2, 6)", coordinates)}}),
          packed({{"type.raw", "0\n0"},
                  {"nopbc", ""},
                  {"set.000/coord.npy", npy("(2, 6)", coordinates)},
                  {"set.001/coord.npy", npy("(2, 6)", coordinates)},
                  {"set.001/virial.npy", npy("(2, 9)", cells)}}),
          packed({{"type.raw", "0 1"},
                  {"coord.raw", "0 0 0 1 1 1\n0.1 0 0 1 1.1 1\n"},
                  {"box.raw", "4 0 0 0 4 0 0 0 4\n"},
                  {"energy.raw", "-1\n-2\n"},
                  {"force.raw", "0 0 0 1 1 1\n0.1 0 0 1 1.1 1\n"}})};
}

Texts deepmd_hdf5() {
  return {written("a.h5", [](const std::string& path) {
    auto file = hdf5::File::create(Comm::self(), path);
    auto system = file.root().group("water");
    system.write<std::int64_t>("type.raw", std::vector<std::int64_t>{0, 1}, {2}, {"1", {"atom"}, "Types"});
    system.write_text("type_map.raw", "O");
    auto set = system.group("set.000");
    set.write<double>("coord.npy", coordinates, {2, 6}, {"angstrom", {"frame", "xyz"}, "Positions"});
    set.write<double>("box.npy", cells, {2, 9}, {"angstrom", {"frame", "xyz"}, "Cells"});
    set.write<double>("energy.npy", std::vector<double>{-1, -2}, {2}, {"eV", {"frame"}, "Energies"});
    file.close();
  })};
}

Texts h5md() {
  return {written("a.h5", [](const std::string& path) {
    Atoms atoms;
    atoms.box = Box({10, 0, 0, 1, 10, 0, 0, 2, 10}, {true, true, false}, {0.5, 0, 0});
    atoms.type_names = {"O", "H"};
    atoms.masses = {15.999, 1.008};
    atoms.n_global = 3;
    atoms.reserve(3);
    for (int i = 0; i < 3; ++i) {
      atoms.n_local = i + 1;
      atoms.id(i) = i + 1;
      atoms.type(i) = i % 2;
      for (int l = 0; l < 3; ++l) {
        atoms.position(i, l) = i + 0.1 * l;
        atoms.velocity(i, l) = atoms.force(i, l) = 0.5;
        atoms.image(i, l) = 0;
      }
    }
    H5mdWriter writer(Comm::self(), path, atoms, {.forces = true});
    for (int step = 0; step < 3; ++step)
      writer.append(step, 0.5 * step, atoms, {{"temperature", "K", {300}}});
    writer.flush();
  })};
}

void check_all(const std::vector<Configuration>& frames) {
  for (const auto& frame : frames) validate(frame);
}

void read_npy(const std::string& path) {
  const NpyFile file(path);
  if (file.shape().empty()) return;
  static_cast<void>(file.read_rows<double>(0, file.shape()[0]));
  if (file.element_type().starts_with("int"))
    static_cast<void>(file.read_rows<std::int64_t>(0, file.shape()[0]));
}

void read_deepmd(const std::string& path) {
  for (const auto& system : find_deepmd_systems(path)) check_all(DeepmdSystem(system, {"O", "H"}).frames());
}

void read_any(const std::string& path) {
  ReadOptions options;
  options.all_frames = true;
  options.type_names = {"O", "H"};
  check_all(read_configurations(path, options));
}

Texts all_text() {
  Texts all = extended_xyz();
  for (const auto& texts : {lammps_data(), poscar(), lammps_dump(), outcar(), xdatcar(), vasprun(), cif()})
    all.insert(all.end(), texts.begin(), texts.end());
  return all;
}

}  // namespace

std::vector<Reader> readers() {
  return {
      {"extended_xyz", "a.xyz", extended_xyz,
       [](const std::string& path) {
         check_all(read_extended_xyz(path, std::nullopt));
         static_cast<void>(read_extended_xyz(path, -1));
       }},
      {"lammps_data", "a.data", lammps_data,
       [](const std::string& path) { check_all({read_lammps_data(path)}); }},
      {"lammps_dump", "a.dump", lammps_dump,
       [](const std::string& path) {
         check_all(read_lammps_dump(path, std::nullopt));
         static_cast<void>(read_lammps_dump(path, -1, {.labels = LabelSource::Use::compare}));
       }},
      {"outcar", "OUTCAR", outcar,
       [](const std::string& path) {
         static_cast<void>(read_outcar(path, std::nullopt));
         check_all(read_outcar(path, -1, {.labels = LabelSource::Use::compare}));
       }},
      {"xdatcar", "XDATCAR", xdatcar,
       [](const std::string& path) { check_all(read_xdatcar(path, std::nullopt, {.type_names = {"O"}})); }},
      {"vasprun", "a.xml", vasprun,
       [](const std::string& path) {
         static_cast<void>(read_vasprun(path, std::nullopt));
         check_all(read_vasprun(path, -1, {.labels = LabelSource::Use::compare}));
       }},
      {"cif", "a.cif", cif, [](const std::string& path) { check_all(read_cif(path)); }},
      {"poscar", "a.vasp", poscar,
       [](const std::string& path) { check_all({read_poscar(path, {.type_names = {"Cu"}})}); }},
      {"npy", "a.npy",
       [] {
         return Texts{npy("(2, 6)", coordinates), npy("(3,)", {1, 2, 3}), npy("(2, 3, 2)", coordinates)};
       },
       read_npy},
      {"deepmd_folder", "archive", deepmd_folder, [](const std::string& path) { read_deepmd(unpack(path)); }},
      {"deepmd_hdf5", "a.hdf5", deepmd_hdf5, read_deepmd},
      {"h5md", "a.h5", h5md, [](const std::string& path) { check_all(read_h5md(path, std::nullopt)); }},
      {"configuration", "unnamed", all_text, read_any}};
}

}  // namespace quintet::fuzz
