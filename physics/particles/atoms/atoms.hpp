#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "physics/kernels/execution.hpp"
#include "physics/particles/atoms/box.hpp"

namespace quintet {

struct Atoms;
class ResidentAtoms;

/// Rows of numbers that ghosts copy from their owners, for force fields whose atoms need to know more of
/// their neighbours than where they are.
class GhostRows {
 public:
  virtual ~GhostRows() = default;
  /// Give every ghost its owner's row of an array [n_local + n_ghost, width]. Collective.
  virtual void send_rows(const Exec& exec, const Atoms& atoms, double* rows, int width) = 0;
};

/// The atoms of this rank: n_local that it owns, then n_ghost copies of neighbours' (or of its own, periodic
/// images).
///
/// Views have room for `capacity()` rows and grow by reallocation, so hold `Atoms&`, not copies of its Views.
/// Internal units: angstrom, ps, eV, amu.
struct Atoms {
  Box box;
  std::vector<std::string> type_names;
  std::vector<double> masses;  ///< [n_types] (amu)
  std::int64_t n_global = 0;   ///< atoms of all ranks
  int n_local = 0;
  int n_ghost = 0;

  /// [n_local + n_ghost, 3] (angstrom); local ones wrapped into the box (its periodic directions) at each
  /// rebuild.
  Vectors position;
  Vectors velocity;        ///< [n_local, 3] (angstrom/ps)
  Vectors force;           ///< [n_local + n_ghost, 3] (eV/angstrom)
  Array<int> type;         ///< [n_local + n_ghost]
  Array<std::int64_t> id;  ///< [n_local + n_ghost], from 1
  /// [n_local, 3] periodic crossings; unwrapped position = position + sum_k image_k row_k.
  Kokkos::View<int* [3], Kokkos::LayoutRight, Memory> image;
  /// [n_local, n_parameters()] numbers of an atom that models read (aparam) and nothing changes.
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> parameters;

  /// Where steps move them, if that is the memory of a device: the Views above are then as old as the last
  /// at_home() or bring_home() (physics/particles/device).
  std::shared_ptr<ResidentAtoms> resident;
  /// How ghosts come by what their owners know; empty where nobody has made ghosts on the host.
  std::shared_ptr<GhostRows> ghost_rows;

  [[nodiscard]] int n_all() const { return n_local + n_ghost; }
  [[nodiscard]] int n_parameters() const { return static_cast<int>(parameters.extent(1)); }
  [[nodiscard]] std::size_t capacity() const { return position.extent(0); }
  /// Room for n rows in all Views; contents kept.
  void reserve(std::size_t n);
};

/// Most rows of Atoms on a rank: 3 numbers a row, and some to spare, are counted by 32-bit integers in
/// kernels. What counts neighbours, or atoms of all ranks, has 64 bits.
inline constexpr std::int64_t most_rows = std::numeric_limits<int>::max() / 4;
/// Throws ResourceError for more atoms and ghosts than most_rows on a rank.
void require_fit(std::int64_t n_rows);

/// Neighbours of the local atoms within cutoff + skin, every pair twice (full list), as compressed rows.
struct NeighbourList {
  double range = 0;  ///< cutoff + skin (angstrom)
  /// Atoms that are within any cutoff now, up to the ghosts', were within cutoff + skin of each other when
  /// the list was made (angstrom).
  double skin = 0;
  Array<std::size_t> offset;  ///< [n_local + 1]
  /// [offset(n_local)] index of a local or ghost atom; within a row ordered by type, then by cell order.
  Array<int> neighbour;
  /// [n_local + n_ghost, 3] (angstrom) where the atoms were when the list was made.
  Vectors built;
  /// Number of this build of the list, different for each build; 0: never built. Force fields with lists of
  /// their own rebuild them when it changes.
  std::uint64_t version = 0;
};

}  // namespace quintet
