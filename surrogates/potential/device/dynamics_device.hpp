#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/device/factory.hpp"
#include "surrogates/potential/device/device_model.hpp"

namespace quintet::potential {

/// Atoms in a cell, as the host hands them over: internal units (angstrom, ps, eV, amu).
struct DeviceSystem {
  std::array<double, 9> rows{}, inverse{};  ///< of the cell, as Box has them
  std::array<double, 3> origin{};
  std::array<bool, 3> periodic{true, true, true};
  std::vector<double> position, velocity;  ///< [n, 3]
  std::vector<int> type, image;            ///< [n], [n, 3] (empty: zeros)
  std::vector<std::int64_t> id;            ///< [n]
  std::vector<double> mass;                ///< [n_types]
};

struct DeviceDynamicsOptions {
  double dt = 0;        ///< (ps)
  double skin = 2;      ///< (angstrom)
  double friction = 0;  ///< of Langevin's bath (1/ps); 0: no bath
  double kt = 0;        ///< (eV)
  std::uint64_t seed = 1;
};

/// What a step loop looks at.
struct DeviceSample {
  double potential = 0, kinetic = 0;  ///< (eV)
  double bath = 0;                    ///< energy that the bath has taken (eV)
  std::array<double, 9> virial{};     ///< (eV)
  int overflowing = 0, too_close = -1,
      too_strong = -1;  ///< as DeviceTotals, of all steps since the last sample
  std::int64_t rebuilds = 0;
};

/// Molecular dynamics of one rank whose atoms stay on the device: velocity Verlet, with Langevin's bath
/// BAOAB.
///
/// A step is that of MolecularDynamics (integrators.cpp): half kick, half drift, bath, half drift, forces,
/// half kick, with the same random numbers. Periodic images are ghosts made on the device; forces on them go
/// to their owners as they are summed. Neighbours are listed anew when an atom has moved by half the skin.
class DeviceDynamics {
 public:
  virtual ~DeviceDynamics() = default;
  /// Take atoms and compute their forces.
  virtual void set(const DeviceSystem& system) = 0;
  /// Steps `first` .. `first` + n.
  virtual void advance(std::int64_t first, std::int64_t n) = 0;
  /// Energies and virial now. Waits for the device.
  [[nodiscard]] virtual DeviceSample sample() = 0;
  /// Positions, velocities and images now; types, ids and masses as they were given.
  [[nodiscard]] virtual DeviceSystem fetch() const = 0;
  [[nodiscard]] virtual std::vector<double> forces() const = 0;  ///< [n, 3] (eV/angstrom)
  virtual void set_chunk(int atoms) = 0;
  virtual void set_timing(bool on) = 0;
  [[nodiscard]] virtual std::map<std::string, double> timings() const = 0;  ///< (s) so far
  /// Bytes now held for atoms and lists, and for the temporaries of a chunk.
  [[nodiscard]] virtual std::array<std::size_t, 2> bytes() const = 0;
  [[nodiscard]] virtual std::int64_t n_ghosts() const = 0;
  [[nodiscard]] virtual double listed_per_atom() const = 0;  ///< neighbours in the list
  [[nodiscard]] virtual std::string description() const = 0;
};

}  // namespace quintet::potential

/// @param single float32 networks with float64 coordinates and sums, else float64
QUINTET_DEVICE_FACTORY quintet::potential::DeviceDynamics* quintet_make_device_dynamics(
    const quintet::potential::DeviceModel& model, bool single,
    const quintet::potential::DeviceDynamicsOptions& options);
