#pragma once

#include <memory>
#include <string>
#include <vector>

#include "physics/particles/domain/domain.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"

namespace quintet::potential {

/// Forces of rounded products beside those in double, over all atoms and components.
struct PrecisionError {
  double force_rmse = 0;     ///< sqrt(mean (F - F_double)^2) (eV/angstrom)
  double force_rms = 0;      ///< sqrt(mean F_double^2) (eV/angstrom)
  double force_largest = 0;  ///< |F - F_double| (eV/angstrom)
  double energy = 0;         ///< (E - E_double) an atom (eV)

  static constexpr double bound = 0.01;  ///< of force_rmse over force_rms
  static constexpr double least_bound =
      0.001;  ///< (eV/angstrom), where forces vanish as in a perfect crystal
  /// force_rmse <= max(bound force_rms, least_bound); false for NaN.
  [[nodiscard]] bool accurate() const;
  /// force_rmse over force_rms; 0 where forces vanish (below least_bound).
  [[nodiscard]] double relative() const;
  /// "force rmse 3.1e-04 eV/angstrom, 0.038 % of their rms".
  [[nodiscard]] std::string in_words() const;
};

/// Check of a run with rounded products (Precision::bf16): holds the reference about which they are taken,
/// and computes the forces in double.
class PrecisionCheck {
 public:
  /// @param rounded the field to be checked; must outlive this
  PrecisionCheck(DeepPotential& rounded, const DeepPotentialOptions& options);

  /// Take products about the mean descriptor of each type, of these atoms on all ranks. Collective.
  void take_reference(const Exec& exec, const Comm& comm, const Atoms& atoms, const NeighbourList& list);
  /// Take products about a given reference. Throws InputError if it does not belong to the model.
  void set_reference(std::vector<double> descriptors);
  /// [n_types, entries], for checkpoints.
  [[nodiscard]] const std::vector<double>& reference() const { return reference_; }

  /// Errors at the present positions. Collective; one evaluation in either precision. The atoms are left as
  /// they were, to the bit.
  PrecisionError measure(const Exec& exec, Atoms& atoms, const Domain& domain);

 private:
  DeepPotential& rounded_;
  DeepPotential exact_;
  std::vector<double> reference_;
};

}  // namespace quintet::potential
