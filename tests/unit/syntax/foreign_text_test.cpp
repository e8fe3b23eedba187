#include "io/syntax/foreign_text.hpp"

#include <gtest/gtest.h>

#include <string>

using quintet::foreign_kind;

TEST(ForeignText, files_of_other_programs_are_known_by_their_words) {
  EXPECT_EQ(foreign_kind("# melt\nunits metal\natom_style atomic\npair_style eam/alloy\nrun 100\n"),
            "a LAMMPS input script");
  EXPECT_EQ(foreign_kind("&GLOBAL\n  PROJECT water\n&END GLOBAL\n"), "a CP2K input");
  EXPECT_EQ(foreign_kind("&control\n calculation='scf'\n/\n&system\n ibrav=0\n/\n"),
            "a Quantum ESPRESSO input");
  EXPECT_EQ(foreign_kind("{\"model\": {\"descriptor\": {\"type\": \"se_e2_a\"}, \"fitting_net\": {}}}"),
            "an input of DeePMD-kit (JSON)");
  EXPECT_EQ(foreign_kind("local Plasma = require(\"App.PlasmaOnCartGrid\").VlasovMaxwell()\nlocal k = 0.5\n"),
            "a Lua script, as Gkeyll's inputs were");
  EXPECT_EQ(foreign_kind("#include <gkyl_vlasov.h>\nstruct ctx { double k; };\nint main() {\n"),
            "a C program, as Gkeyll's inputs are");
  EXPECT_EQ(foreign_kind("import numpy as np\nfrom dedalus import public as d3\n"), "a Python script");
  EXPECT_EQ(foreign_kind("ENCUT = 500\nISMEAR = 0\n"), "a VASP INCAR");
  EXPECT_EQ(foreign_kind("integrator = md\nnsteps = 1000\n"), "a GROMACS parameter file");
  EXPECT_EQ(foreign_kind("#!/bin/bash\n#SBATCH -N 1\nsrun dpmd\n"), "a shell script");
  EXPECT_EQ(foreign_kind(std::string("\x89HDF\r\n\x1a\n", 8)), "a binary file (HDF5)");
  EXPECT_EQ(foreign_kind(std::string("CDF\x05\0\0", 6)), "a binary file (netCDF)");
  EXPECT_EQ(foreign_kind(std::string("GRIB\0\0\0\x02", 8)), "a GRIB file, as weather services give");
  EXPECT_EQ(foreign_kind(std::string("a\0b", 3)), "a binary file");
  EXPECT_EQ(foreign_kind("<!DOCTYPE html>"), "a web page, as a download that failed leaves");
}

TEST(ForeignText, YAML_is_none_of_them_even_with_their_words_in_it) {
  EXPECT_EQ(foreign_kind(""), "");
  EXPECT_EQ(foreign_kind("units: metal\nrun: 100\nfix: nvt\nmass: 1 amu\n"), "");
  EXPECT_EQ(foreign_kind("stages:\n  - name: a\n    command: |\n      mpirun dpmd run x\n    memory: 1 "
                         "GB\nslots: {cpu: 2}\n"),
            "");
  EXPECT_EQ(foreign_kind("system:\n  file: a\nrun 100\n"), "");
}
