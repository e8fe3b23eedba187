#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kernels/random.hpp"
#include "physics/particles/dynamics/dynamics.hpp"
#include "physics/particles/dynamics/velocities.hpp"
#include "tests/support/lennard_jones.hpp"

/// No forces at all: an ideal gas.
class NoForces : public quintet::ForceField {
 public:
  using ForceField::compute;
  [[nodiscard]] double cutoff() const override { return 1; }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return type_names_; }
  [[nodiscard]] std::string description() const override { return "no forces"; }
  quintet::Energetics compute(const quintet::Exec&, quintet::Atoms& atoms, const quintet::NeighbourList&,
                              const quintet::ByAtom&) override {
    Kokkos::deep_copy(atoms.force, 0.0);
    return {};
  }

 private:
  std::vector<std::string> type_names_{"Ar", "Ne"};
};

/// Every atom on its own spring to the middle of the cell: E = sum_i k |x_i - centre|^2 / 2; cells with open
/// directions.
class Trap : public NoForces {
 public:
  explicit Trap(double stiffness, double centre) : stiffness_(stiffness), centre_(centre) {}
  using ForceField::compute;
  quintet::Energetics compute(const quintet::Exec&, quintet::Atoms& atoms, const quintet::NeighbourList&,
                              const quintet::ByAtom&) override {
    Kokkos::deep_copy(atoms.force, 0.0);
    quintet::Energetics result;
    for (int i = 0; i < atoms.n_local; ++i)
      for (int k = 0; k < 3; ++k) {
        const double d = atoms.position(i, k) - centre_;
        atoms.force(i, k) = -stiffness_ * d;
        result.energy += 0.5 * stiffness_ * d * d;
      }
    return result;
  }

 private:
  double stiffness_, centre_;
};

/// All that a step loop needs, made from a configuration.
struct Simulation {
  Simulation(const quintet::Comm& comm, const quintet::Configuration& configuration,
             std::unique_ptr<quintet::ForceField> field_, double skin = 1)
      : field(std::move(field_)),
        domain(comm, {field->cutoff(), skin, {0, 0, 0}}, configuration.box),
        atoms(domain.distribute(configuration)),
        system(atoms, domain, *field) {
    domain.rebuild(exec, atoms);
  }

  /// Atoms of all ranks by id, on every rank of `comm`.
  [[nodiscard]] std::pair<std::vector<double>, std::vector<double>> by_id() const {
    const auto whole = domain.gather(atoms, true);
    std::vector<double> x(3 * atoms.n_global), v(x.size());
    if (domain.comm().is_root())
      for (std::size_t i = 0; i < whole.n_atoms(); ++i)
        for (int k = 0; k < 3; ++k) {
          x[3 * i + k] = whole.positions[i][k];
          v[3 * i + k] = whole.velocities[i][k];
        }
    domain.comm().broadcast(std::span<double>(x));
    domain.comm().broadcast(std::span<double>(v));
    return {x, v};
  }

  quintet::Exec exec;
  std::unique_ptr<quintet::ForceField> field;
  quintet::Domain domain;
  quintet::Atoms atoms;
  quintet::ParticleSystem system;
};

/// n^3 cubic fcc cells of argon; `shake` (angstrom) displaces the atoms, reproducibly.
inline quintet::Configuration argon(int n, double lattice = 5.3, double shake = 0) {
  quintet::Configuration c;
  const double length = n * lattice;
  c.box = quintet::Box({length, 0, 0, 0, length, 0, 0, 0, length}, {true, true, true});
  c.type_names = {"Ar"};
  c.masses = {39.948};
  const double basis[4][3] = {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z)
        for (const auto& b : basis) {
          const double i = c.positions.size();
          c.positions.push_back({(x + b[0] + 0.25) * lattice + shake * std::sin(12.9 * i + 1),
                                 (y + b[1] + 0.25) * lattice + shake * std::sin(78.2 * i + 2),
                                 (z + b[2] + 0.25) * lattice + shake * std::sin(37.7 * i + 3)});
          c.types.push_back(0);
        }
  return c;
}

/// n atoms of two types at reproducible random places of a cube.
inline quintet::Configuration gas(int n, double length, bool periodic = true) {
  quintet::Configuration c;
  c.box = quintet::Box({length, 0, 0, 0, length, 0, 0, 0, length}, {periodic, periodic, periodic});
  c.type_names = {"Ar", "Ne"};
  c.masses = {39.948, 20.18};
  for (int i = 0; i < n; ++i) {
    double r[4];
    quintet::uniform_pair(77, 9, i, 0, r[0], r[1]);
    quintet::uniform_pair(77, 9, i, 1, r[2], r[3]);
    c.positions.push_back({length * r[0], length * r[1], length * r[2]});
    c.types.push_back(i % 3 == 0 ? 1 : 0);
  }
  return c;
}

inline std::unique_ptr<quintet::ForceField> argon_forces(double cutoff = 6) {
  return std::make_unique<LennardJones>(std::vector<std::string>{"Ar"}, 0.0104, 3.4, cutoff);
}

/// Largest absolute difference of two equally long lists.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}
