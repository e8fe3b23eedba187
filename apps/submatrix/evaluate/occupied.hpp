#pragma once

#include <optional>

#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/input/basis.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

/// Whether a step function fills the orbitals that the user means.
namespace quintet::submatrix {

/// Constraint on the occupied orbitals of a spin.
struct Held {
  std::optional<double> n_pairs;  ///< their number; absent: all below a given mu, or shared by the spins
  bool electrons = false;         ///< a number of electrons was given, of this spin or of both
  double temperature = 0;         ///< (K); nothing is asked above 0
  double least_gap = 0.005;       ///< (hartree)
  bool guessed_unit = false;      ///< nobody named K's unit: it was taken for hartree
};

/// Find HOMO and LUMO of the whole matrix with their errors for `evaluation` (NaN at a temperature: levels at
/// mu are partly full), then check it as check_occupied() does. Throws InputError also where P has another
/// number of orbitals than the number that is held, or than lie below mu. Collective.
void find_levels(Evaluation& evaluation, const Basis& basis, const electronic::SubmatrixResult& sign,
                 const Held& held, DeviceProducts* device = nullptr);

/// Throws InputError at a chemical potential inside a band, and at a number of electrons that the submatrices
/// cannot distinguish from others; where K's unit was guessed also at a gap above 1 hartree, which no valence
/// electrons have (the largest ionisation energy of an atom is helium's, 0.90 hartree): K is in eV or Ry.
void check_occupied(const Evaluation& evaluation, const Held& held);

}  // namespace quintet::submatrix
