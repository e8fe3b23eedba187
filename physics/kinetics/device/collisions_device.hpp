#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "io/device/factory.hpp"
#include "physics/kinetics/basis/legendre.hpp"
#include "physics/kinetics/collisions/collision_tables.hpp"
#include "physics/kinetics/device/vlasov_device.hpp"

namespace quintet::kinetics {

/// The velocity groups of a basis, and 1-D integrals (legendre.hpp), as kernels look them up.
struct CollisionGroups {
  static constexpr int most = 27, n = max_degree + 1;
  int n_groups = 0;
  short offset[most]{};           ///< of the first mode
  signed char n_conf[most]{};     ///< configuration modes
  signed char degree[3][most]{};  ///< along each v
  signed char n_line[3][most]{};  ///< degrees along v_d with equal degrees in the other directions,
  signed char n_full[3][most]{};  ///< and those of them with all configuration modes; 0: not even degree 0
  short line[3][most][n]{};       ///< offsets of these groups
  short axis[3][n]{};             ///< offset of the group of degree k along v_d, 0 in the others; -1: none
  signed char axis_n_conf[3][n]{};
  double end[n]{};            ///< phi_k(1)
  double derivative[n][n]{};  ///< int phi_k' phi_l
  double weighted[n][n]{};    ///< int xi phi_k' phi_l
};

/// Setup of DeviceCollisions, as plain data: one species' cells of one rank.
struct DeviceCollisionOptions {
  int n_conf = 1, vdim = 1, n_modes = 2, n_conf_modes = 2;  ///< configuration cells; of a cell; in x
  bool uniform_rate = false;                                ///< A is the same everywhere
  bool sends_directly = true;                               ///< MPI reads the device's memory
  CollisionGroups groups;
  std::vector<double> triple;                  ///< int w_l w_m w_n, [n_conf_modes]^3
  std::vector<double> greatest;                ///< max |w_n|
  std::array<int, 3> cells{1, 1, 1}, begin{};  ///< along v, of the block; where it begins in the grid
  std::array<int, 3> grid_cells{1, 1, 1};
  std::array<std::vector<double>, 3> edge, centre, half;  ///< of the grid: [grid_cells + 1], [grid_cells]

  // Moments: the sum over directions d and degrees k of weight[d][k, cell] f_k, f_k of axis[d][k], times the
  // volume of the cell in the other directions.
  std::array<std::vector<double>, 3> volume;  ///< int phi_0 dv_d, [cells]
  struct Moment {
    std::array<std::vector<double>, 3> weight;  ///< [max_degree + 1, cells], over volume[d]; empty: 0
  };
  std::vector<Moment> moments;

  DragPlaces drag_places;  ///< of moments, where DeviceCollisions::solve_drag_diffusion() is asked

  // Drag and diffusion; may be empty.
  /// int w d2f/dv_d^2 with the recovered f: from degree l below, in and above a cell to its degree k, where
  /// the recovery takes n_in of them, [n_in - 1, k, l, 3, cells].
  std::array<std::vector<double>, 3> diffusion;
  std::array<double, 3> drag_rate{}, diffusion_rate{};  ///< LenardBernstein's, the latter over dv_d^2

  BgkTables bgk;  ///< where DeviceCollisions::relax() is asked

  // Relaxation: Maxwellians on all cells of the grid.
  int n_nodes = 0;                           ///< Gauss points of x; 0: no relaxation
  std::array<std::vector<double>, 3> power;  ///< int v^n phi_k dv, n < 3: [3, n_degrees, grid_cells]
  int n_degrees = 1;
  std::vector<double> node, node_weight;  ///< Gauss points of a cell; weight phi_k, [points, n_degrees]
};

/// The collisions of one species (CollisionEngines) whose f is resident on a DeviceVlasov, by number of its
/// buffers. What they multiply f with are fields in x, which come from the host or are solved for here.
class DeviceCollisions {
 public:
  /// Make an engine; null without kernels for these options. `vlasov` must live as long.
  static std::unique_ptr<DeviceCollisions> make(const DeviceCollisionOptions& options, DeviceVlasov& vlasov);
  /// Bytes that make() allocates; nothing is allocated.
  [[nodiscard]] static double bytes(const DeviceCollisionOptions& options);
  virtual ~DeviceCollisions() = default;

  /// All moments of the options, to the host: [n_conf, n_moments, n_conf_modes].
  virtual void moments(int buffer, double* host) const = 0;
  /// Compute moments() in two parts: the sums stay on the device; then the last ones are copied to the host,
  /// or replaced by those of several ranks.
  virtual void sum_moments(int buffer) = 0;
  virtual void get_moments(double* host) const = 0;
  virtual void set_moments(const double* host) = 0;

  /// Doubles of the cells at a face of the block across v_d; 0 where velocity space is not shared out along
  /// it.
  [[nodiscard]] virtual std::size_t edge_size(int d) const = 0;
  /// Such cells on their way between blocks, at side 0 (lower) or 1 (upper) with another one beyond.
  [[nodiscard]] virtual DeviceVlasov::Halo halo(int d, int side) const = 0;
  /// Copy these cells to the halo's own, where they are after DeviceVlasov::fence().
  virtual void edge(int buffer, int d, int side) const = 0;
  /// The halo's outside, what another block's edge() gave, has arrived: it lies beyond this side when drag
  /// and diffusion are added, and must stay until fence().
  virtual void set_beyond(int d, int side) = 0;
  /// A, B and D, from the host: [n_conf, vdim + 2, n_conf_modes] (DragDiffusion).
  virtual void set_drag_diffusion(const double* coefficients) = 0;
  /// SpeciesExchange::compute() with the last sums of all species: A, and gains, of each. @param all of each
  /// species, this one among them; null: does not collide @param profiles as of
  /// SpeciesExchange::compute_there()
  virtual void exchange(const ExchangeTables& tables, std::span<const double> profiles,
                        std::span<DeviceCollisions* const> all, std::span<const char> gains) = 0;
  /// The first configuration cell where a density or temperature that rates need was not positive; -1: none.
  /// Waits for it.
  [[nodiscard]] virtual int exchange_refused() const = 0;
  /// CollisionMoments::solve() with the last sums, A and gains of exchange().
  virtual void solve_drag_diffusion() = 0;
  /// The first configuration cell where the last solve_drag_diffusion() or relax() found no positive density
  /// or vth^2; -1: none. Waits for it.
  [[nodiscard]] virtual int refused() const = 0;
  /// A, B and D, to the host.
  virtual void get_drag_diffusion(double* coefficients) const = 0;
  /// f_to += weight C(f), by LenardBernstein's scheme with what was set.
  virtual void add_drag_diffusion(int buffer, double weight, int to) const = 0;
  /// LenardBernstein::frequency() of what was set.
  [[nodiscard]] virtual double drag_diffusion_rate() const = 0;

  /// f_to += weight C(f), of a relaxation with the last sums, A and gains of exchange(); relax_time > 0: f
  /// for so long (RelaxationSweep::relax()). refused() then tells where its Maxwellian is not to be had.
  virtual void relax(int buffer, double weight, int to, double relax_time) = 0;
  /// The greatest bound of A from above over the configuration cells.
  [[nodiscard]] virtual double relaxation_rate() const = 0;
};

}  // namespace quintet::kinetics

/// DeviceCollisions::make and bytes, as DeviceSession::factory finds them.
QUINTET_DEVICE_FACTORY quintet::kinetics::DeviceCollisions* quintet_make_device_collisions(
    const quintet::kinetics::DeviceCollisionOptions& options, quintet::kinetics::DeviceVlasov& vlasov);
QUINTET_DEVICE_FACTORY double quintet_device_collision_bytes(
    const quintet::kinetics::DeviceCollisionOptions& options);
