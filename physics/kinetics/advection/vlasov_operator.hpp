#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "physics/kinetics/advection/flux.hpp"
#include "physics/kinetics/space/budget.hpp"
#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

class WallEmission;

/// One stage of a Runge-Kutta step in Shu-Osher form: out = keep f_0 + advance (f + dt R(f)).
struct Stage {
  double keep = 0, advance = 1, dt = 0;
};

/// Moments of the new f that a stage sums up on its way: M0 in component 0, M1 in 1 ... vdim of a ConfField
/// [n_conf, >= 1 + vdim, n_conf_modes]. Empty: none.
using StageMoments = ConfField;

/// Traces of f from beyond the edges of a block, one array a direction and side; an empty one counts as zero.
/// They are where the operator works, which need not be memory that the host reads.
///
/// direction d < cdim: [boundary conf cells (row-major without d), n_rows, n_packs, n_conf_face_modes,
/// lanes]; velocity but the last: [n_conf, rows of the boundary, n_packs, n_face_modes, lanes]; last velocity
/// direction: [n_conf, n_rows, n_face_modes].
struct FaceTraces {
  std::array<std::array<Array<double>, 2>, 6> side;
};

/// The collisionless right-hand side
///
///     R(f) = -div_x (v f) - div_v (a f),   a = A(x) + v x B(x)
///
/// by DG on orthonormal Legendre bases with exact integrals (Juno et al., J. Comput. Phys. 353, 110 (2018);
/// Hakim & Juno, SC20). They have one sparse tensor for each term; here a term is a small dense product in x
/// and a three-point product in v, because a is a polynomial in x plus v times a polynomial in x. The matrix
/// in x is shared by all velocity cells of a configuration cell. A pack of velocity cells is worked on at
/// once.
///
/// Each velocity face is computed once. The Runge-Kutta update happens while a cell is in cache.
///
/// apply() takes f beyond edges that `is_open` for zero; add_exterior() then adds what the traces from there
/// contribute, since the flux is linear in them. So messages travel while the inside is computed.
class VlasovOperator {
 public:
  /// is_open[d][side]: faces there have neighbours that add_exterior() brings (another rank or a wall); where
  /// both sides of a configuration direction are closed, it wraps around. Velocity edges that are not open
  /// have zero flux.
  static std::unique_ptr<VlasovOperator> make(const PhaseBasis& basis, const PhaseBlock& block, Flux flux,
                                              const std::array<std::array<bool, 2>, 6>& is_open);
  explicit VlasovOperator(Flux flux) : flux_(flux) {}
  virtual ~VlasovOperator() = default;
  [[nodiscard]] Flux flux() const { return flux_; }

  /// `acceleration` [n_conf, 6, n_conf_modes]: A and B (with q/m). f0 may be empty where keep = 0; out must
  /// not be f. moments: overwritten.
  virtual void apply(const Exec& exec, const Stage& stage, const Distribution& f, const Distribution& f0,
                     const ConfField& acceleration, const Distribution& out, const StageMoments& moments) = 0;
  /// out += advance dt times what the traces from outside contribute; moments: added to.
  virtual void add_exterior(const Exec& exec, const Stage& stage, const FaceTraces& exterior,
                            const ConfField& acceleration, const Distribution& out,
                            const StageMoments& moments) = 0;
  /// The trace of f at this edge of the block, as the neighbour there needs it: laid out as FaceTraces.
  virtual void trace(const Exec& exec, const Distribution& f, int direction, int side,
                     const Array<double>& out) const = 0;
  /// Doubles of one such trace.
  [[nodiscard]] virtual std::size_t trace_size(int direction) const = 0;
  /// Traces inside and outside an open edge, where this operator finds them, and MPI if another rank is
  /// beyond.
  struct Halo {
    Array<double> own, outside;
  };
  [[nodiscard]] virtual Halo halo(int direction, int side) const;
  /// Wait for what was asked for, wherever it is done.
  virtual void fence(const Exec& exec) const { exec.fence(); }
  /// Compute what a mirroring wall sends back: out = share f(-v_d), with f the own trace at it; or out +=
  /// that.
  virtual void mirror(const Exec& exec, int direction, const Array<double>& own, double share, bool add,
                      const Array<double>& out) const = 0;
  /// Compute what a wall emits: WallEmission::emit().
  virtual void emit(const Exec& exec, const WallEmission& wall, const std::vector<double>& flux,
                    const Array<double>& out) const;

  /// Outflow through an edge of x direction i: int v_i (1, v, v.v/2) f a unit of time, of particles of mass
  /// 1; and the particles, a unit of area too, as functions on the faces of the edge, [boundary conf cells,
  /// modes of the face basis].
  struct Outflow {
    Amount amount;
    std::vector<double> particles;
  };
  /// From the traces inside and outside (an empty one counts as zero). A device counts while the host goes
  /// on: ask before the next outflow() of this edge.
  using CountedOutflow = std::function<Outflow()>;
  [[nodiscard]] virtual CountedOutflow outflow(const Exec& exec, Flux flux, int direction, int side,
                                               const Array<double>& inside,
                                               const Array<double>& outside) const = 0;

  /// Bound of sum_d |a_d|/dz_d over this block's cells (x and v), for the CFL condition.
  [[nodiscard]] virtual double frequency(const Exec& exec, const ConfField& acceleration) const = 0;
  /// M0 and M1 alone, as apply() would sum them.
  virtual void sum_moments(const Exec& exec, const Distribution& f, const StageMoments& moments) const = 0;

 private:
  Flux flux_;
};

}  // namespace quintet::kinetics
