#pragma once

#include <memory>
#include <string>

#include "physics/kinetics/collisions/collision_moments.hpp"

namespace quintet::kinetics {

/// Relaxation of f to its Maxwellian in all of phase space: Bgk on the host, another where f is resident.
class RelaxationSweep {
 public:
  virtual ~RelaxationSweep() = default;
  /// Whether it takes moments, rates and gains that are where f is (CollisionEngines::exchange()); else those
  /// that it is called with.
  [[nodiscard]] virtual bool works_there() const { return false; }
  /// out += weight * C(f), A in component 0 of `rate`, the moments of f in `moments`. Local: nothing is
  /// communicated. Throws NumericalError where density or vth^2 are not positive.
  virtual void apply(const Exec& exec, const Distribution& f, const CollisionMoments& moments,
                     const MomentGain& gain, const ConfField& rate, const std::string& species, double weight,
                     const Distribution& out) = 0;
  /// f <- f + (1 - exp(-A dt)) (M - f): relaxation for a time dt without any gain, during which M and A stay.
  /// A is the matrix of the weak product, so all moments that A (M - f) keeps are kept. Throws as apply()
  /// does.
  virtual void relax(const Exec& exec, const Distribution& f, const CollisionMoments& moments,
                     const ConfField& rate, const std::string& species, double dt) = 0;
  /// Let frequency() return that of these rates, without an apply().
  virtual void bound(const ConfField& rate) = 0;
  /// Rate of the last apply() or bound() as in LenardBernstein::frequency(): SSP-RK3 bears A dt = 2.51.
  [[nodiscard]] virtual double frequency() const = 0;
};

/// Bhatnagar-Gross-Krook operator of one species, C(f) = A (M - f). M is one Maxwellian (between species:
/// Andries, Aoki & Perthame, J. Stat. Phys. 106, 993 (2002)); its weak moments M0, M1 and M2 are such that
/// the discrete operator changes those of f by the given gain and by nothing else:
///
///     W(A) (M0[M] - M0[f]) = 0,   W(A) (M1_d[M] - M1_d[f]) = gain_d,   W(A) (M2[M] - M2[f])/2 = gain_vdim
///
/// M is projected at p + 1 Gauss points of x, from n, u and vth^2 there, as a product of one-dimensional
/// projections in v (vth must not be much below dv). The moments of the projection are off by its error, so
/// sum_j lambda_j(x) s_j(v) G(v) is added, G a Maxwellian of the mean state and s_j = 1, (v_d - u_d)/vth,
/// sum_d (v_d - u_d)^2/vth^2 - vdim: one small system of equations a configuration mode.
class Bgk final : public RelaxationSweep {
 public:
  Bgk(const PhaseBasis& basis, const PhaseBlock& block, bool uniform_rate);
  ~Bgk() override;
  Bgk(const Bgk&) = delete;

  void apply(const Exec& exec, const Distribution& f, const CollisionMoments& moments, const MomentGain& gain,
             const ConfField& rate, const std::string& species, double weight,
             const Distribution& out) override;
  void relax(const Exec& exec, const Distribution& f, const CollisionMoments& moments, const ConfField& rate,
             const std::string& species, double dt) override;
  void bound(const ConfField& rate) override;
  [[nodiscard]] double frequency() const override;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::kinetics
