#include "physics/particles/formats/vasp_output.hpp"

#include <fmt/core.h>

#include "tests/unit/particles/files/files_support.hpp"

namespace {

using namespace quintet;
using files::replaced;
using Use = LabelSource::Use;

constexpr double kb = 1602.176634;  // of an eV/angstrom^3

/// The lines of an OUTCAR that count, as VASP 6 writes them; two steps, of cells 4 x 5 x 6 and 4 x 5 x 6.5.
std::string outcar_head() {
  return " vasp.6.3.0 20Jan22 (build May 11 2022 10:24:37) complex\n \n INCAR:\n   NELM = 12 ! loops\n"
         " POTCAR:    PAW_PBE Ti_pv 07Sep2000\n POTCAR:    PAW_PBE O 08Apr2002\n"
         "   VRHFIN =Ti: d3 s1\n   TITEL  = PAW_PBE Ti_pv 07Sep2000\n   POMASS =   47.880; ZVAL   =   "
         "10.000\n"
         "   TITEL  = PAW_PBE O 08Apr2002\n   ions per type =               1   2\n"
         "   NELM   =     12;   NELMIN=  2; NELMDL= -5     # of ELM steps\n"
         "   ISIF   =      3    stress and relaxation\n   PSTRESS=    0.0 pullay stress\n"
         "      direct lattice vectors                 reciprocal lattice vectors\n"
         "     9.000000000  0.000000000  0.000000000     0.25 0 0\n 0 9 0 0 0.2 0\n 0 0 9 0 0 0.16\n";
}

std::string outcar_step(int step, double height, double energy,
                        const std::string& end = "because EDIFF is reached") {
  return fmt::format(
      "--------------------------------------- Iteration {:6}(   1)  "
      "---------------------------------------\n"
      "  free energy    TOTEN  =       -99.00000000 eV\n"
      "  energy without entropy =      -98.00000000  energy(sigma->0) =      -98.50000000\n"
      "--------------------------------------- Iteration {:6}(  12)  "
      "---------------------------------------\n"
      "------------------------ aborting loop {} ----------------------------------------\n"
      "  FORCE on cell =-STRESS in cart. coord.  units (eV):\n"
      "  Direction    XX          YY          ZZ          XY          YZ          ZX\n"
      "  Total       0.74896     1.49792     2.24688     0.37448    -0.37448     0.07490\n"
      "  in kB      10.00000    20.00000    30.00000     5.00000-1234.50000     1.00000\n"
      "  external pressure =       20.00 kB  Pullay stress =        0.00 kB\n"
      " VOLUME and BASIS-vectors are now :\n  volume of cell :      120.00\n"
      "      direct lattice vectors                 reciprocal lattice vectors\n"
      "     4.000000000  0.000000000  0.000000000     0.250000000  0.000000000  0.000000000\n"
      "     0.000000000  5.000000000  0.000000000     0.000000000  0.200000000  0.000000000\n"
      "     0.000000000-10.000000000  {:.9f}     0.000000000  0.000000000  0.166666667\n"
      " POSITION                                       TOTAL-FORCE (eV/Angst)\n"
      " -----------------------------------------------------------------------------------\n"
      "      0.00000      0.00000      0.00000         0.100000     -0.200000      0.300000\n"
      "      1.00000      2.00000      3.00000        -0.100000      0.200000     -0.300000\n"
      "      1.50000      2.50000      3.50000         0.000000      0.000000      0.000000\n"
      " -----------------------------------------------------------------------------------\n"
      "    total drift:                               -0.000012      0.000003      0.000001\n"
      "  FREE ENERGIE OF THE ION-ELECTRON SYSTEM (eV)\n"
      "  ---------------------------------------------------\n"
      "  free  energy   TOTEN  =       {:.8f} eV\n\n"
      "  energy  without entropy=      -20.03000000  energy(sigma->0) =      {:.8f}\n",
      step, step, end, height, energy, energy + 0.015);
}

struct Vasp : ::testing::Test {
  Scratch scratch{"vasp"};
  std::string outcar = outcar_head() + outcar_step(1, 6, -20) + outcar_step(2, 6.5, -20.25);

  std::vector<Configuration> read(const std::string& text, Use use = Use::learn,
                                  std::optional<std::int64_t> frame = std::nullopt) {
    return read_outcar(files::put(scratch / "OUTCAR", text), frame, {.labels = use});
  }
};

TEST_F(Vasp, outcar_steps_have_their_own_cell_energy_and_forces) {
  const auto frames = read(outcar);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].type_names, (std::vector<std::string>{"Ti", "O"}));
  EXPECT_EQ(frames[0].types, (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(frames[0].box.rows(), (Mat3{4, 0, 0, 0, 5, 0, 0, -10, 6}));
  EXPECT_EQ(frames[1].box.rows(), (Mat3{4, 0, 0, 0, 5, 0, 0, -10, 6.5}));
  EXPECT_EQ(*frames[0].energy, -20);
  EXPECT_EQ(*frames[1].energy, -20.25);
  EXPECT_EQ(frames[1].positions[2], (Vec3{1.5, 2.5, 3.5}));
  EXPECT_EQ(frames[1].forces[0], (Vec3{0.1, -0.2, 0.3}));
  EXPECT_EQ(
      frames[0].reading.text(),
      "energy: the free energy (TOTEN), whose gradient the forces are (energy(sigma->0) differs by up "
      "to 5 meV per atom); stress in kB, pressure positive: virial = volume * stress; periodic in x y z, "
      "as VASP always is (system.periodic or --periodic changes it); not used: masses (POMASS)");
}

TEST_F(Vasp, a_pressure_is_a_positive_virial_in_the_order_xx_yy_zz_xy_yz_zx) {
  const auto virial = *read(outcar)[0].virial;
  const double volume = 120;
  const Mat3 expected{10, 5, 1, 5, 20, -1234.5, 1, -1234.5, 30};
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(virial[k], expected[k] * volume / kb, 1e-12) << k;
  EXPECT_NEAR(virial[0], 0.74896, 1e-4);  // VASP's own line "Total", eV
}

TEST_F(Vasp, steps_that_did_not_converge_have_no_labels) {
  for (const char* end : {"EDIFF was not reached (unconverged)", "because hard stop was set"}) {
    const auto loose = outcar_head() + outcar_step(1, 6, -20) + outcar_step(2, 6.5, -20.25, end);
    const auto learnt = read(loose);
    ASSERT_EQ(learnt.size(), 1u) << end;
    EXPECT_EQ(learnt[0].reading.not_used.at(0), "steps whose electrons did not converge: 1");
    const auto compared = read(loose, Use::compare);
    ASSERT_EQ(compared.size(), 2u);
    EXPECT_FALSE(compared[1].energy || compared[1].virial || !compared[1].forces.empty());
    EXPECT_EQ(compared[1].n_atoms(), 3u);
    EXPECT_FALSE(read(loose, Use::learn, -1)[0].energy);
  }
  // VASP 5 says nothing where NELM iterations were not enough: 12 of 12, but 11 of 12 are.
  const std::string silent = outcar_step(1, 6, -20, "");
  EXPECT_MESSAGE(read(outcar_head() + replaced(silent, "aborting loop", "")),
                 "none of its 1 ionic steps has labels");
  EXPECT_TRUE(
      read(outcar_head() + replaced(replaced(silent, "aborting loop", ""), "(  12)", "(  11)"))[0].energy);
}

TEST_F(Vasp, what_the_run_computed_is_what_it_labels) {
  EXPECT_MESSAGE(read(replaced(outcar, "PSTRESS=    0.0", "PSTRESS=  100.0")),
                 "PSTRESS is 100 kB: VASP adds that pressure");
  const auto pressed = read(replaced(outcar, "PSTRESS=    0.0", "PSTRESS=  100.0"), Use::compare);
  EXPECT_FALSE(pressed[0].energy);
  EXPECT_EQ(pressed[0].reading.not_used.at(0), "labels (PSTRESS = 100 kB is in its energies and stresses)");
  const auto trace = read(replaced(outcar, "ISIF   =      3", "ISIF   =      1"))[0];
  EXPECT_FALSE(trace.virial);
  EXPECT_TRUE(trace.energy);
  EXPECT_EQ(trace.reading.not_used.at(0), "the stress, of which ISIF = 1 gives the trace alone");
  const auto none = read(outcar, Use::none)[0];
  EXPECT_FALSE(none.energy || none.virial || !none.forces.empty());
}

TEST_F(Vasp, a_step_of_the_force_field_is_no_label) {
  std::string ml = outcar_step(2, 6.5, -20.25);
  ml = replaced(ml, "FORCE on cell", "ML FORCE on cell");
  ml = replaced(ml, "(eV/Angst)", "(eV/Angst) (ML)");
  ml = replaced(ml, "free  energy   TOTEN", "free  energy ML TOTEN");
  ml = replaced(ml, "energy  without", "ML energy  without");
  const auto frames = read(outcar_head() + outcar_step(1, 6, -20) + ml);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].reading.not_used.at(0),
            "steps without electronic iterations (VASP's own force field): 1");
}

TEST_F(Vasp, a_step_cut_short_is_left_out_and_told) {
  const auto whole = read(outcar).size();
  const std::size_t second = outcar.find("Iteration      2");
  for (std::size_t at = second; at < outcar.rfind("TOTEN"); at += 101) {
    const auto frames = read(outcar.substr(0, at + 30));
    ASSERT_EQ(frames.size(), whole - 1) << at;
    EXPECT_EQ(frames[0].reading.not_used.at(0), "the last ionic step, which is cut short");
  }
  files::expect_no_cut_crashes(
      outcar, scratch / "OUTCAR", [&] { (void)read_outcar(scratch / "OUTCAR", std::nullopt); }, 17);
}

TEST_F(Vasp, faults_of_an_outcar_are_named) {
  EXPECT_MESSAGE(read(replaced(outcar, "1   2\n", "1   2   4\n")), "3 numbers of ions for 2 species (Ti, O)");
  EXPECT_MESSAGE(read(replaced(outcar, "20.00000    30", "20.00000 ******** 30")), "expected 6");
  EXPECT_MESSAGE(read(replaced(outcar, "0.300000", "********")), "position and force is '********'");
  EXPECT_MESSAGE(read("nothing\n"), "is it the OUTCAR of VASP?");
  EXPECT_MESSAGE(read(outcar_head()), "holds no ionic step that is whole");
  EXPECT_EQ(read(outcar, Use::none, -1)[0].reading.assumed.at(1),
            "frame 1 of 2 (system.frame chooses another)");
  EXPECT_MESSAGE(read(outcar, Use::learn, 2), "there is no frame 2, the file has 2");
}

/// A vasprun.xml of two steps of the same atoms.
std::string vasprun_step(double energy, int iterations, double height) {
  std::string text = " <calculation>\n";
  for (int i = 0; i < iterations; ++i)
    text += fmt::format(
        "  <scstep><energy><i name=\"e_fr_energy\">{}</i><i name=\"e_0_energy\">{}</i></energy></scstep>\n",
        energy - 0.01 * (iterations - 1 - i), i == 0 ? "***" : fmt::format("{}", energy + 0.003));
  return text +
         fmt::format(
             "  <structure><crystal><varray name=\"basis\" ><v> 4 0 0 </v><v> 0 5 0 </v><v> 0 -10 {} "
             "</v></varray>"
             "<i name=\"volume\"> 120 </i><varray name=\"rec_basis\" ><v> 1 0 0 </v><v> 0 1 0 </v><v> 0 0 1 "
             "</v>"
             "</varray></crystal>\n"
             "  <varray name=\"positions\" ><v> 0 0 0 </v><v> 0.5 0.5 0.5 </v><v> 0.25 0 0 </v></varray>"
             "</structure>\n"
             "  <varray name=\"forces\" ><v> 0.1 -0.2 0.3 </v><v> -0.1 0.2 -0.3 </v><v> 0 0 0 </v></varray>\n"
             "  <varray name=\"stress\" ><v> 10 5 1 </v><v> 5 20 2 </v><v> 1 2 30 </v></varray>\n"
             "  <energy><i name=\"e_fr_energy\"> {} </i><i name=\"e_wo_entrp\"> -1 </i>"
             "<i name=\"e_0_energy\"> {} </i></energy>\n </calculation>\n",
             height, energy, "0.00000");
}

const std::string vasprun_head =
    "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!-- a <comment> -->\n<modeling>\n"
    " <incar><i type=\"int\" name=\"NELM\"> 3</i></incar>\n"
    " <primitive_cell><structure name=\"primitive_cell\" ><varray name=\"positions\" ><v> 0 0 0 </v></varray>"
    "</structure></primitive_cell>\n"
    " <parameters><separator name=\"ionic\" ><i type=\"int\" name=\"ISIF\"> 3</i>"
    "<i name=\"PSTRESS\"> 0.0</i><i type=\"int\" name=\"NELM\"> 3</i><i name=\"EDIFF\"> 0.001</i></separator>"
    "</parameters>\n"
    " <atominfo><atoms> 3 </atoms><types> 2 </types>\n"
    "  <array name=\"atoms\" ><dimension dim=\"1\">ion</dimension><field type=\"string\">element</field>"
    "<set><rc><c>Ti</c><c> 1</c></rc><rc><c>O </c><c> 2</c></rc><rc><c>O </c><c> 2</c></rc></set></array>\n"
    "  <array name=\"atomtypes\" ><set><rc><c> 1</c><c>Ti</c><c>47.880</c><c>10.0</c><c>PAW_PBE "
    "Ti_pv</c></rc>"
    "</set></array></atominfo>\n"
    " <structure name=\"initialpos\" ><varray name=\"positions\" ><v> 0 0 0 </v><v> 0.5 0.5 0.5 </v>"
    "<v> 0.25 0 0 </v></varray><varray type=\"logical\" name=\"selective\" ><v type=\"logical\" > F F F </v>"
    "<v type=\"logical\" > T T T </v><v> T T F </v></varray></structure>\n";

struct Vasprun : ::testing::Test {
  Scratch scratch{"vasprun"};
  std::string text = vasprun_head + vasprun_step(-20, 2, 6) + vasprun_step(-20.25, 2, 6.5) + "</modeling>\n";

  std::vector<Configuration> read(const std::string& content, Use use = Use::learn,
                                  std::optional<std::int64_t> frame = std::nullopt) {
    return read_vasprun(files::put(scratch / "vasprun.xml", content), frame, {.labels = use});
  }
};

TEST_F(Vasprun, steps_are_those_of_the_outcar) {
  const auto frames = read(text);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].type_names, (std::vector<std::string>{"Ti", "O"}));
  EXPECT_EQ(frames[0].types, (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(frames[1].box.rows(), (Mat3{4, 0, 0, 0, 5, 0, 0, -10, 6.5}));
  EXPECT_EQ(frames[1].positions[1], (Vec3{2, 2.5 - 5, 3.25}));
  EXPECT_EQ(*frames[1].energy, -20.25);
  EXPECT_EQ(frames[0].forces[1], (Vec3{-0.1, 0.2, -0.3}));
  EXPECT_NEAR((*frames[0].virial)[5], 2 * 120 / kb, 1e-12);
  EXPECT_EQ(frames[1].held, (std::vector<std::uint8_t>{7, 0, 4}));
  // The extrapolated energy of the last iteration, not the one that VASP writes of the step.
  EXPECT_NE(frames[0].reading.text().find("differs by up to 1 meV per atom"), std::string::npos)
      << frames[0].reading.text();
}

TEST_F(Vasprun, as_many_iterations_as_allowed_are_not_enough_unless_the_last_changed_nothing) {
  const auto loose = vasprun_head + vasprun_step(-20, 2, 6) + vasprun_step(-21, 3, 6) + "</modeling>";
  EXPECT_EQ(read(loose).size(), 1u);
  EXPECT_FALSE(read(loose, Use::compare, -1)[0].energy);
  // A last change of 0.01 eV is below an EDIFF of 0.02.
  EXPECT_EQ(read(replaced(loose, "0.001</i>", "0.02</i>")).size(), 2u);
  const auto predicted = vasprun_head + vasprun_step(-20, 2, 6) + vasprun_step(-21, 0, 6) + "</modeling>";
  EXPECT_EQ(read(predicted)[0].reading.not_used.at(0),
            "steps without electronic iterations (VASP's own force field): 1");
}

TEST_F(Vasprun, a_killed_run_has_the_steps_that_are_whole) {
  for (std::size_t at = text.find("</calculation>") + 30; at < text.rfind("</calculation>"); at += 67)
    EXPECT_EQ(read(text.substr(0, at)).size(), 1u) << at;
  EXPECT_EQ(read(text.substr(0, text.rfind("</calculation>") - 5))[0].reading.not_used.at(0),
            "the last ionic step, which is cut short");
  files::expect_no_cut_crashes(
      text, scratch / "vasprun.xml", [&] { (void)read_vasprun(scratch / "vasprun.xml", std::nullopt); }, 17);
}

TEST_F(Vasprun, faults_are_named) {
  EXPECT_MESSAGE(read(replaced(text, "<v> -0.1 0.2 -0.3 </v>", "")), "forces has 2 rows, expected 3");
  EXPECT_MESSAGE(read(replaced(text, "</structure>", "</struct>")), "</struct> closes <structure>");
  EXPECT_MESSAGE(read(replaced(text, "F F F", "F F 0")), "'0' says nothing of whether an atom moves");
  EXPECT_MESSAGE(read(replaced(text, "<i name=\"e_fr_energy\"> -20 </i>", "")), "no energy e_fr_energy");
  EXPECT_MESSAGE(read("<a></a>"), "no tag <modeling>");
  EXPECT_MESSAGE(read(replaced(text, "> 0.0</i>", "> 50.0</i>")), "PSTRESS is 50 kB");
}

TEST(Xdatcar, cells_repeat_or_change) {
  const Scratch scratch("xdatcar");
  const std::string head = "salt\n  2.0\n 2 0 0\n 0 2 0\n 0.5 0 2\n   Na   Cl\n   1   2\n",
                    step = "Direct configuration=     1\n 0 0 0\n 0.5 0.5 0.5\n 0.25 0 1\n";
  const auto read = [&](const std::string& text, std::optional<std::int64_t> frame = std::nullopt) {
    return read_xdatcar(files::put(scratch / "XDATCAR", text), frame);
  };
  const auto fixed = read(head + step + replaced(step, "0.5 0.5 0.5", "0.5 0.5 0.75"));
  ASSERT_EQ(fixed.size(), 2u);
  EXPECT_EQ(fixed[0].types, (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(fixed[1].positions[1], (Vec3{2 + 0.75, 2, 3}));
  const auto changing = read(head + step + replaced(head, "0.5 0 2", "0.5 0 3") + step);
  EXPECT_EQ(changing[1].box.rows(), (Mat3{4, 0, 0, 0, 4, 0, 1, 0, 6}));
  EXPECT_EQ(changing[1].positions[1], (Vec3{2.5, 2, 3}));
  const auto untitled = read(head + step + replaced(head, "salt", "  ") + step);
  EXPECT_EQ(untitled[1].box, untitled[0].box);
  EXPECT_EQ(read(head + step + step, -1)[0].positions, fixed[0].positions);
  EXPECT_MESSAGE(read(head + step + " 0 0 0\n"), "the scale");
  EXPECT_MESSAGE(read("  3  3  20\n  0.1E+02 0.3E-09 0.3E-09 0.3E-09 0.5E-15\n" + head),
                 "the XDATCAR of VASP 4 is not read");
  EXPECT_MESSAGE(read((head + step).substr(0, (head + step).size() - 1)), "ends without a line feed");
  EXPECT_MESSAGE(read(head), "expected 'Direct configuration='");
  files::expect_no_cut_crashes(
      head + step + head + step, scratch / "XDATCAR",
      [&] { (void)read_xdatcar(scratch / "XDATCAR", std::nullopt); }, 17);
}

}  // namespace
