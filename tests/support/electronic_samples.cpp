#include "tests/support/electronic_samples.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

namespace quintet::electronic {
namespace {

/// Elements of one matrix under way.
struct Elements {
  std::vector<Triplet>& list;
  void add(int row, int column, double value) { list.push_back({row, column, value}); }
};

/// First unit of each rank of n, even shares.
int share_begin(const Comm& comm, int n, int rank) { return std::int64_t{n} * rank / comm.size(); }

/// Rows of a dimerised chain of a cell.
void add_cell(Elements m, int cell, int n_cells, double diagonal, double inside, double between) {
  const int a = 2 * cell, b = a + 1;
  const int before = (a + 2 * n_cells - 1) % (2 * n_cells), after = (b + 1) % (2 * n_cells);
  m.add(a, a, diagonal);
  m.add(b, b, diagonal);
  const auto bond = [&](int i, int j, double value) {
    if (value != 0) m.add(i, j, value);
  };
  bond(a, b, inside);
  bond(b, a, inside);
  bond(a, before, between);
  bond(b, after, between);
}

double norm_bound(double amplitude, double decay) {
  const double ratio = std::exp(-1 / decay);
  return 2 * amplitude * ratio / (1 - ratio);
}

/// Block (m, n) of the coupling of two molecules; its transposed is block (n, m) to the bit.
void add_coupling(Elements matrix, int m, int n, double amplitude, int n_orbitals, int seed) {
  const int low = std::min(m, n), high = std::max(m, n);
  for (int i = 0; i < n_orbitals; ++i)
    for (int j = 0; j < n_orbitals; ++j) {
      const int from = m < n ? i : j, to = m < n ? j : i;
      const double value =
          noise((std::int64_t{low} << 20) + from + seed * 7919, (std::int64_t{high} << 20) + to);
      matrix.add(m * n_orbitals + i, n * n_orbitals + j, amplitude / n_orbitals * value);
    }
}

/// H diag(-1 ... -1, 1 ... 1) H with the reflection H = 1 - 2 v v^T of a unit vector v.
void add_molecule(Elements k, int molecule, const MoleculeChain& chain) {
  const std::size_t n = chain.n_orbitals;
  std::vector<double> v(n);
  double norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    v[i] = 1.1 + noise(molecule + 104729 * chain.seed, i);
    norm += v[i] * v[i];
  }
  for (auto& x : v) x /= std::sqrt(norm);
  const auto h = [&](std::size_t i, std::size_t j) { return (i == j ? 1.0 : 0.0) - 2 * v[i] * v[j]; };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < n; ++l)
        sum += (l < static_cast<std::size_t>(chain.n_occupied) ? -1.0 : 1.0) *
               (h(std::min(i, j), l) * h(std::max(i, j), l));
      k.add(molecule * chain.n_orbitals + static_cast<int>(i),
            molecule * chain.n_orbitals + static_cast<int>(j), sum);
    }
}

}  // namespace

double noise(std::int64_t i, std::int64_t j) {
  auto x = i * 0x9e3779b97f4a7c15U + j + 12345U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  x ^= x >> 31;
  return (x >> 11) * 0x1p-52 - 1;
}

SamplePair sample(const Comm& comm, const DimerChain& chain) {
  SamplePair pair;
  pair.n_rows = 2 * chain.n_cells;
  for (int cell = share_begin(comm, chain.n_cells, comm.rank());
       cell < share_begin(comm, chain.n_cells, comm.rank() + 1); ++cell) {
    add_cell({pair.k}, cell, chain.n_cells, chain.level, chain.t_inside, chain.t_between);
    add_cell({pair.s}, cell, chain.n_cells, 1, chain.s_inside, chain.s_between);
  }
  return pair;
}

double ChainSpectrum::band_energy() const {
  double sum = 0;
  for (std::size_t i = 0; i < eigenvalues.size() / 2; ++i) sum += eigenvalues[i];
  return sum;
}

ChainSpectrum spectrum(const DimerChain& chain) {
  // with a = t_inside + t_between exp(-ik), b likewise of s: (level - e)^2 = |a - e b|^2
  ChainSpectrum result;
  for (int m = 0; m < chain.n_cells; ++m) {
    const auto phase = std::polar(1.0, -2 * std::numbers::pi * m / chain.n_cells);
    const auto a = chain.t_inside + chain.t_between * phase, b = chain.s_inside + chain.s_between * phase;
    const double square = 1 - std::norm(b), half = chain.level - std::real(a * std::conj(b));
    const double root =
        std::sqrt(std::max(0.0, half * half - square * (chain.level * chain.level - std::norm(a))));
    result.eigenvalues.push_back((half - root) / square);
    result.eigenvalues.push_back((half + root) / square);
  }
  std::sort(result.eigenvalues.begin(), result.eigenvalues.end());
  return result;
}

double MoleculeChain::coupling_norm() const { return norm_bound(coupling, decay); }
double MoleculeChain::overlap_norm() const { return norm_bound(overlap, decay); }

SamplePair sample(const Comm& comm, const MoleculeChain& chain) {
  SamplePair pair;
  pair.n_rows = chain.n_molecules * chain.n_orbitals;
  Elements k{pair.k}, s{pair.s};
  const int n = chain.n_molecules;
  for (int m = share_begin(comm, n, comm.rank()); m < share_begin(comm, n, comm.rank() + 1); ++m) {
    add_molecule(k, m, chain);
    for (int i = 0; i < chain.n_orbitals; ++i) s.add(m * chain.n_orbitals + i, m * chain.n_orbitals + i, 1);
    const int reach = static_cast<int>(chain.decay * std::log(1e13)) + 1;
    const int first = std::max(-reach, -((n - 1) / 2)), last = std::min(reach, n / 2);
    for (int d = first; d <= last; ++d) {
      if (d == 0) continue;
      const double decayed = std::exp(-std::abs(d) / chain.decay);
      add_coupling(k, m, (m + d + n) % n, chain.coupling * decayed, chain.n_orbitals, chain.seed);
      add_coupling(s, m, (m + d + n) % n, chain.overlap * decayed, chain.n_orbitals, chain.seed + 1);
    }
  }
  return pair;
}

}  // namespace quintet::electronic
