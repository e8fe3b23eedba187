#pragma once

#include <string>

namespace files {

/// A configuration of atoms in a text format, with a number wherever the format takes one.
struct Sample {
  std::string name, content;
  bool says_boundaries = false;
};

inline const Sample samples[] = {
    {"a.xyz",
     "2\nLattice=\"9 0 0 0.5 9 0 0 0 9\" pbc=\"T T T\" Origin=\"0.5 0 0\" energy=-3.5 virial=\"1 2 3 2 4 5 3 "
     "5 6\" "
     "stress=\"-1.371742112e-3 -2.743484225e-3 -4.115226337e-3 -2.743484225e-3 -5.486968450e-3 "
     "-6.858710562e-3 "
     "-4.115226337e-3 -6.858710562e-3 -8.230452675e-3\" "
     "Properties=species:S:1:pos:R:3:id:I:1:mass:R:1:velocities:R:3:forces:R:3\n"
     "O 1 2 3 7 15.999 0.1 0.2 0.3 1 2 3\nH 2 3 4 8 1.008 0.4 0.5 0.6 4 5 6\n",
     true},
    {"a.data",
     "title\n\n2 atoms\n2 atom types\n0 9 xlo xhi\n1 9 ylo yhi\n2 9 zlo zhi\n0.5 0.25 0.125 xy xz "
     "yz\n\nMasses\n\n1 "
     "15.999 # O\n2 1.008 # H\n\nAtoms # full\n\n3 1 1 -0.8 1 2 3 0 1 0\n4 1 2 0.4 2 3 4 1 0 "
     "0\n\nVelocities\n\n3 0.1 0.2 "
     "0.3\n4 0.4 0.5 0.6\n"},
    {"POSCAR",
     "title\n1.5\n4 0 0\n0.5 4 0\n0 0 4\nO H\n1 1\nSelective dynamics\nDirect\n0.1 0.2 0.3 T F T\n0.4 0.5 "
     "0.6 F F "
     "F\n\n0.001 0.002 0.003\n0.004 0.005 0.006\n"},
    {"a.dump",
     "ITEM: UNITS\nmetal\nITEM: TIMESTEP\n5\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS xy xz yz pp pp pp\n"
     "-2 13 2\n2 14 -3\n3 15 1\nITEM: ATOMS id type element x y z vx vy vz fx fy fz\n"
     "4 2 H 1 2 3 0.1 0.2 0.3 1 2 3\n2 1 O 2 3 4 0.4 0.5 0.6 4 5 6\n",
     true},
    {"OUTCAR",
     " vasp.6.3.0\n   TITEL  = PAW_PBE O_h 08Apr2002\n   TITEL  = PAW_PBE H 15Jun2001\n"
     "   ions per type =               1   1\n   NELM   =     60;   NELMIN=  2; NELMDL= -5     # of ELM "
     "steps\n"
     "   ISIF   =      3    stress and relaxation\n   PSTRESS=    0.0 pullay stress\n"
     "--- Iteration      1(   9) ---\n--- aborting loop because EDIFF is reached ---\n"
     "  FORCE on cell =-STRESS in cart. coord.  units (eV):\n"
     "  in kB      10.00000    20.00000    30.00000     5.00000-1234.50000     1.00000\n"
     "      direct lattice vectors                 reciprocal lattice vectors\n"
     "     4.000000000  0.000000000  0.000000000     0.25 0 0\n     0.000000000  5.000000000  0.000000000  0 "
     "0 0\n"
     "     0.000000000-10.000000000  6.000000000     0 0 0\n POSITION       TOTAL-FORCE (eV/Angst)\n -----\n"
     "      0.50000      0.00000      0.00000         0.100000     -0.200000      0.300000\n"
     "      1.00000      2.00000      3.00000        -0.100000      0.200000     -0.300000\n -----\n"
     "  free  energy   TOTEN  =       -20.50000000 eV\n\n"
     "  energy  without entropy=      -20.5  energy(sigma->0) =      -20.5\n"},
    {"XDATCAR",
     "title\n1.5\n4 0 0\n0.5 4 0\n0 0 4\nO H\n1 1\nDirect configuration=     1\n0.1 0.2 0.3\n0.4 0.5 0.6\n"
     "Direct configuration=     2\n0.1 0.2 0.3\n0.4 0.5 0.7\n"},
    {"vasprun.xml",
     "<?xml version=\"1.0\"?>\n<modeling><parameters><i name=\"NELM\"> 60 </i><i name=\"ISIF\"> 3 </i>"
     "<i name=\"PSTRESS\"> 0.0 </i><i name=\"EDIFF\"> 0.0001 </i></parameters>\n<atominfo><array "
     "name=\"atoms\">"
     "<set><rc><c>O</c><c> 1 </c></rc><rc><c>H</c><c> 2 "
     "</c></rc></set></array></atominfo>\n<calculation><scstep>"
     "<energy><i name=\"e_fr_energy\"> -3.5 </i></energy></scstep><structure><crystal><varray name=\"basis\">"
     "<v> 3 0 0 </v><v> 0 3.5 0 </v><v> 0 0.5 4 </v></varray></crystal><varray name=\"positions\">"
     "<v> 0 0.1 0.2 </v><v> 0.5 0.6 0.7 </v></varray></structure>\n<varray name=\"forces\"><v> 1 2 3 </v>"
     "<v> -1 -2 -3 </v></varray><varray name=\"stress\"><v> 1 2 3 </v><v> 2 4 5 </v><v> 3 5 6 </v></varray>"
     "<energy><i name=\"e_fr_energy\"> -3.5 </i></energy></calculation></modeling>\n"},
    {"a.cif",
     "data_a\n_cell_length_a 6.0(1)\n_cell_length_b 6.5\n_cell_length_c 8\n_cell_angle_alpha 90\n"
     "_cell_angle_beta 91\n_cell_angle_gamma 120.5\n_symmetry_space_group_name_H-M 'P -1'\nloop_\n"
     "_symmetry_equiv_pos_as_xyz\n'x, y, z'\n' 1/2 -x, 0.5 -y, -z'\nloop_\n_atom_site_label\n"
     "_atom_site_type_symbol\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n_atom_site_"
     "occupancy\n"
     "O1 O 0.1 0.2 0.3 1\nH1 H 0.2 0.3 0.4 1.0\nH2 H 0.3 0.4 0.6 1\n"},
};

}  // namespace files
