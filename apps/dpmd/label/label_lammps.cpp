#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include "apps/dpmd/label/label_program.hpp"
#include "apps/dpmd/label/label_template.hpp"
#include "io/config/tree.hpp"
#include "io/config/units.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/formats/lammps/lammps_data.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet::dpmd {

namespace {

constexpr const char *data_file = "frame.data", *input_file = "in.lammps", *numbers_file = "label.txt",
                     *forces_file = "forces.txt";

/// What is written in the place of {{label}}: one evaluation; energy, virial pressure and cell, then forces.
constexpr const char* label_commands = R"(compute quintet_virial all pressure NULL virial
thermo_style custom step pe vol c_quintet_virial[1] c_quintet_virial[2] c_quintet_virial[3] c_quintet_virial[4] c_quintet_virial[5] c_quintet_virial[6]
thermo_modify norm no
run 0
write_dump all custom forces.txt id type fx fy fz modify sort id format float %.17g
print "quintet $(pe:%.17g) $(vol:%.17g) $(c_quintet_virial[1]:%.17g) $(c_quintet_virial[2]:%.17g) $(c_quintet_virial[3]:%.17g) $(c_quintet_virial[4]:%.17g) $(c_quintet_virial[5]:%.17g) $(c_quintet_virial[6]:%.17g) end" file label.txt
)";

/// What is written in the place of {{driver}}: wait for frames. Atoms and cell may be anywhere in the next
/// frame, so the neighbour list is made for each.
constexpr const char* driver_commands = R"(neigh_modify delay 0 every 1 check no
fix quintet_driver all ipi 127.0.0.1 {} reset
thermo 2000000000
run 2000000000
)";

/// The `units` command of a script: "metal" or "real".
std::string units_of(const std::string& text, const std::string& path) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string command, name;
    if (!(words >> command >> name) || command != "units") continue;
    QUINTET_CHECK(name == "metal" || name == "real",
                  "{}: 'units {}' is not known here; expected metal or real", path, name);
    return name;
  }
  throw InputError(
      fmt::format("{}: the template has no line 'units metal' (or real), so its numbers have no unit", path));
}

void check(const std::string& text, const std::string& path) {
  check_template(text, path, {"data_file", stays(text) ? driver_mark : "label"}, {"types", "boundary"});
  (void)units_of(text, path);
}

/// @param commands of the evaluation
void write_script(const std::string& text, const std::string& folder, const Configuration& frame,
                  const std::string& commands) {
  write_lammps_data(folder + "/" + data_file, frame);
  std::string types, boundary;
  for (const auto& name : frame.type_names) types += (types.empty() ? "" : " ") + name;
  for (const bool periodic : frame.box.periodic()) boundary += periodic ? " p" : " s";
  write_text_file(folder + "/" + input_file, fill_template(text, {{"data_file", data_file},
                                                                  {"label", commands},
                                                                  {driver_mark, commands},
                                                                  {"types", types},
                                                                  {"boundary", boundary.substr(1)}}));
}

void write(const std::string& text, const std::string& folder, const Configuration& frame) {
  write_script(text, folder, frame, label_commands);
}

void write_driver(const std::string& text, const std::string& folder, const Configuration& frame, int port) {
  QUINTET_CHECK(frame.box.fully_periodic(),
                "LAMMPS's fix ipi moves the box of an open frame; take {{{{label}}}} in the place of "
                "{{{{driver}}}}");
  write_script(text, folder, frame, fmt::format(driver_commands, port));
}

Mat3 transposed(const Mat3& a) { return {a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]}; }

/// The rotation Q that LAMMPS's form of a cell needs: rows A' = A Q, lower triangular with a positive
/// diagonal, so that x' = x Q for row vectors. Gram and Schmidt on the rows.
Mat3 rotation(const Mat3& rows) {
  Mat3 axes{};  // rows e_1, e_2, e_3: Q = axes^T
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) axes[3 * k + l] = rows[3 * k + l];
    for (int m = 0; m < k; ++m) {
      double along = 0;
      for (int l = 0; l < 3; ++l) along += rows[3 * k + l] * axes[3 * m + l];
      for (int l = 0; l < 3; ++l) axes[3 * k + l] -= along * axes[3 * m + l];
    }
    const double norm = std::hypot(axes[3 * k], axes[3 * k + 1], axes[3 * k + 2]);
    for (int l = 0; l < 3; ++l) axes[3 * k + l] /= norm;
  }
  return transposed(axes);
}

/// From LAMMPS's orientation of the cell back to the frame's: F = F' Q^T, W = Q W' Q^T.
void turn_back(const Box& box, std::vector<Vec3>& forces, Mat3& virial) {
  const Mat3 q = rotation(box.rows()), back = transposed(q);
  for (auto& force : forces) {
    const Vec3 f = force;
    for (int l = 0; l < 3; ++l) force[l] = f[0] * back[l] + f[1] * back[3 + l] + f[2] * back[6 + l];
  }
  virial = product(q, product(virial, back));
}

/// LAMMPS can tilt a cell only if it has seen it tilted.
std::string kind(const Configuration& frame) {
  const Mat3 rows = product(frame.box.rows(), rotation(frame.box.rows()));
  const double tiny = 1e-12 * frame.box.width(0);
  return std::abs(rows[3]) + std::abs(rows[6]) + std::abs(rows[7]) > tiny ? "tilted" : "straight";
}

ipi::Positions sent(const Configuration& frame) {
  const Mat3 q = rotation(frame.box.rows());
  ipi::Positions turned{product(frame.box.rows(), q), frame.positions};
  for (auto& position : turned.positions) {
    const Vec3 x = position;
    for (int l = 0; l < 3; ++l) position[l] = x[0] * q[l] + x[1] * q[3 + l] + x[2] * q[6 + l];
  }
  return turned;
}

/// `fix ipi` sends the upper triangle of the virial alone.
ipi::Forces received(const Configuration& frame, ipi::Forces found) {
  auto& w = found.virial;
  w[3] = w[1];
  w[6] = w[2];
  w[7] = w[5];
  turn_back(frame.box, found.forces, w);
  return found;
}

/// The numbers with which `fix ipi` goes from LAMMPS's units to atomic ones.
ipi::Units units(const std::string& text) {
  constexpr double bohr = 0.52917721, boltzmann = 3.1668152e-6;  // (hartree/K)
  constexpr double metal = 8.617343e-5, real = 0.0019872067;     // (eV/K, kcal/mol/K)
  ipi::Units units;
  units.bohr = bohr;
  units.hartree = units_of(text, "the template") == "real" ? real / boltzmann * unit_factor("kcal/mol", "eV")
                                                           : metal / boltzmann;
  return units;
}

/// The numbers of the line "quintet ... end".
std::array<double, 8> read_numbers(const std::string& path) {
  std::ifstream file(path);
  QUINTET_CHECK(file.good(), "LAMMPS wrote no {}: it did not come to {{{{label}}}}", numbers_file);
  std::string word;
  std::array<double, 8> values;
  file >> word;
  for (double& value : values) {
    QUINTET_CHECK(static_cast<bool>(file >> word), "{} is cut off", numbers_file);
    value = text::to_double(word, numbers_file, "a result");
  }
  QUINTET_CHECK(file >> word && word == "end", "{} is cut off", numbers_file);
  return values;
}

std::vector<Vec3> read_forces(const std::string& path, std::size_t n_atoms, const std::vector<int>& types) {
  std::ifstream file(path);
  QUINTET_CHECK(file.good(), "LAMMPS wrote no {}", forces_file);
  for (std::string line; std::getline(file, line) && !line.starts_with("ITEM: ATOMS");) {
  }
  std::vector<Vec3> forces;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::size_t id = 0;
    int type = 0;
    std::array<std::string, 3> f;
    QUINTET_CHECK(static_cast<bool>(words >> id >> type >> f[0] >> f[1] >> f[2]), "{} is cut off at '{}'",
                  forces_file, line);
    QUINTET_CHECK(id == forces.size() + 1 && id <= n_atoms && type == types[id - 1] + 1,
                  "{} has atom {} of type {} where atom {} belongs", forces_file, id, type,
                  forces.size() + 1);
    Vec3 force;
    for (int k = 0; k < 3; ++k) force[k] = text::to_double(f[k], forces_file, "a force");
    forces.push_back(force);
  }
  QUINTET_CHECK(forces.size() == n_atoms, "{} has {}, expected {}", forces_file,
                counted(forces.size(), "atom"), n_atoms);
  return forces;
}

Configuration read(const std::string& folder, Configuration frame) {
  const std::string script = folder + "/" + input_file;
  const bool real = units_of(read_text_file(script), script) == "real";
  const double energy = real ? parse_quantity("1 kcal/mol", "eV") : 1.0;
  const double pressure = real ? parse_quantity("1 atm", "eV/angstrom^3") : 1 / units::ev_per_a3_to_bar;
  const auto numbers = read_numbers(folder + "/" + numbers_file);
  const bool periodic = frame.box.periodic()[0] && frame.box.periodic()[1] && frame.box.periodic()[2];
  QUINTET_CHECK(!periodic || std::abs(numbers[1] / frame.box.volume() - 1) < 1e-6,
                "LAMMPS's cell has a volume of {} angstrom^3, the frame's {}", numbers[1],
                frame.box.volume());
  frame.energy = numbers[0] * energy;
  frame.forces = read_forces(folder + "/" + forces_file, frame.n_atoms(), frame.types);

  const double scale = pressure * numbers[1];
  const double xx = numbers[2] * scale, yy = numbers[3] * scale, zz = numbers[4] * scale,
               xy = numbers[5] * scale, xz = numbers[6] * scale, yz = numbers[7] * scale;
  Mat3 virial{xx, xy, xz, xy, yy, yz, xz, yz, zz};
  for (auto& force : frame.forces)
    for (double& component : force) component *= energy;
  turn_back(frame.box, frame.forces, virial);
  frame.virial = virial;
  return frame;
}

}  // namespace

const LabelRecipe& lammps_recipe() {
  static const LabelRecipe recipe{
      "LAMMPS",
      "lmp -in in.lammps -log none",
      "install LAMMPS (Debian: apt install lammps) or say what starts it with --command, such "
      "as 'mpirun -n 4 lmp -in in.lammps -log none'",
      check,
      write,
      read,
      {units, write_driver, kind, sent, received, nullptr}};
  return recipe;
}

}  // namespace quintet::dpmd
