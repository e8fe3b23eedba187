#pragma once

#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet::dpmd::ipi {

/// What a server does not say: types and boundaries, by the number of atoms.
class Structures {
 public:
  /// Take frames, with the model's types, of a file. Throws InputError if one with as many atoms, but in
  /// another order or with other boundaries, is there.
  void add(const std::vector<Configuration>& frames, const std::string& file);
  /// Throws InputError unless a structure has so many atoms.
  void require(int n_atoms) const;
  /// The structure of so many atoms with these positions; in the cell of `rows` (angstrom) where any
  /// direction is periodic, else in a box around them. Throws InputError for a cell that cannot be.
  [[nodiscard]] Configuration placed(const Mat3& rows, std::vector<Vec3> positions) const;
  [[nodiscard]] std::string sizes() const;  ///< "96 or 192"

 private:
  struct Known {
    Configuration frame;
    std::string file;
  };
  [[nodiscard]] const Known* find(std::size_t n_atoms) const;
  std::vector<Known> known_;
};

}  // namespace quintet::dpmd::ipi
