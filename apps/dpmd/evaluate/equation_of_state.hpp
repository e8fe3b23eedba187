#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/dpmd/setup/run_options.hpp"

namespace quintet::dpmd {

/// Section `reference` of an equation of state: another method's values, printed beside ours.
struct EquationReference {
  std::string label = "reference";
  std::optional<double> lattice_constant;  ///< (angstrom)
  std::optional<double> bulk_modulus;      ///< (GPa)
  std::optional<double> energy;            ///< an atom (eV)
};
void describe(Schema& schema, EquationReference& options);

struct EquationOptions {
  SystemOptions system;
  PotentialOptions potential;
  DomainSection domain;
  double range = 0.01;  ///< largest linear strain
  int points = 11;
  double force_tolerance = 0.02;  ///< at the minimum (eV/angstrom)
  bool relax = false;
  std::int64_t relax_steps = 1000;
  EquationReference reference;
};
void describe(Schema& schema, EquationOptions& options);

/// `dpmd equation_of_state`: energy of the cell scaled about its own size, and the Birch-Murnaghan fit to it:
///   E(V) = E0 + 9/16 B0 V0 [ (x^2 - 1)^3 B' + (x^2 - 1)^2 (6 - 4 x^2) ],  x = (V0/V)^(1/3)
/// (Birch 1947, Phys. Rev. 71, 809). The scale of least energy is found first, so that any near cell will do.
/// With `relax` the positions come to rest at each volume, each from those at the scale of least energy: E(V)
/// is then that of the crystal with all its internal coordinates free, in a cell of this shape.
void equation_of_state(Context& context, const EquationOptions& options);

}  // namespace quintet::dpmd
