#pragma once

#include "physics/particles/observables/observables_correlation.hpp"

namespace quintet {

/// Velocity autocorrelation C(t) = <v(0).v(t)> of each type and the vibrational spectrum, its cosine
/// transform.
///
/// The spectrum of a type is normalised to 1 over frequency, and so is `total`, the mass-weighted sum over
/// all atoms; `states` is 3N times that, the density of vibrational states of a harmonic solid:
///
///     g(f) = 4/(k_B T) sum_i m_i integral_0^inf <v_i(0) . v_i(t)> cos(2 pi f t) dt,  integral g df = 3N
///
/// with k_B T from the same velocities, all zero where nothing moves. Source: Lin, Blanco & Goddard 2003,
/// J. Chem. Phys. 119, 11792.
class VelocityAutocorrelation : public Observer {
 public:
  VelocityAutocorrelation(const VacfOptions& options, double dt);
  [[nodiscard]] std::string name() const override { return "vacf"; }
  [[nodiscard]] std::vector<Table> tables() const override;
  void save(hdf5::Group& group) const override { correlation_.save(group); }
  void restore(const Comm& comm, const hdf5::Group& group) override { correlation_.restore(comm, group); }

 protected:
  void sample(const Exec& exec, const Atoms& atoms, const Domain& domain) override;

 private:
  [[nodiscard]] std::vector<double> mass_weighted_total() const;

  double sample_time_;  ///< (ps)
  TimeCorrelation correlation_;
};

}  // namespace quintet
