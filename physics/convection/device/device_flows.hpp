#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/device/factory.hpp"
#include "physics/transforms/line_basis.hpp"

namespace quintet::convection {

/// The linear equations of one unknown on a device: along x a basis in which second differences are diagonal,
/// along z tridiagonal equations.
struct DeviceEquations {
  /// Fast transforms of equal cells, or, where `forward` is not empty, products with these matrices.
  LineBasis basis = LineBasis::periodic;
  std::vector<double> forward, backward;  ///< [n_x, n_x] of c = F x and x = B c, row by row
  std::vector<double> squares;            ///< [n_x] k^2 of each coefficient (1/length^2)
  /// (L_z q)_j = above_j q_{j+1} - diagonal_j q_j + below_j q_{j-1}, [n_z] (1/length^2); an empty row, a
  /// wall, is 0 in all three.
  std::vector<double> below, diagonal, above;
  double diffusivity = 0;
  /// For multigrid (see DeviceFlowSetup::tolerance), in place of a basis: on each of ever fewer columns, down
  /// to one, (L_x q)_i = above_i q_{i+1} - diagonal_i q_i + below_i q_{i-1} (1/length^2) and the share
  /// `weight` in a volume (length); those of a level are every second one of the level before.
  struct Level {
    std::vector<double> below, diagonal, above, weight;
  };
  std::vector<Level> levels;
  std::vector<double> z_weight;  ///< [n_z] of the rows (length)
};

/// How the ranks that have a slab of the same flows reach each other, in the order of their slabs. What they
/// hand over may be memory of the device where direct() says so.
class SlabLinks {
 public:
  virtual ~SlabLinks() = default;
  /// Whether MPI reads the device's memory.
  [[nodiscard]] virtual bool direct() const = 0;
  /// Numbers for the slab above and the one below, and as many from the one below and above; nothing travels
  /// beyond the first and the last. Collective.
  struct Parcels {
    const double* up;
    std::int64_t n_up;
    const double* down;
    std::int64_t n_down;
    double *from_below, *from_above;  ///< [n_up], [n_down]
  };
  /// Start sending the parcels. They are under way until finish() and must not be touched till then.
  virtual void start(const Parcels& parcels) = 0;
  virtual void finish() = 0;
  /// Finish as finish() does, but drop what arrives: for use while an error may be on its way up.
  virtual void drop() noexcept = 0;
  /// Slice r of n numbers in all is that of slab r: afterwards all have all. Collective.
  virtual void with_all(double* slices, std::int64_t n) = 0;
};

/// Whether slabs go on with rows that need no neighbour while messages travel; `timed`: as the first steps
/// show to be the faster. Either way gives the same bits.
enum class Overlap { timed, never, always };

/// Setup of DeviceFlows, as plain data. Lengths and widths as in Axis, cells as in Field without their
/// neighbours.
struct DeviceFlowSetup {
  int n_x = 0, n_z = 0, n_members = 1;
  bool periodic = true;  ///< x
  std::vector<double> x_widths, z_widths, x_gaps, z_gaps;
  double viscosity = 0;
  /// Above 0: linear equations are solved by conjugate gradients with multigrid, until residuals are this
  /// part of the right-hand side, each flow's on its own; all rows of a flow are here.
  double tolerance = 0;
  int segments = 0;  ///< of rows, in which multigrid solves a column at once; 0: as many as fill the device
  bool sides_hold = false, bottom_holds = false, top_holds = false;  ///< the velocity: walls without slip
  bool heated_sides = false;                                         ///< else plates are
  bool fast = false;                                                 ///< rows have a fast transform
  /// Sources from warm and cold walls in adjacent cells at b = 0 (buoyancy/time).
  double left = 0, right = 0, bottom = 0, top = 0;
  std::array<DeviceEquations, 4> equations;  ///< of u, w, b and p
  /// This rank's slab of the rows is number `slab` of those that begin with these rows; empty: all are here.
  std::vector<int> slabs;
  int slab = 0;
  std::shared_ptr<SlabLinks> links;  ///< where there are several
  Overlap overlap = Overlap::timed;

  [[nodiscard]] int n_slabs() const { return slabs.empty() ? 1 : static_cast<int>(slabs.size()); }
  [[nodiscard]] int first_row() const { return slabs.empty() ? 0 : slabs[slab]; }
  [[nodiscard]] int rows_here() const {
    const auto next = static_cast<std::size_t>(slab) + 1;
    return (next < slabs.size() ? slabs[next] : n_z) - first_row();
  }
};

/// Sums over cells of a flow, by volumes, and extremes: what Sample is made of.
struct FlowTally {
  enum Sum {
    u_squared,
    w_squared,
    w_b,
    u_b,
    b_squared,
    warm,  ///< heat -db/dn through the warm wall, over its area
    cold,
    velocity_gradient,  ///< squared; with differences to walls where they hold a value
    buoyancy_gradient,
    n_sums
  };
  enum Extreme { divergence, u_most, w_most, minus_b_least, b_most, n_extremes };
  std::array<double, n_sums> sums{};
  std::array<double, n_extremes> most{};
};

/// The step of Boussinesq with u, w, b and p of all flows resident in the memory of Kokkos's default
/// execution space: a GPU, or the host. Of several ranks each has flows of its own, or rows of the same ones
/// (slabs). The same scheme to round-off, all flows in each kernel; nothing is sent to the host but what
/// take() and courant_rate() are asked for, and what slabs tell each other where MPI does not read the
/// device's memory.
///
/// A pair of rows is one complex transform of a team, in its fast memory; a thread eliminates a column.
/// advance(), courant_rate() and tallies() are collective among the slabs.
class DeviceFlows {
 public:
  virtual ~DeviceFlows() = default;
  /// Fields of a flow from the host and back: u, w, b, p, each [rows_here, n_x].
  virtual void put(int member, const std::array<std::span<const double>, 4>& fields) = 0;
  virtual void take(int member, const std::array<std::span<double>, 4>& fields) const = 0;
  /// All flows by dt (time): the scheme of Boussinesq::advance.
  virtual void advance(double dt) = 0;
  /// max over flows and cells here of |u|/dx + |w|/dz (1/time), infinite if a velocity is NaN.
  [[nodiscard]] virtual double courant_rate() const = 0;
  /// Sums and extremes of each flow over the cells of this rank.
  [[nodiscard]] virtual std::vector<FlowTally> tallies() const = 0;
  /// Contributions of this rank's rows to the spectra of each flow, [flow, kind, n_x coefficients], kinds as
  /// in Spectra: kinetic_middle, buoyancy_middle, kinetic_volume, buoyancy_volume. Empty: rows have no fast
  /// transform.
  [[nodiscard]] virtual std::vector<double> powers() const = 0;
  /// Solves by multigrid since the last call: iterations in all, and the greatest final residual relative to
  /// its right-hand side. Above the tolerance a solve did not converge.
  struct Solves {
    long iterations = 0;
    bool converged = true;
    double residual = 0;
  };
  [[nodiscard]] virtual Solves take_solves() = 0;
};

}  // namespace quintet::convection

/// Errors: std::runtime_error where memory does not suffice.
QUINTET_DEVICE_FACTORY quintet::convection::DeviceFlows* quintet_make_device_flows(
    const quintet::convection::DeviceFlowSetup& setup);
/// Bytes that quintet_make_device_flows() allocates; nothing is allocated.
QUINTET_DEVICE_FACTORY double quintet_device_flows_bytes(const quintet::convection::DeviceFlowSetup& setup);
