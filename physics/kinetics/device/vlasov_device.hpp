#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "io/device/factory.hpp"
#include "physics/kinetics/advection/flux.hpp"
#include "physics/kinetics/basis/basis.hpp"

namespace quintet::kinetics {

/// How cells are shared out to threads: sweeps/vlasov_cell_kernels.hpp, vlasov_group_kernels.hpp and
/// vlasov_owner_kernels.hpp.
enum class DeviceSweep {
  automatic,  ///< cells or, on a host, groups, by size of the basis; on a GPU for `groups`: measured
  cells,      ///< a thread a cell; only up to DeviceVlasov::most_modes_a_thread
  groups,     ///< 32 cells a team, df in scratch
  owners,     ///< 32 cells a team, df in registers
  measured    ///< groups or owners, with as many warps as is fastest at the first stage that has no f_0
};

/// How a sweep did when those for a large basis were compared.
struct SweepTime {
  const char* name = "";
  int warps = 0;          ///< of a multiprocessor that it is compiled for
  bool fits = true;       ///< that many are at work at a time
  bool same_bits = true;  ///< as the first one's; only those are chosen from
  double ns_per_cell = 0;
  bool is_chosen = false;
};

/// Setup of DeviceVlasov, as plain data: a basis, the cells of one rank and their layout on the host.
struct DeviceVlasovOptions {
  int cdim = 1, vdim = 1, order = 1;
  Family family = Family::serendipity;
  Flux flux = Flux::upwind;
  std::array<int, 6> cells{1, 1, 1, 1, 1, 1};
  std::array<double, 3> dx{};  ///< widths along x
  /// Centres of the cells in each velocity direction, and their widths over the mean width.
  std::array<std::vector<double>, 3> centre, relative;
  std::array<double, 3> mean_dv{};
  std::array<double, 3> least_dv{};  ///< of the whole grid, of which this may be a part
  /// Edges in each direction of x and v where nothing comes in unless add_exterior() brings it. Where both
  /// are closed, x is periodic; closed edges of v have zero flux.
  std::array<std::array<bool, 2>, 6> open{};
  /// Open edges with another rank beyond, and whether MPI reads the device's memory.
  std::array<std::array<bool, 2>, 6> halo{};
  bool sends_directly = true;
  /// Other open edges that need no trace from outside: outside is nothing, or what is just inside.
  std::array<std::array<bool, 2>, 6> empty{};
  DeviceSweep sweep = DeviceSweep::automatic;
  int lanes = 1;      ///< of the host's packs (PhaseBlock)
  int n_buffers = 3;  ///< distributions that are resident
};

/// The collisionless operator (VlasovOperator) with f resident in the memory of Kokkos's default execution
/// space: a GPU, or the host.
///
///     f_to = keep f_0 + advance (f_from + dt R(f_from)),   R(f) = -div_x (v f) - div_v (a f), a = A + v x B
///
/// The same scheme to round-off; the layout is [configuration cell][velocity cell / 32][mode][32], so that
/// the threads of a warp read consecutive numbers. Distributions are numbered from 0; those on the host are
/// laid out as PhaseBlock says, with `lanes`.
class DeviceVlasov {
 public:
  static constexpr int most_modes_a_thread = 32;

  /// Make an engine; null without kernels for the basis (and sweep). Throws std::runtime_error if memory does
  /// not suffice.
  static std::unique_ptr<DeviceVlasov> make(const DeviceVlasovOptions& options);
  /// Bytes that make() allocates; nothing is allocated.
  [[nodiscard]] static double bytes(const DeviceVlasovOptions& options);
  virtual ~DeviceVlasov() = default;

  [[nodiscard]] virtual int n_modes() const = 0;       ///< of a cell
  [[nodiscard]] virtual int n_conf_modes() const = 0;  ///< of a function of x

  virtual void upload(int buffer, const double* host) = 0;
  virtual void download(int buffer, double* host) const = 0;

  /// `acceleration`, on the host: [n_conf, 6, n_conf_modes], A and B with q/m. to != from; f_0 is not read
  /// where keep = 0. Only begun when this returns; `acceleration` has been read then.
  struct Stage {
    double keep = 0, advance = 1, dt = 0;
    int from = 0, from0 = 0, to = 1;
  };
  virtual void stage(const Stage& stage, const double* acceleration) = 0;
  /// Times of all sweeps that were compared; empty if none were yet.
  [[nodiscard]] virtual std::span<const SweepTime> sweep_times() const = 0;

  [[nodiscard]] virtual int n_buffers() const = 0;
  /// One more distribution, the last of them.
  virtual void add_buffer() = 0;
  /// f_to = sum of factor f_buffer, at most most_terms, summed in this order; `to` may be one of them.
  struct Term {
    double factor = 0;
    int buffer = 0;
  };
  static constexpr int most_terms = 4;
  virtual void combine(int to, std::span<const Term> terms) = 0;
  /// The numbers of a distribution, in the device's memory.
  [[nodiscard]] virtual double* data(int buffer) const = 0;

  /// Changes by limit(), and the least cell mean that it met.
  struct Limited {
    std::array<double, 4> change{};  ///< of v_i f and v.v f, over the constant basis function and a mean cell
    double least_mean = 0;
    std::ptrdiff_t conf = 0;  ///< where that is
    int velocity_cell = 0;    ///< row-major
  };
  /// Positivity::limit(). @param nodes values of the basis in its control nodes, [n_nodes, n_modes], the same
  /// in each call @param mean value of the constant basis function
  virtual Limited limit(int buffer, std::span<const double> nodes, double mean) = 0;

  /// Velocity integrals of f, on the host: [n_conf, n_components, n_conf_modes]; M0, M1 of each direction
  /// and, with n_components = 2 + vdim, M2. Modes as those of PhaseBasis::conf().
  virtual void moments(int buffer, int n_components, double* host) const = 0;
  /// Begin moments(): the device goes on to its next task while the host calls started_moments(), which waits
  /// for these alone. They are valid until the next start_moments().
  virtual void start_moments(int buffer, int n_components) = 0;
  [[nodiscard]] virtual std::span<const double> started_moments() const = 0;

  /// Summary for observers of the velocity cells of one configuration cell, f_0 the first mode of a cell and
  /// w its width over the mean one.
  struct Summary {
    static constexpr int n_numbers = 10;
    double square = 0;                ///< sum of w f_m^2
    double negative = 0;              ///< -sum of w min(f, 0), by a quadrature in the control nodes
    double least = 0, greatest = 0;   ///< f_0; NaN counts as the least
    std::array<double, 6> at_ends{};  ///< sum of w |f_0| of the block's first and last cells along each v
  };
  static_assert(sizeof(Summary) == Summary::n_numbers * sizeof(double));
  /// Summarise each configuration cell, [n_conf]. @param nodes as for limit() @param weights of the nodes
  virtual void summarise(int buffer, std::span<const double> nodes, std::span<const double> weights,
                         std::span<Summary> summaries) = 0;

  /// Doubles of a trace at an edge of direction d of x or v, laid out as FaceTraces.
  [[nodiscard]] virtual std::size_t trace_size(int d) const = 0;
  /// Traces inside and outside an open edge: names of the device's memory; of an edge of options.halo in
  /// memory that MPI reads: what is sent, and what is received.
  struct Halo {
    double *own = nullptr, *outside = nullptr;
  };
  [[nodiscard]] virtual Halo halo(int d, int side) const = 0;
  /// The trace of f inside the edge at side -1 or +1 of direction d, to one of the edge's halo; there after
  /// fence().
  virtual void trace(int buffer, int d, int side, double* to) const = 0;
  /// to += advance dt times what a trace of the edge's halo contributes as what is outside: across x that
  /// alone, across v, where the sweep takes edges for closed, the whole flux, by the force of the last
  /// stage(). It must be kept until fence().
  virtual void add_exterior(const Stage& stage, int d, int side, const double* from) = 0;

  /// VlasovOperator::mirror() of the trace at an edge across x_d.
  virtual void mirror(int d, const double* own, double share, bool add, double* out) const = 0;
  /// WallEmission::emit() for the edge at a side of direction d of x. @param shape the same in each call
  virtual void emit(int d, int side, std::span<const double> shape, std::span<const double> flux,
                    double* out) = 0;
  /// Begin to count what leaves through an edge across x, with this flux; a null trace counts as zero.
  virtual void count_outflow(Flux flux, int d, int side, const double* inside, const double* outside) = 0;
  /// Outflow counted last at this edge: for each face the coefficients of int v_i f dv on it, int v_i v f dv
  /// and int v_i v.v f dv by their first coefficients; v_i points along x_i. Waits for it.
  [[nodiscard]] virtual std::span<const double> outflow(int d, int side) const = 0;

  /// Bound of sum_d |a_d|/dz_d over the cells, for the CFL condition; from the host's acceleration.
  [[nodiscard]] virtual double frequency(const double* acceleration) const = 0;
  /// Wait until all that was asked for is done.
  virtual void fence() const = 0;
};

class DeviceCollisions;
struct DeviceCollisionOptions;

/// How engines are made on a device: in this program or in the library of a GPU; and whether MPI reads its
/// memory.
struct DeviceVlasovFactory {
  DeviceVlasov* (*make)(const DeviceVlasovOptions& options);
  double (*bytes)(const DeviceVlasovOptions& options);
  DeviceCollisions* (*make_collisions)(const DeviceCollisionOptions& options, DeviceVlasov& vlasov);
  double (*collision_bytes)(const DeviceCollisionOptions& options);
  bool sends_directly = true;
};

}  // namespace quintet::kinetics

/// DeviceVlasov::make and bytes, as DeviceSession::factory finds them.
QUINTET_DEVICE_FACTORY quintet::kinetics::DeviceVlasov* quintet_make_device_vlasov(
    const quintet::kinetics::DeviceVlasovOptions& options);
QUINTET_DEVICE_FACTORY double quintet_device_vlasov_bytes(
    const quintet::kinetics::DeviceVlasovOptions& options);
