#pragma once

#include <string>

#include "apps/quintet/lammps/host.hpp"
#include "io/log/error.hpp"

namespace quintet::lammps {

/// What two atoms said.
struct TwoAtoms {
  double energy = 0;  ///< (eV)
  double slope = 0;   ///< largest |F + dE/dx| over the largest force (1)
  double virial = 0;  ///< largest |W - d F| over the largest d F (1)
};

/// LAMMPS lacks a function of its own by the name that the plugin calls it.
class MissingFunction : public InputError {
 public:
  using InputError::InputError;
};

/// Run LAMMPS on two atoms with a new plugin, and compare their forces with slopes of the energy and the
/// virial with the forces; the plugin learns which LAMMPS it belongs to.
///
/// @param folder of the plugin; files of the check go there and stay where it fails. Throws InputError if
/// LAMMPS fails or the numbers do not agree, MissingFunction if it cannot load the plugin.
[[nodiscard]] TwoAtoms check_two_atoms(const Host& host, const std::string& folder,
                                       const std::string& plugin);

}  // namespace quintet::lammps
