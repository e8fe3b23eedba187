#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/particles/device/at_home.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "physics/particles/domain/domain.hpp"
#include "physics/particles/dynamics/dynamics_kernels.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/support/sample_systems.hpp"

namespace quintet {

/// A gas whose atoms fill a part of a cell, the same of each direction but for `slab`.
struct GasCase {
  const char* name;
  Mat3 rows;
  std::array<bool, 3> periodic;
  double lower = 0, upper = 1;    ///< (fractional)
  bool slab = false;              ///< they fill all but of the first direction
  bool in_a_row = false;          ///< ranks divide the first direction
  std::array<double, 3> drift{};  ///< of all (angstrom/ps)

  [[nodiscard]] std::array<int, 3> grid(int n_ranks) const {
    return in_a_row ? std::array<int, 3>{n_ranks, 1, 1} : std::array<int, 3>{0, 0, 0};
  }
};
inline void PrintTo(const GasCase& c, std::ostream* out) { *out << c.name; }

/// Flying fast enough that some atoms cross a brick between two rebuilds.
inline Configuration gas(const GasCase& c) {
  auto atoms = random_configuration(Box(c.rows, c.periodic), 700, 2, 11, c.lower, c.upper);
  for (std::size_t i = 0; i < atoms.n_atoms(); ++i) {
    if (c.slab) {
      auto s = atoms.box.to_fractional(atoms.positions[i]);
      for (int k = 1; k < 3; ++k) s[k] = (s[k] - c.lower) / (c.upper - c.lower);
      atoms.positions[i] = atoms.box.to_cartesian(s);
    }
    const double x = i;
    atoms.velocities[i] = {c.drift[0] + 20 * std::sin(3 * x + 1), c.drift[1] + 20 * std::sin(5 * x + 2),
                           c.drift[2] + 20 * std::sin(7 * x)};
  }
  return atoms;
}

inline constexpr double flight_cutoff = 2.0, flight_skin = 0.6, flight_step = 0.004;

/// Atoms that fly freely, on the host or on the device of tests. Nothing of forces.
struct Flight {
  /// @param rows list neighbours on the host, which then rebuilds
  Flight(const GasCase& c, bool there, bool rows = false, bool direct = false)
      : domain(Comm::world(), {flight_cutoff, flight_skin, c.grid(Comm::world().size()), rows}, gas(c).box),
        atoms(domain.distribute(gas(c))) {
    domain.rebuild(exec, atoms);
    if (there)
      domain.stay_on(exec, atoms,
                     std::shared_ptr<ResidentAtoms>(
                         QUINTET_DEVICE_FUNCTION(quintet_make_resident_atoms)(test::may_send(direct))));
  }
  void fly(int n_steps, double dt = flight_step) {
    for (int step = 0; step < n_steps; ++step) {
      drift(exec, atoms, dt);
      (void)domain.refresh(exec, atoms);
    }
  }
  Exec exec;
  Domain domain;
  Atoms atoms;
};

template <class View>
std::vector<double> rows_of(const View& view, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i)
    for (int l = 0; l < 3; ++l) values.push_back(view(i, l));
  return values;
}
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}
template <class View>
auto firsts(const View& view, int n) {
  return std::vector<typename View::value_type>(view.data(), view.data() + n);
}

}  // namespace quintet
