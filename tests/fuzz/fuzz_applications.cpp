#include <array>

#include "apps/dpmd/convert/from_deepmd.hpp"
#include "apps/dpmd/deviation/deviation.hpp"
#include "apps/dpmd/label/label_program.hpp"
#include "apps/meshfreeflow/superresolve/point_list.hpp"
#include "apps/quintet/commands.hpp"
#include "apps/submatrix/input/blocks.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "tests/fuzz/reader.hpp"

/// Readers of the applications: other programs' inputs and outputs, and runs of other people.
namespace quintet::fuzz {
namespace {

using Texts = std::vector<std::string>;

Texts training_inputs() {
  return {
      R"({"model": {"type_map": ["O", "H"], "descriptor": {"type": "se_e2_a", "sel": [46, 92], "rcut_smth": 0.5,
 "rcut": 6.0, "neuron": [25, 50, 100], "axis_neuron": 16, "seed": 1, "resnet_dt": false},
 "fitting_net": {"neuron": [240, 240, 240], "resnet_dt": true, "seed": 1}},
 "learning_rate": {"type": "exp", "decay_steps": 5000, "start_lr": 0.001, "stop_lr": 3.51e-8},
 "loss": {"type": "ener", "start_pref_e": 0.02, "limit_pref_e": 1, "start_pref_f": 1000, "limit_pref_f": 1},
 "training": {"training_data": {"systems": ["a", "b"], "batch_size": "auto"},
 "validation_data": {"systems": ["c"], "batch_size": 1, "numb_btch": 3}, "numb_steps": 1000000, "seed": 10,
 "disp_file": "lcurve.out", "disp_freq": 100, "save_freq": 1000}})"};
}

Texts runs() {
  return {packed(
      {{"summary.json", R"({"program": "vlasov run", "status": "done", "exit_code": 0, "energy_ev": -1.5e-3,
 "what": {"system": "864 Cu atoms"}, "headlines": [{"name": "energy", "value": "1 eV", "doubt": "no"}],
 "timings_s": {"steps": 1.5}})"},
       {"report.html",
        "<html><svg viewBox=\"0 0 1 1\"><g class=\"a\"><path d=\"M0 0\"/></g></svg></html>"}})};
}

void report_run(const std::string& path) {
  const auto folder = unpack(path);
  commands::report({{folder}, {folder + "/index.html"}, {"runs"}});
}

Configuration one_atom() {
  Configuration frame;
  frame.box = Box({5, 0, 0, 0, 5, 0, 0, 0, 5}, {true, true, true}, {0, 0, 0});
  frame.type_names = {"Cu"};
  frame.types = {0};
  frame.positions = {{1, 1, 1}};
  return frame;
}

Texts cp2k_outputs() {
  return {packed(
      {{"output.log",
        " ENERGY| Total FORCE_EVAL ( QS ) energy [a.u.]:  -1.5\n\n ATOMIC FORCES in [a.u.]\n\n"
        " # Atom   Kind   Element          X              Y              Z\n"
        "      1      1      Cu          0.1   0.2  -0.3\n SUM OF ATOMIC FORCES 0 0 0 0\n"
        " STRESS| Analytical stress tensor [GPa]\n STRESS|  x y z\n STRESS| x 1 2 3\n STRESS| y 2 1 0\n"
        " STRESS| z 3 0 1\n  **** PROGRAM ENDED AT 2020\n"}})};
}

Texts lammps_outputs() {
  return {packed({{"in.lammps", "units metal\nrun 0\n"},
                  {"label.txt", "quintet -3.5 125 1 2 3 0.1 0.2 0.3 end"},
                  {"forces.txt", "ITEM: TIMESTEP\n0\nITEM: ATOMS id type fx fy fz\n1 1 0.5 0.25 -1\n"}})};
}

Texts deviations() {
  dpmd::DeviationRow row;
  row.step = 10;
  return {dpmd::deviation_header(false) + dpmd::deviation_line(row) + dpmd::deviation_line(row)};
}

Texts lists_of_points() { return {"x, t,z\n0.5,1, -0.25\n\n1e-3,2.5,0\n", "t,z,x,note\r\n1,0,0,wall\r\n"}; }

Texts arrays_of_points() {
  return {written("points.h5", [](const std::string& path) {
    auto file = hdf5::File::create(Comm::self(), path);
    file.root().write<double>("points", std::vector<double>{1, 0, 0.5, 2, -0.25, 0.1}, {2, 3}, {});
  })};
}

void read_points(const std::string& path) {
  static_cast<void>(meshfreeflow::read_points(path, {"t", "z", "x"}));
}

void read_blocks(const std::string& path) {
  submatrix::BlocksOptions options;
  options.file = path;
  static_cast<void>(submatrix::make_blocks(Comm::self(), options, 12, {}, {}));
}

}  // namespace

std::vector<Reader> readers() {
  return {{"deepmd_input", "input.json", training_inputs,
           [](const std::string& path) { static_cast<void>(dpmd::translate_deepmd(read_yaml(path))); }},
          {"run_report", "archive", runs, report_run},
          {"cp2k_output", "archive", cp2k_outputs,
           [](const std::string& path) {
             static_cast<void>(dpmd::cp2k_recipe().read(unpack(path), one_atom()));
           }},
          {"deviations", "model_devi.out", deviations,
           [](const std::string& path) { static_cast<void>(dpmd::read_deviations(path)); }},
          {"points_csv", "points.csv", lists_of_points, read_points},
          {"points_hdf5", "points.h5", arrays_of_points, read_points},
          {"blocks", "blocks.txt",
           [] {
             return Texts{"4 1 # O\n1 1\n1 1\n", "3\n3\n"};
           },
           read_blocks},
          {"lammps_output", "archive", lammps_outputs, [](const std::string& path) {
             static_cast<void>(dpmd::lammps_recipe().read(unpack(path), one_atom()));
           }}};
}

}  // namespace quintet::fuzz
