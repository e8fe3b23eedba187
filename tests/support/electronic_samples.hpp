#pragma once

#include <cstdint>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

/// Kohn-Sham and overlap matrices K, S made by formula, of any size, whose spectra are known. Elements are
/// this rank's share (whole cells), both triangles, bitwise symmetric, the same in all for any number of
/// ranks.
namespace quintet::electronic {

/// A number in [-1, 1) that i and j determine.
[[nodiscard]] double noise(std::int64_t i, std::int64_t j);

/// K and S as elements of this rank.
struct SamplePair {
  int n_rows = 0;
  std::vector<Triplet> k, s;
};

/// Periodic chain of cells of two orbitals a, b with alternating bonds (Su, Schrieffer and Heeger 1979):
/// K_aa = K_bb = level, K_ab = t_inside within a cell and K_ba = t_between to the next; S_aa = S_bb = 1, S_ab
/// = s_inside, S_ba = s_between. All other elements are 0. In orthogonal basis (s = 0) the eigenvalues are
/// level +- |t_inside + t_between exp(-ik)|, k = 2 pi m / n_cells, and for even n_cells the gap is 2
/// |t_inside - t_between|; equal bonds make a metal.
struct DimerChain {
  int n_cells = 8;  ///< 3 or more
  double level = 0, t_inside = -1.2, t_between = -0.8;
  double s_inside = 0, s_between = 0;  ///< |s_inside| + |s_between| < 1
};
[[nodiscard]] SamplePair sample(const Comm& comm, const DimerChain& chain);

/// Exact answers, orbital counts and energies for single occupancy.
struct ChainSpectrum {
  std::vector<double>
      eigenvalues;  ///< [2 n_cells], ascending: roots of det(K(k) - e S(k)) = 0 in closed form
  [[nodiscard]] double homo() const { return eigenvalues[eigenvalues.size() / 2 - 1]; }
  [[nodiscard]] double lumo() const { return eigenvalues[eigenvalues.size() / 2]; }
  /// Sum of the lower half: Tr(D K).
  [[nodiscard]] double band_energy() const;
};
[[nodiscard]] ChainSpectrum spectrum(const DimerChain& chain);

/// Periodic chain of molecules, full blocks of n_orbitals rows: K_mm has n_occupied eigenvalues -1 and else
/// +1, K_mn and S_mn (m != n) are random of Frobenius norm at most coupling exp(-d/decay) and overlap
/// exp(-d/decay), d the distance in molecules; S_mm = 1. Blocks below 1e-13 are absent.
///
/// By Sylvester's law N(mu = 0) = n_occupied n_molecules exactly if coupling_norm() < 1, and no eigenvalue
/// of the pair lies within (1 - coupling_norm())/(1 + overlap_norm()) of 0.
struct MoleculeChain {
  int n_molecules = 20, n_orbitals = 6, n_occupied = 4;
  double coupling = 0.2, overlap = 0.05, decay = 0.8;
  int seed = 1;
  /// Bounds of ||K - diag K_mm|| and ||S - 1||: 2 sum_d coupling exp(-d/decay).
  [[nodiscard]] double coupling_norm() const;
  [[nodiscard]] double overlap_norm() const;
  [[nodiscard]] double half_gap() const { return (1 - coupling_norm()) / (1 + overlap_norm()); }
};
[[nodiscard]] SamplePair sample(const Comm& comm, const MoleculeChain& chain);

}  // namespace quintet::electronic
