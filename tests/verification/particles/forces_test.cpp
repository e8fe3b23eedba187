#include <cmath>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/domain/domain.hpp"
#include "tests/support/lennard_jones.hpp"
#include "tests/support/sample_systems.hpp"

using namespace quintet;

namespace {

/// Energy (eV), virial (eV) and forces by id (eV/angstrom; on rank 0) of a configuration on the ranks of
/// `comm`.
struct Result {
  double energy;
  Mat3 virial;
  std::vector<Vec3> forces;
};

Result evaluate(const Comm& comm, const Configuration& c, double cutoff, double skin = 1.0,
                double drift = 0.0) {
  const Exec exec;
  LennardJones field(c.type_names, 0.01, 2.2, cutoff);
  Domain domain(comm, {.cutoff = cutoff, .skin = skin}, c.box);
  Atoms atoms = domain.distribute(c);
  domain.rebuild(exec, atoms);
  if (drift != 0) {  // away and back, so that the ghosts' positions come from two refreshes
    for (int i = 0; i < atoms.n_local; ++i) atoms.position(i, 0) += drift;
    domain.refresh(exec, atoms);
    for (int i = 0; i < atoms.n_local; ++i) atoms.position(i, 0) -= drift;
    domain.refresh(exec, atoms);
  }
  const auto local = field.compute(exec, atoms, domain.list());
  domain.return_forces(exec, atoms);
  for (int i = atoms.n_local; i < atoms.n_all(); ++i)
    for (int l = 0; l < 3; ++l) EXPECT_EQ(atoms.force(i, l), 0.0);
  Result result{comm.sum(local.energy), local.virial, domain.gather(atoms).forces};
  comm.reduce(std::span<double>(result.virial), Comm::Reduction::sum);
  return result;
}

/// A jittered lattice: dense, with no pair so close that the forces drown everything else.
Configuration sample(int n = 6) { return cubic_lattice(n, 2.4, 0.1, 17); }

Configuration skewed_sample() {
  auto c = sample();
  const Mat3 d{1.0, 0.1, 0.0, 0.2, 1.05, -0.15, 0.1, 0.0, 0.95};
  const Box skewed = c.box.deformed(d);
  for (auto& x : c.positions) x = skewed.to_cartesian(c.box.to_fractional(x));
  c.box = skewed;
  return c;
}

}  // namespace

TEST(Forces, are_the_same_on_any_number_of_ranks) {
  const Comm comm = Comm::world();
  for (const auto& c : {sample(), skewed_sample(), sample(3)}) {
    const Result many = evaluate(comm, c, 5.0), one = evaluate(Comm::self(), c, 5.0);

    EXPECT_NEAR(many.energy, one.energy, 1e-12 * std::abs(one.energy));
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(many.virial[i], one.virial[i], 1e-11);
    for (std::size_t i = 0; i < many.forces.size(); ++i)
      for (int l = 0; l < 3; ++l) EXPECT_NEAR(many.forces[i][l], one.forces[i][l], 1e-13);
  }
}

TEST(Forces, are_the_same_after_refreshes) {
  const Comm comm = Comm::world();
  const auto c = skewed_sample();

  const Result fresh = evaluate(comm, c, 5.0), refreshed = evaluate(comm, c, 5.0, 1.0, 0.3);

  EXPECT_NEAR(refreshed.energy, fresh.energy, 1e-12 * std::abs(fresh.energy));
  for (std::size_t i = 0; i < fresh.forces.size(); ++i)
    for (int l = 0; l < 3; ++l) EXPECT_NEAR(refreshed.forces[i][l], fresh.forces[i][l], 1e-12);
}

TEST(Forces, sum_to_zero) {
  for (const auto& c : {sample(), skewed_sample()}) {
    const Result result = evaluate(Comm::world(), c, 5.0);
    Vec3 sum{};
    double size = 0;
    for (const auto& f : result.forces)
      for (int l = 0; l < 3; ++l) {
        sum[l] += f[l];
        size += std::abs(f[l]);
      }

    for (double component : sum) EXPECT_NEAR(component, 0, 1e-15 * (1 + size));
  }
}

/// A cell smaller than the cutoff has the energy per atom and the forces of its 3 x 3 x 3 repetition.
TEST(Forces, of_a_cell_smaller_than_the_cutoff_are_those_of_its_repetition) {
  const Comm comm = Comm::world();
  const auto small = sample(2);

  const Result one = evaluate(Comm::self(), small, 7.0),
               many = evaluate(comm, replicated(small, {3, 3, 3}), 7.0);

  EXPECT_NEAR(many.energy, 27 * one.energy, 1e-11 * std::abs(many.energy));
  for (std::size_t i = 0; i < many.forces.size(); ++i)
    for (int l = 0; l < 3; ++l) EXPECT_NEAR(many.forces[i][l], one.forces[i % small.n_atoms()][l], 1e-13);
}

TEST(Forces, are_minus_the_gradient_of_the_energy) {
  const Comm comm = Comm::world();
  const auto c = skewed_sample();
  const Result result = evaluate(comm, c, 5.0);
  constexpr double h = 1e-4;

  for (const std::size_t i : {0u, 71u, 215u})
    for (int l = 0; l < 3; ++l) {
      auto up = c, down = c;
      up.positions[i][l] += h;
      down.positions[i][l] -= h;
      const double slope = (evaluate(comm, up, 5.0).energy - evaluate(comm, down, 5.0).energy) / (2 * h);
      if (comm.is_root()) {
        EXPECT_NEAR(result.forces[i][l], -slope, 1e-7);
      }
    }
}

TEST(Forces, virial_is_minus_the_gradient_in_the_strain) {
  const Comm comm = Comm::world();
  const auto c = skewed_sample();
  const Result result = evaluate(comm, c, 5.0);
  constexpr double h = 1e-5;
  const auto strained = [&](int component, double by) {
    Mat3 d{1, 0, 0, 0, 1, 0, 0, 0, 1};
    d[component] += by;
    auto s = c;
    s.box = c.box.deformed(d);
    for (auto& x : s.positions) x = s.box.to_cartesian(c.box.to_fractional(x));
    return evaluate(comm, s, 5.0).energy;
  };

  for (int i = 0; i < 9; ++i)
    EXPECT_NEAR(result.virial[i], -(strained(i, h) - strained(i, -h)) / (2 * h),
                1e-6 * (1 + std::abs(result.virial[i])));
}
