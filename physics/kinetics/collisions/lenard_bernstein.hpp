#pragma once

#include <memory>
#include <string>
#include <vector>

#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

/// Coefficients of the Lenard-Bernstein operator, as fields in x: [n_conf, vdim + 2, n_conf_modes].
///
///     C(f) = sum_d d/dv_d [ (A v_d - B_d) f + D df/dv_d ],
///
/// component 0: A = nu, 1 + d: B_d = nu u_d, 1 + vdim: D = nu vth^2 (summed over the partners of a
/// collision).
using DragDiffusion = ConfField;

/// Drag and diffusion of f in all of phase space: LenardBernstein on the host, another where f is resident.
class DragDiffusionSweep {
 public:
  virtual ~DragDiffusionSweep() = default;
  /// Send the edges of this rank's velocity block to its neighbours; f must not change until apply() is
  /// done. Collective.
  virtual void start(const Exec& exec, const Distribution& f) = 0;
  /// out += weight * C(f). Waits for what start() began. Collective.
  virtual void apply(const Exec& exec, const Distribution& f, const DragDiffusion& coefficients,
                     double weight, const Distribution& out) = 0;
  /// Whether it makes B and D by solve() where f is, from moments, rates and gains that are there
  /// (CollisionEngines::exchange()); apply() and bound() then take those. Else they come with `coefficients`.
  [[nodiscard]] virtual bool solves() const { return false; }
  /// CollisionMoments::solve(), begun.
  virtual void solve(const Exec&) {}
  /// The first configuration cell that solve() found no positive density or vth^2 for, what it found then in
  /// `coefficients`; -1: none. Waits for it: to be asked after an apply() or bound().
  [[nodiscard]] virtual int refused(const DragDiffusion& /*coefficients*/) const { return -1; }
  /// Set the coefficients for which frequency() answers, without an apply().
  virtual void bound(const Exec& exec, const DragDiffusion& coefficients) = 0;
  /// Largest rate of the last apply() or bound() on this rank's cells: sum_d drag_rate max|A v_d - B_d|/dv_d
  /// + diffusion_rate max D/dv_d^2, so that dt = 1/((2 p + 1) rate) is stable.
  [[nodiscard]] virtual double frequency() const = 0;
};

/// Discontinuous-Galerkin Lenard-Bernstein (Dougherty) operator of one species.
///
/// In a velocity cell, with test function w:
///
///     int w C = sum_d [w (F_d + D s_d) - dw/dv_d D r_d] at the faces
///               - int dw/dv_d (A v_d - B_d) f + int d2w/dv_d2 D f
///
/// r_d, s_d: value and slope of the polynomial recovered from the two cells of a face, whatever their widths
/// (recovery.hpp); F_d = (A v_d - B_d)
/// f*: f* upwind where A v_d - B_d surely keeps its sign on the face of the configuration cell, else central
/// with a local Lax-Friedrichs penalty. At the ends of velocity space F = s = 0 and r is the inner trace. All
/// integrals are exact. Hakim, Francisquez, Juno & Hammett, J. Plasma Phys. 86, 905860403 (2020).
class LenardBernstein final : public DragDiffusionSweep {
 public:
  /// `uniform_rate`: A is the same everywhere, which saves a product.
  LenardBernstein(const Decomposition& decomposition, const PhaseBasis& basis, const PhaseBlock& block,
                  bool uniform_rate);
  /// Throws InputError for velocity cells on which energy would not be kept or diffusion could make f rise:
  /// unequal ones with a basis that lacks v^2, or whose neighbours differ too much.
  static void check_cells(const PhaseBasis& basis, const PhaseGrid& grid, const std::string& species);
  ~LenardBernstein() override;
  LenardBernstein(const LenardBernstein&) = delete;

  void start(const Exec& exec, const Distribution& f) override;
  void apply(const Exec& exec, const Distribution& f, const DragDiffusion& coefficients, double weight,
             const Distribution& out) override;
  void bound(const Exec& exec, const DragDiffusion& coefficients) override;
  [[nodiscard]] double frequency() const override;

  /// The factors in frequency() for n Legendre coefficients in a velocity direction.
  [[nodiscard]] static double drag_rate(int n_degrees, int order);
  [[nodiscard]] static double diffusion_rate(int n_degrees, int order, bool equal_cells);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::kinetics
