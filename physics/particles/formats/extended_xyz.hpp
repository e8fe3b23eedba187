#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/formats/extended_xyz_labels.hpp"

namespace quintet {

/// Options for what an extended XYZ file leaves open.
struct ExtendedXyzInput {
  LabelSource labels{};
  /// Periodicity of frames without pbc; frames that have pbc must agree with it.
  std::optional<std::array<bool, 3>> periodic{};
  int n_atom_parameters = 0;  ///< columns of `aparam`; 0: they are not read; any_number: those there are
};

/// Read frames of an extended XYZ file (as ASE and OVITO write them) or a plain XYZ file.
///
/// A frame is a line with the number of atoms, a comment line of `key=value`, then a line an atom. Keys read,
/// without regard to case: `Lattice` (nine numbers, rows a b c, angstrom), `pbc` ("T T F"; absent: all true
/// with a lattice, all false without), `Origin` (angstrom), `energy` (eV), `virial` (nine, rows, eV) or
/// `stress` (nine or six in Voigt order xx yy zz yz xz xy, eV/angstrom^3, tension positive: virial = -volume
/// * stress), `Properties`
/// (`name:S|R|I|L:columns:...`; absent: species, pos and whatever follows is ignored). Columns read:
/// `species`, `pos` (angstrom), `id`, `forces` or `force` (eV/angstrom), `velocities` (angstrom/ps),
/// `momenta` (ASE's sqrt(amu eV); beside velocities they must say the same), `velo`, `vel`, `velocity`
/// (angstrom/ps or angstrom/fs, found out by the temperature), `mass` or `masses` (amu, equal for all atoms
/// of a type), `aparam` (numbers that a model reads) if asked for. Labels may also be called `REF_...`,
/// `DFT_...` or `MACE_...` (LabelSource), the energy `TotEnergy`, `total_energy` or `free_energy`, the virial
/// `virials`; a stress of a cell with an open direction does not count as a label. What was assumed, and
/// columns and keys that are not used, stand in the frame's `reading`. Without a lattice all directions are
/// open and the box is the atoms' extent with a margin of 1 angstrom.
///
/// @param frame which frame, from 0; negative ones count from the end (-1: the last); none: all.
/// Throws InputError with file:line, also if the frame does not exist.
[[nodiscard]] std::vector<Configuration> read_extended_xyz(const std::string& path,
                                                           std::optional<std::int64_t> frame = 0,
                                                           const ExtendedXyzInput& input = {});

/// Data that write_extended_xyz() adds to a configuration.
struct ExtendedXyzOptions {
  bool append = false;                      ///< after the frames that are there
  std::span<const double> atom_energies{};  ///< [n_atoms] (eV) or empty; column `energies`
  std::string keys{};                       ///< more for the comment line: "step=100 time=0.2"
  /// Atoms of the frame, of which the configuration is the first part; none: it is the frame.
  std::optional<std::int64_t> n_frame{};
  bool continues = false;  ///< a later part of the frame last written: atoms alone, appended
};

/// Write one frame with 17 significant digits: everything that the configuration holds, read back equal to
/// the bit; and what ASE knows instead: momenta beside velocities (with masses), stress beside a virial.
/// Throws ResourceError if the file cannot be written.
void write_extended_xyz(const std::string& path, const Configuration& configuration,
                        const ExtendedXyzOptions& options = {});

}  // namespace quintet
