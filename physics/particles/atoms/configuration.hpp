#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/atoms/box.hpp"

namespace quintet {

/// Atoms as read from or written to a file: plain host arrays, whole on one rank.
struct Configuration {
  Box box;
  std::vector<std::string> type_names;  ///< "O", "H", ...; types index into it
  std::vector<int> types;               ///< [n_atoms]
  std::vector<Vec3> positions;          ///< [n_atoms, 3] (angstrom), may lie outside the box
  std::vector<std::int64_t> ids;        ///< [n_atoms], unique, from 1; empty: 1..n in order
  std::vector<double> masses;           ///< [n_types] (amu); empty: from the element table by name
  std::vector<Vec3> velocities;         ///< [n_atoms, 3] (angstrom/ps) or empty
  std::optional<double> energy;         ///< reference label (eV)
  std::vector<Vec3> forces;             ///< reference labels (eV/angstrom) or empty
  std::optional<Mat3> virial;           ///< reference label (eV)
  [[nodiscard]] std::size_t n_atoms() const { return positions.size(); }
};

/// The configuration repeated n[0] x n[1] x n[2] times along its rows (ids renumbered, order: whole copies, x
/// slowest). Open directions must not be repeated. Throws InputError.
[[nodiscard]] Configuration replicated(const Configuration& configuration, const std::array<int, 3>& n);
/// Standard atomic mass (amu) of an element symbol ("Cu"); throws InputError with a suggestion if unknown.
[[nodiscard]] double atomic_mass(const std::string& symbol);
/// Atomic number of an element symbol ("Cu": 29; D and T are hydrogen); throws InputError with a suggestion
/// if unknown.
[[nodiscard]] int atomic_number(const std::string& symbol);

}  // namespace quintet
