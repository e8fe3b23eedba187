#include "physics/particles/dynamics/velocities.hpp"

#include <cmath>
#include <span>

#include "io/parallel/comm.hpp"
#include "physics/kernels/random.hpp"
#include "physics/particles/atoms/units.hpp"

namespace quintet {

namespace {

/// v = xi / sqrt(m), of unit temperature but for a factor.
void draw(const Exec& exec, Atoms& atoms, std::uint64_t seed) {
  const auto v = atoms.velocity;
  const auto type = atoms.type;
  const auto id = atoms.id;
  const double* const mass = atoms.masses.data();
  Kokkos::parallel_for(
      "particles::draw_velocities", Kokkos::RangePolicy<Exec>(exec, 0, atoms.n_local), [=](int i) {
        double xi[4];
        for (int pair = 0; pair < 2; ++pair)
          normal_pair(seed, random_stream::velocities, id(i), pair, xi[2 * pair], xi[2 * pair + 1]);
        for (int k = 0; k < 3; ++k) v(i, k) = xi[k] / std::sqrt(mass[type(i)]);
      });
}

}  // namespace

void remove_momentum(const Exec& exec, const Comm& comm, Atoms& atoms) {
  auto sums = momentum_and_mass(exec, atoms);
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  shift_velocities(exec, atoms, {-sums[0] / sums[3], -sums[1] / sums[3], -sums[2] / sums[3]});
}

void draw_velocities(const Exec& exec, const Comm& comm, Atoms& atoms, double temperature, std::uint64_t seed,
                     bool remove, const FrozenAtoms& frozen) {
  draw(exec, atoms, seed);
  frozen.hold_velocities(exec, atoms);
  const std::int64_t n_free = atoms.n_global - frozen.count();
  const bool at_rest = remove && frozen.none() && n_free > 1;  // a lone atom would be left without motion
  if (at_rest) remove_momentum(exec, comm, atoms);
  const double wanted = 0.5 * degrees_of_freedom(n_free, at_rest) * units::boltzmann * temperature;
  const double factor = std::sqrt(wanted / comm.sum(kinetic_energy(exec, atoms)));
  scale_velocities(exec, atoms, {factor, factor, factor});
}

}  // namespace quintet
