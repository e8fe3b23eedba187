#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/files/reading.hpp"
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
  std::vector<double> parameters;       ///< [n_atoms, n_parameters()] that models read (aparam) or empty
  std::vector<std::uint8_t> held;       ///< [n_atoms] bit k: the file holds direction k; or empty
  std::optional<double> energy;         ///< reference label (eV)
  std::vector<Vec3> forces;             ///< reference labels (eV/angstrom) or empty
  std::optional<Mat3> virial;           ///< reference label (eV)
  Reading reading;                      ///< what the file's reader assumed and did not use
  [[nodiscard]] std::size_t n_atoms() const { return positions.size(); }
  [[nodiscard]] int n_parameters() const {
    return positions.empty() ? 0 : static_cast<int>(parameters.size() / positions.size());
  }
};

/// As many numbers of each atom as there are.
inline constexpr int any_number = -1;

/// How often a cell is repeated along its rows: 1 or more.
using Copies = std::array<int, 3>;
/// The box of n[0] x n[1] x n[2] copies side by side. Throws InputError for none, or several along an open
/// direction.
[[nodiscard]] Box replicated(const Box& box, const Copies& n);
/// Where the copy at place (i, j, k) has an atom that the cell has at x: x + i a + j b + k c (angstrom).
[[nodiscard]] inline Vec3 in_copy(Vec3 x, const Box& cell, int i, int j, int k) {
  const double place[3] = {double(i), double(j), double(k)};
  for (int r = 0; r < 3; ++r)
    for (int l = 0; l < 3; ++l) x[l] += place[r] * cell.rows()[3 * r + l];
  return x;
}
/// The configuration repeated n[0] x n[1] x n[2] times along its rows (ids renumbered, order: whole copies, x
/// slowest): atom i of a configuration of n atoms becomes i + m n in copy m = (i n[1] + j) n[2] + k. Domain
/// can share such a configuration out without it being anywhere whole. Throws InputError.
[[nodiscard]] Configuration replicated(const Configuration& configuration, const Copies& n);
/// Standard atomic mass (amu) of an element symbol ("Cu"); throws InputError with a suggestion if unknown.
[[nodiscard]] double atomic_mass(const std::string& symbol);
/// Atomic number of an element symbol ("Cu": 29; D and T are hydrogen); throws InputError with a suggestion
/// if unknown.
[[nodiscard]] int atomic_number(const std::string& symbol);

}  // namespace quintet
