#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "physics/particles/atoms/atoms.hpp"

/// The kernels of a time step, on the host's rows, or where the atoms are if that is a device
/// (Atoms::resident). Sums are over this rank's atoms; the caller reduces over ranks.
namespace quintet {

/// Uses of the counter-based random numbers: one stream each, so that none repeats another's numbers.
namespace random_stream {
inline constexpr std::uint32_t velocities = 1, langevin = 2, rescaling = 3, cell = 4;
}

/// xx yy zz xy xz yz of a symmetric tensor.
using SymmetricTensor = std::array<double, 6>;

/// Sum of `add(i, sum)` over i in [0, n), the same for any number of threads: 128 blocks, summed in order.
///
/// `add` accumulates the term of i into its second argument, N doubles. Waits for the result.
template <int N, class Add>
[[nodiscard]] std::array<double, N> blocked_sum(const Exec& exec, const char* label, int n, const Add& add) {
  constexpr int n_blocks = 128;
  std::array<std::array<double, N>, n_blocks> partial;
  auto* const sums = partial.data();
  const int length = (n + n_blocks - 1) / n_blocks;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, n_blocks), [=](int block) {
    std::array<double, N> sum{};
    const int end = std::min(n, (block + 1) * length);
    for (int i = block * length; i < end; ++i) add(i, sum);
    sums[block] = sum;
  });
  exec.fence();
  std::array<double, N> total{};
  for (const auto& sum : partial)
    for (int k = 0; k < N; ++k) total[k] += sum[k];
  return total;
}

/// v += f dt / m; dt (ps). Reads 52 and writes 24 bytes an atom.
void kick(const Exec& exec, Atoms& atoms, double dt);
/// x += v dt; dt (ps).
void drift(const Exec& exec, Atoms& atoms, double dt);
/// v_k *= factor_k, k = x, y, z.
void scale_velocities(const Exec& exec, Atoms& atoms, const Vec3& factor);
/// v += shift (angstrom/ps).
void shift_velocities(const Exec& exec, Atoms& atoms, const Vec3& shift);
/// Stretch the box and all positions, ghosts too: x_k *= factor_k.
void scale_cell(const Exec& exec, Atoms& atoms, const Vec3& factor);
/// v_l = sum_k v_k m[3k + l].
void transform_velocities(const Exec& exec, Atoms& atoms, const Mat3& m);
/// Deform the box and all positions, ghosts too: x_l = sum_k x_k d[3k + l].
void deform_cell(const Exec& exec, Atoms& atoms, const Mat3& d);
/// Exact Ornstein-Uhlenbeck move of every velocity: v = c v + sqrt((1 - c^2) kT / m) xi, c = exp(-friction
/// dt).
///
/// xi: standard normal numbers of (seed, atom id, step). friction (1/ps), dt (ps), kt (eV).
void ornstein_uhlenbeck(const Exec& exec, Atoms& atoms, double friction, double dt, double kt,
                        std::uint64_t seed, std::int64_t step);
/// v = (1 - mixing) v + mixing ratio F: the direction of motion turned towards the force (FIRE).
void mix_velocities(const Exec& exec, Atoms& atoms, double mixing, double ratio);

/// sum_i m_i v_i^2 / 2 (eV) of the local atoms.
[[nodiscard]] double kinetic_energy(const Exec& exec, const Atoms& atoms);
/// sum_i m_i v_ik v_il / 2 (eV) of the local atoms; its trace is the kinetic energy.
[[nodiscard]] SymmetricTensor kinetic_tensor(const Exec& exec, const Atoms& atoms);
/// sum_i m_i v_i (amu angstrom/ps) and sum_i m_i (amu) of the local atoms.
[[nodiscard]] std::array<double, 4> momentum_and_mass(const Exec& exec, const Atoms& atoms);

/// F.v (eV/ps), v.v (angstrom^2/ps^2) and F.F (eV^2/angstrom^2) of the local atoms.
[[nodiscard]] std::array<double, 3> force_velocity_products(const Exec& exec, const Atoms& atoms);
/// Largest |F|^2 and |v|^2 of a local atom; 0 without local atoms.
[[nodiscard]] double largest_force_squared(const Exec& exec, const Atoms& atoms);
[[nodiscard]] double largest_velocity_squared(const Exec& exec, const Atoms& atoms);

}  // namespace quintet
