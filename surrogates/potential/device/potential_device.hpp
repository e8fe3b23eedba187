#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "io/device/factory.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "surrogates/potential/device/device_model.hpp"

namespace quintet::potential {

/// Totals of an evaluation, and its errors.
struct DeviceTotals {
  double energy = 0;               ///< (eV)
  std::array<double, 9> virial{};  ///< as Energetics has it (eV)
  int overflowing = 0;             ///< atoms with more neighbours than sel holds
  int too_close =
      -1;  ///< index of an atom with a neighbour nearer than the model's polynomials reach; -1: none
  int too_strong = -1;  ///< index of an atom with forces of pairs beyond the range of the sums; -1: none
};

/// The atoms of a rank as the host has them: local ones first, then ghosts.
struct DeviceAtoms {
  int n_local = 0, n_all = 0;
  const double* position = nullptr;  ///< [n_all, 3] (angstrom)
  const int* type = nullptr;         ///< [n_all]
};

/// Deep Potential on the execution space that this was compiled for: a GPU, or the host's cores.
///
/// Atoms are evaluated by type in chunks. Neighbours enter through moments (SpectralLayout), so that
/// embedding and fitting networks are matrix products. Forces are summed in whole numbers of 2^-44
/// eV/angstrom: results do not depend on the order of the sum, and a rank's forces on its atoms and ghosts
/// sum to zero. Has neighbour lists of its own. Nothing of Kokkos is in this interface, so that a library of
/// another compiler may stand behind it.
class DevicePotential {
 public:
  virtual ~DevicePotential() = default;
  /// List the neighbours within `range` (angstrom) of the atoms where they are; again after each change of
  /// number, order or types of the atoms, and when one has moved too far.
  virtual void build(const DeviceAtoms& atoms, double range) = 0;
  /// Energy and virial of the local atoms, forces `[n_all, 3]` (eV/angstrom) on local and ghost atoms.
  ///
  /// @param position `[n_all, 3]` (angstrom) of the atoms of the last build()
  /// @param atom_energy `[n_local]` (eV) or nullptr
  /// @param atom_virial `[n_all, 9]` (eV), see ByAtom, or nullptr
  virtual DeviceTotals compute(const double* position, double* force, double* atom_energy,
                               double* atom_virial) = 0;
  /// List neighbours and compute as above for atoms on the device; build() again after each
  /// ResidentAtoms::take(). Forces are added up by owner in `rows.force`, which is cleared before; they stay
  /// there.
  virtual void build(const ResidentRows& rows, double range) = 0;
  virtual DeviceTotals compute(const ResidentRows& rows) = 0;
  /// Atoms evaluated at once.
  virtual void set_chunk(int atoms) = 0;
  /// Time the stages, waiting for each: for benchmarks.
  virtual void set_timing(bool on) = 0;
  [[nodiscard]] virtual std::map<std::string, double> timings() const = 0;  ///< (s) so far
  /// Where it runs and how, for the log.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Bytes now held for atoms and lists, and for the temporaries of a chunk.
  [[nodiscard]] virtual std::array<std::size_t, 2> bytes() const = 0;
};

}  // namespace quintet::potential

/// @param single float32 networks with float64 coordinates and sums, else float64
QUINTET_DEVICE_FACTORY quintet::potential::DevicePotential* quintet_make_device_potential(
    const quintet::potential::DeviceModel& model, bool single);
