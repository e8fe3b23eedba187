#pragma once

#include <optional>

#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/input/basis.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

/// Whether a step function fills the orbitals that the user means.
namespace quintet::submatrix {

/// What the occupied orbitals of a spin must be.
struct Held {
  std::optional<double> n_pairs;  ///< so many; none: those below a given mu, or shared with the other spin
  bool electrons = false;         ///< their number was given, of this spin or of both
  double temperature = 0;         ///< (K); nothing is asked above 0
  double least_gap = 0.005;       ///< (hartree)
};

/// To `evaluation` go HOMO and LUMO of the whole matrix with their errors (NaN at a temperature: levels at mu
/// are partly full), and it is checked as by check_occupied(). Throws InputError also where P has another
/// number of orbitals than is held or than lie below mu. Collective.
void find_levels(Evaluation& evaluation, const Basis& basis, const electronic::SubmatrixResult& sign,
                 const Held& held);

/// Throws InputError at a chemical potential inside a band, and at a number of electrons that the submatrices
/// do not tell from others.
void check_occupied(const Evaluation& evaluation, const Held& held);

}  // namespace quintet::submatrix
