#include "apps/quintet/lammps/two_atoms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "apps/quintet/lammps/sources.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/machine/command.hpp"

namespace quintet::lammps {

namespace fs = std::filesystem;

namespace {

using Vector = std::array<double, 3>;
constexpr Vector apart{1.3, 0.4, 0.2};  ///< (angstrom)
constexpr double step = 1e-5;           ///< (angstrom)
constexpr std::size_t n_looks = 10;
/// Energy (eV), force on the second atom (eV/angstrom), virial times nktv2p (eV bar angstrom^3/eV): xx yy zz
/// xy xz yz.
using Look = std::array<double, 10>;

/// One line of numbers for each place of the second atom: the first, then along each direction.
std::string input(const std::string& plugin) {
  const std::string look =
      "run 0\nprint \"two_atoms $(pe:%.17g) $(fx[2]:%.17g) $(fy[2]:%.17g) $(fz[2]:%.17g) "
      "$(c_virial[1]*vol:%.17g) $(c_virial[2]*vol:%.17g) $(c_virial[3]*vol:%.17g) $(c_virial[4]*vol:%.17g) "
      "$(c_virial[5]*vol:%.17g) $(c_virial[6]*vol:%.17g)\"\n";
  std::string text = fmt::format(R"(units metal
atom_modify map yes
region box block 0 20 0 20 0 20
create_box 2 box
create_atoms 1 single 9 9 9
create_atoms 2 single {} {} {}
mass * 1
plugin load {}
pair_style quintet two_atoms.json precision double
pair_coeff * * A B
neigh_modify delay 0 every 1 check no
compute virial all pressure NULL virial
group second id 2
thermo_style custom step pe c_virial[1] c_virial[2] c_virial[3] c_virial[4] c_virial[5] c_virial[6]
{})",
                                 9 + apart[0], 9 + apart[1], 9 + apart[2], plugin, look);
  for (std::size_t k = 0; k < 3; ++k)
    for (const double move : {step, -2 * step, step}) {  // there, to the other side, and back
      Vector by{};
      by[k] = move;
      text += fmt::format("displace_atoms second move {} {} {}\n{}", by[0], by[1], by[2], look);
    }
  return text;
}

std::vector<Look> looks_of(const std::string& printed) {
  std::vector<Look> found;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string head;
    Look look{};
    if (!(words >> head) || head != "two_atoms") continue;
    for (double& value : look) words >> value;
    if (words) found.push_back(look);
  }
  return found;
}

/// Throws MissingFunction where LAMMPS says that it cannot load the plugin for want of one of its own.
void require_loaded(const Host& host, const std::string& printed) {
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);)
    if (line.find("undefined symbol: _ZN9LAMMPS_NS") != std::string::npos)
      throw MissingFunction(
          fmt::format("LAMMPS {} cannot load the new plugin. Are {} the headers of this LAMMPS? It says: {}",
                      host.version, host.headers, line));
}

/// Forces beside slopes of the energy, the virial beside the forces.
TwoAtoms compared(const std::vector<Look>& looks) {
  constexpr double nktv2p = 1.6021765e6;  // of units metal
  const auto& first = looks.front();
  const Vector force{first[1], first[2], first[3]};
  TwoAtoms found{first[0], 0, 0};
  double largest = 0, largest_product = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    largest = std::max(largest, std::abs(force[k]));
    const double slope = (looks[3 * k + 1][0] - looks[3 * k + 2][0]) / (2 * step);
    found.slope = std::max(found.slope, std::abs(force[k] + slope));
  }
  constexpr std::array<std::array<std::size_t, 2>, 6> pairs{{{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};
  for (std::size_t c = 0; c < pairs.size(); ++c) {
    const double product = apart[pairs[c][0]] * force[pairs[c][1]];
    largest_product = std::max(largest_product, std::abs(product));
    found.virial = std::max(found.virial, std::abs(first[4 + c] / nktv2p - product));
  }
  found.slope /= largest;
  found.virial /= largest_product;
  return found;
}

}  // namespace

TwoAtoms check_two_atoms(const Host& host, const std::string& folder, const std::string& plugin) {
  constexpr double patience_s = 300, tolerance = 1e-5;  // of a central difference with this step
  const std::string script = folder + "/in.two_atoms";
  write_text_file(folder + "/two_atoms.json", lammps_sources::model);
  write_text_file(script, input(plugin));
  const auto done =
      run_command({"env", "-C", folder, "QUINTET_PLUGIN_LEARNS_HOST=1", "OMP_NUM_THREADS=1",
                   fs::absolute(host.program).string(), "-in", script, "-log", "none"},
                  patience_s, [](std::string_view name) { return name == "LAMMPS_PLUGIN_PATH"; });
  const auto looks = looks_of(done.out);
  require_loaded(host, done.out);
  const auto failed = [&](const std::string& what) {
    return InputError(fmt::format(
        "two atoms in LAMMPS {} with the new plugin: {}. Are {} the headers of this LAMMPS? Its last words: "
        "{} "
        "({})",
        host.version, what, host.headers, last_line(done.errors.empty() ? done.out : done.errors), script));
  };
  if (!done.good())
    throw failed(done.code > 128 ? fmt::format("signal {}", done.code - 128)
                                 : fmt::format("exit code {}", done.code));
  if (looks.size() != n_looks) throw failed(fmt::format("{} of {} results", looks.size(), n_looks));
  const TwoAtoms found = compared(looks);
  if (!(found.slope < tolerance && found.virial < tolerance))
    throw failed(
        fmt::format("energy {} eV; the forces differ from its slopes by {:.2g} of the largest, the "
                    "virial from the forces by {:.2g}",
                    found.energy, found.slope, found.virial));
  for (const char* name : {"/in.two_atoms", "/two_atoms.json"}) fs::remove(folder + name);
  return found;
}

}  // namespace quintet::lammps
