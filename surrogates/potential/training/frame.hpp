#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet::potential {

/// Frames of one composition: the atoms' types (of the model) are the same and in the same order in all.
struct LabelledSystem {
  std::string name;  ///< where it came from, for messages
  std::vector<Configuration> frames;
  [[nodiscard]] std::size_t n_atoms() const { return frames.front().n_atoms(); }
};

/// One labelled configuration ready for the model: its atoms, their images within the cutoff, and who is
/// whose neighbour. Built once and kept: atoms do not move in training.
struct TrainingFrame {
  int n_atoms = 0;                  ///< rows 0 .. n_atoms-1 are the atoms themselves, later ones images
  std::vector<int> type;            ///< [n_all] of the model
  std::vector<double> position;     ///< [n_all, 3] (angstrom)
  std::vector<double> parameters;   ///< [n_atoms, n] that the model reads of each atom (aparam)
  std::vector<int> owner;           ///< [n_all] the atom a row is an image of (itself for atoms)
  std::vector<std::size_t> offset;  ///< [n_atoms + 1]
  std::vector<int> neighbour;       ///< rows within the cutoff of each atom, ordered by type
  double least_distance = 0;        ///< between any two rows that are neighbours (angstrom)
  std::optional<double> energy;     ///< label (eV)
  std::vector<double> force;        ///< label [n_atoms, 3] (eV/angstrom) or empty
  std::optional<Mat3> virial;       ///< label (eV), virial[3k+l] = sum F_k x_l
  /// Identity of the frame, as long as it lives, for those that keep something of it.
  std::shared_ptr<const int> identity = std::make_shared<int>(0);
  [[nodiscard]] std::size_t bytes() const;  ///< memory it takes
};

/// Images and neighbours of a configuration, any triclinic or open box, also one smaller than the cutoff.
/// O(n).
[[nodiscard]] TrainingFrame make_frame(const Configuration& configuration, double cutoff);

}  // namespace quintet::potential
