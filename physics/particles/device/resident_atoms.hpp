#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/device/factory.hpp"
#include "physics/particles/atoms/atom_record.hpp"
#include "physics/particles/device/ghost_plan.hpp"

namespace quintet {

/// Where the atoms of a rank lie in a device's memory, for the engine that computes their forces there.
struct ResidentRows {
  int n_local = 0, n_all = 0;
  const double* position = nullptr;     ///< [n_all, 3] (angstrom)
  const double* built = nullptr;        ///< [n_all, 3] where they were when neighbours were to be listed
  const int* type = nullptr;            ///< [n_all]
  const int* owner = nullptr;           ///< [n_all] the row to which the force on a row is added
  unsigned long long* force = nullptr;  ///< [n_all, 3] in whole numbers of 2^-44 eV/angstrom (fixed.hpp)
};

/// A cell as Box has it, and the range of neighbours (angstrom).
struct CellOfAtoms {
  std::array<double, 9> rows{}, inverse{};
  std::array<double, 3> origin{};
  std::array<bool, 3> periodic{};
  double range = 0;
};

/// The brick of a rank among those of a grid, and the cells by which its atoms are ordered: those numbered
/// first_cell ... of cells_of_box along each direction.
struct BrickOfAtoms {
  std::array<int, 3> grid{};
  int rank = 0;
  std::array<int, 3> first_cell{}, n_cells{}, cells_of_box{};
  std::array<double, 3> cells_per_unit{};  ///< of fractional coordinates
};

/// A face of a brick: what is within `reach` of it on its lower (side -1) or upper (+1) side, or beyond it,
/// is a ghost to the neighbour there. `at`, `reach`: fractional.
struct BrickFace {
  int direction = 0, side = 0;
  double at = 0, reach = 0;
};

/// The atoms of a rank as the host has them: local ones first, then ghosts.
struct HostRows {
  int n_local = 0, n_all = 0;
  const double *position = nullptr, *velocity = nullptr;  ///< [n_all, 3], [n_local, 3]
  const double* built = nullptr;                          ///< [n_all, 3]
  const int* type = nullptr;                              ///< [n_all]
  const std::int64_t* id = nullptr;                       ///< [n_all]
  const int* image;                                       ///< [n_local, 3]
  std::vector<double> masses;                             ///< [n_types] (amu)
};

/// Where the host wants them; ghosts and images may have changed there.
struct FetchedRows {
  double *position, *velocity, *force;  ///< [n_all, 3], [n_local, 3], [n_local, 3]
  int *type, *image;                    ///< [n_all], [n_local, 3]
  std::int64_t* id;                     ///< [n_all]
};

/// The most cells that n atoms are put in order by, one after the other. Where a brick has more, most are
/// empty.
[[nodiscard]] constexpr std::int64_t most_cells_of_order(std::int64_t n) { return 4 * n + 4096; }

/// Memory of a device that ResidentAtoms take (bytes), on one rank or several.
[[nodiscard]] inline double resident_bytes(double n_local, double n_all, bool several = false) {
  // x, built, forces, type, id, owner, shift; velocity, image, what is fetched.
  double bytes = n_all * (3 * 24 + 8 + 3 * 4) + n_local * (2 * 24 + 12 + 1);
  if (!several) return 1.05 * bytes;
  // Rows that are sent, and those that may be; of a rebuild: who stays, an order, its cells, rows that are
  // put into it.
  bytes += (2 * n_all - n_local) * 4 + n_local * (1 + 4 + 24 + 12 + 8) +
           4 * static_cast<double>(most_cells_of_order(n_local));
  // The longest message of a rebuild, both ways; those of a step are shorter.
  bytes += (n_all - n_local) * 2 * 40;
  return 1.05 * bytes;
}

/// The atoms of a rank in the memory of a device, where steps move them: all that a step does to atoms.
///
/// Integrators, thermostats and barostats stay as they are: they know sums and factors alone, and ask the
/// functions of dynamics_kernels.hpp, which come here for atoms that have an `Atoms::resident`. What travels
/// in a step is a few numbers. The host's rows are older from the first step on, until at_home() or
/// bring_home() (at_home.hpp); whoever changes them hands them over again by take(). Nothing of Kokkos is in
/// this interface, so that a library of another compiler may stand behind it.
class ResidentAtoms {
 public:
  virtual ~ResidentAtoms() = default;
  /// Take atoms whose ghosts and order have changed.
  virtual void take(const HostRows& host, const GhostPlan& plan) = 0;
  /// Take atoms as take() does, on a single rank, with ghosts that are made on the device: images within the
  /// range of where the local atoms were, `built`, in the cell that they had. Returns their number.
  virtual int take_alone(const HostRows& host, const CellOfAtoms& built) = 0;
  /// After take_alone(): wrap the atoms into the cell, make ghosts and list neighbours anew. Returns the
  /// number of ghosts.
  virtual int rebuild(const CellOfAtoms& cell) = 0;

  /// Buffers that MPI sends from and receives into: memory of the device where MPI reads that, else of the
  /// host.
  struct Parcel {
    const void* send;
    void* receive;
  };

  // A rebuild of several ranks: part, pack_leaving, a message, then settle; take_local() comes in their place
  // at first. Then ghosts, face by face: those that select_border() finds become images or go as messages
  // (pack_border, unpack_border). Then set_steps().

  /// Take local atoms; ghosts come next.
  virtual void take_local(const HostRows& host) = 0;
  /// Wrap the atoms into the cell. Returns how many go to each rank: those that are not in this one's brick.
  [[nodiscard]] virtual std::vector<std::size_t> part(const CellOfAtoms& cell, const BrickOfAtoms& brick) = 0;
  /// Pack the atoms that leave, as AtomRecord without forces, rank by rank, and make room for `n_arriving`.
  /// Atoms for one rank are in any order.
  [[nodiscard]] virtual Parcel pack_leaving(int n_arriving) = 0;
  /// Let those go and take in what arrived; all are put into the order of the brick's cells, of ids within a
  /// cell, and neighbours will be listed where they are. Returns their number.
  [[nodiscard]] virtual int settle(int n_arrived) = 0;
  /// Choose rows [first, last) by where they were, `built`, in the cell that they had. Returns their number.
  [[nodiscard]] virtual int select_border(const CellOfAtoms& built, const BrickFace& face, int first,
                                          int last) = 0;
  /// The chosen ones as ghosts, moved by `image` rows of the cell along a direction.
  virtual void image_border(const CellOfAtoms& built, int direction, int image) = 0;
  /// The chosen ones, as BorderAtom moved by `shift`, and room for as many that arrive.
  [[nodiscard]] virtual Parcel pack_border(const std::array<double, 3>& shift, int n_arriving) = 0;
  virtual void unpack_border(int n_arrived) = 0;
  /// How these ghosts, which are where they were then, will come by their positions; `first_sent` counts the
  /// rows of all borders.
  virtual void set_steps(const std::vector<GhostPlan::Step>& steps) = 0;

  /// Where the atoms were when neighbours were listed [n_all, 3].
  virtual void fetch_built(double* built) = 0;
  /// From the next take() on the atoms of these ids, in order, are held.
  virtual void freeze(const std::vector<std::int64_t>& ids) = 0;
  /// Write to the host's rows.
  virtual void fetch(const FetchedRows& to) = 0;
  /// For the engine that writes forces there: the host's are older from now on.
  [[nodiscard]] virtual ResidentRows rows() = 0;

  // As in dynamics_kernels.hpp.
  virtual void kick(double dt) = 0;
  virtual void drift(double dt) = 0;
  virtual void transform_velocities(const std::array<double, 9>& m) = 0;
  virtual void shift_velocities(const std::array<double, 3>& shift) = 0;
  virtual void deform(const std::array<double, 9>& d) = 0;
  virtual void ornstein_uhlenbeck(double friction, double dt, double kt, std::uint64_t seed,
                                  std::int64_t step) = 0;
  virtual void mix_velocities(double mixing, double ratio) = 0;
  virtual void hold_velocities() = 0;
  virtual void hold_forces() = 0;
  [[nodiscard]] virtual double kinetic_energy() = 0;
  [[nodiscard]] virtual std::array<double, 6> kinetic_tensor() = 0;
  [[nodiscard]] virtual std::array<double, 4> momentum_and_mass() = 0;
  [[nodiscard]] virtual std::array<double, 3> force_velocity_products() = 0;
  [[nodiscard]] virtual double largest_force_squared() = 0;
  [[nodiscard]] virtual double largest_velocity_squared() = 0;
  /// Largest |x - (to + (x0 - from) map)|^2 of the local atoms, x0 `built`; infinity if one is not finite.
  [[nodiscard]] virtual double largest_displacement_squared(const std::array<double, 3>& from,
                                                            const std::array<double, 3>& to,
                                                            const std::array<double, 9>& map) = 0;

  /// Steps of the plan. `cell`: its rows now.
  virtual void place_images(std::size_t step, const std::array<double, 9>& cell) = 0;
  /// Positions to send, 24 bytes each, are there when it returns.
  [[nodiscard]] virtual Parcel pack_positions(std::size_t step, const std::array<double, 9>& cell) = 0;
  virtual void unpack_positions(std::size_t step) = 0;
  /// Forces on the rows that came in; unpack adds what comes back to the owners of the rows that were sent.
  [[nodiscard]] virtual Parcel pack_forces(std::size_t step) = 0;
  virtual void unpack_forces(std::size_t step) = 0;

  /// Whether the atoms have moved since take() or fetch().
  [[nodiscard]] bool ahead() const { return ahead_; }

 protected:
  bool ahead_ = false;
};

}  // namespace quintet

/// @param direct hand memory of the device to MPI, without copies on the host
QUINTET_DEVICE_FACTORY quintet::ResidentAtoms* quintet_make_resident_atoms(bool direct);
