#pragma once

#include "physics/particles/observables/heat/block_correlation.hpp"
#include "physics/particles/observables/heat/heat_current.hpp"
#include "physics/particles/observables/observables_options.hpp"

namespace quintet {

/// Autocorrelation of the heat current and thermal conductivity by Green and Kubo,
///
///     kappa_kk(t) = 1/(V k_B T^2) integral_0^t <J_k(0) J_k(s)> ds,
///
/// by the trapezoidal rule, T from the same velocities. J is that of heat_flow() in the frame of the centre
/// of mass. The energy of a type that counts as none is the mean of its atoms in the first sample: a constant
/// of each type changes no conductivity where types do not diffuse past one another, but would hide J.
///
/// The conductivity is the mean of kappa(t) over t >= plateau_start * longest t; standard errors are those of
/// means of blocks of the run. A sample costs one evaluation of the force field with virials of atoms.
class ThermalConductivity : public Observer {
 public:
  /// The field must outlive the observer; its virials of atoms must be those of heat_flow().
  ThermalConductivity(const HeatCurrentOptions& options, double dt, ForceField& field);
  [[nodiscard]] std::string name() const override { return "heat_current"; }
  [[nodiscard]] std::vector<Table> tables() const override;
  [[nodiscard]] std::vector<Scalar> scalars() const override;
  void save(hdf5::Group& group) const override;
  void restore(const Comm& comm, const hdf5::Group& group) override;
  /// J of the last sample (eV angstrom/ps), the same on all ranks.
  [[nodiscard]] const Vec3& current() const { return current_; }

 protected:
  /// Throws InputError if the cell has an open direction, or for a single atom: neither conducts.
  void sample(const Exec& exec, const Atoms& atoms, const Domain& domain) override;

 private:
  /// Components of tensors that are kept: xx, yy, zz, and their mean.
  enum Part { xx, yy, zz, mean };
  [[nodiscard]] double temperature() const;  ///< (K)
  [[nodiscard]] std::vector<double> correlation(Part part) const;
  [[nodiscard]] std::vector<double> integral(const std::vector<double>& correlation) const;
  [[nodiscard]] std::vector<std::vector<double>> block_integrals(Part part) const;
  [[nodiscard]] double plateau(const std::vector<double>& integral) const;
  [[nodiscard]] Table conductivities() const;

  HeatCurrentOptions options_;
  double sample_time_;  ///< (ps)
  ForceField& field_;
  AtomShares shares_;
  BlockCorrelation correlation_;
  Vec3 current_{};
  std::vector<double> zero_;  ///< [n_types] energy that counts as none (eV)
  std::int64_t n_atoms_ = 0;
  double volume_ = 0;       ///< (angstrom^3)
  double kinetic_sum_ = 0;  ///< over samples, in the frame of the centre of mass (eV)
};

}  // namespace quintet
