#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"

namespace quintet::potential {

/// Where the repulsion of nuclei acts: whole below `inner`, not at all beyond `outer`.
struct RepulsionOptions {
  double inner = 0.6;  ///< (angstrom)
  double outer = 1.0;  ///< (angstrom)
};

/// What the repulsion of two types of atoms depends on.
struct NuclearPair {
  double charge = 0;            ///< Z_i Z_j e^2/(4 pi eps_0) (eV angstrom)
  double inverse_length = 0;    ///< 1/a (1/angstrom)
  double inner = 0, outer = 0;  ///< (angstrom)
};

/// The pair of two atomic numbers: a = 0.46850/(Z_i^0.23 + Z_j^0.23) angstrom.
[[nodiscard]] NuclearPair nuclear_pair(int z_i, int z_j, const RepulsionOptions& options);

/// A function of the distance and its derivative.
struct Radial {
  double value, slope;
};

/// V(r) = Z_i Z_j e^2/(4 pi eps_0 r) phi(r/a), the universal screened repulsion of two nuclei (eV,
/// eV/angstrom),
///
///   phi(x) = 0.18175 e^(-3.19980 x) + 0.50986 e^(-0.94229 x) + 0.28022 e^(-0.40290 x) + 0.02817 e^(-0.20162
///   x).
///
/// Source: Ziegler, Biersack, Littmark (1985), The Stopping and Range of Ions in Matter, vol. 1, with the
/// digits of LAMMPS's pair_style zbl.
KOKKOS_INLINE_FUNCTION Radial universal_repulsion(const NuclearPair& pair, double r) {
  constexpr double share[4] = {0.18175, 0.50986, 0.28022, 0.02817};
  constexpr double decay[4] = {3.19980, 0.94229, 0.40290, 0.20162};
  const double coulomb = pair.charge / r;
  double phi = 0, dphi = 0;
  for (int k = 0; k < 4; ++k) {
    const double term = share[k] * std::exp(-decay[k] * pair.inverse_length * r);
    phi += term;
    dphi -= decay[k] * pair.inverse_length * term;
  }
  return {coulomb * phi, coulomb * (dphi - phi / r)};
}

/// V(r) w(u), u = clip((r - inner)/(outer - inner), 0, 1), w = 1 - 10 u^3 + 15 u^4 - 6 u^5: energy, force and
/// the force's derivative are continuous at both ends.
KOKKOS_INLINE_FUNCTION Radial switched_repulsion(const NuclearPair& pair, double r) {
  if (r >= pair.outer) return {0, 0};
  const Radial whole = universal_repulsion(pair, r);
  if (r <= pair.inner) return whole;
  const double width = pair.outer - pair.inner, u = (r - pair.inner) / width;
  const double w = 1 + u * u * u * (-10 + u * (15 - 6 * u));
  const double dw = -30 * u * u * (1 - u) * (1 - u) / width;
  return {whole.value * w, whole.slope * w + whole.value * dw};
}

/// A force field with the repulsion of nuclei added: E = E_model + sum_(i<j) V(r_ij) w(r_ij).
///
/// Deep Potentials know nothing of distances shorter than their training data's; this keeps atoms apart
/// there. Beyond `outer` nothing changes, to the bit. An atom's share of a pair's energy is one half.
class Repulsion final : public ForceField {
 public:
  /// Throws InputError if a type's name is no element's symbol, or `outer` is beyond the model's cutoff.
  Repulsion(std::unique_ptr<ForceField> model, const RepulsionOptions& options);

  [[nodiscard]] double cutoff() const override { return model_->cutoff(); }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return model_->type_names(); }
  [[nodiscard]] std::string description() const override;
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;

 private:
  std::unique_ptr<ForceField> model_;
  RepulsionOptions options_;
  Array<NuclearPair> pairs_;  ///< [n_types * n_types]
};

}  // namespace quintet::potential
