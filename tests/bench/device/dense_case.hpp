#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "physics/electronic/device/device_submatrices.hpp"

/// What the benchmark of dense submatrices on a device starts from (archive.hpp).
namespace quintet::electronic {

/// A ring of molecules, coupled to those within `reach`: half of the levels about -0.7, half about 0.6, the
/// gap stays open. The same numbers on every machine.
struct DenseRing {
  static constexpr int n_molecules = 160, orbitals = 8, reach = 12;
  std::vector<std::int32_t> size = std::vector<std::int32_t>(n_molecules, orbitals), column;
  std::vector<std::int64_t> row_begin{0}, offset;
  std::vector<double> value;

  DenseRing() {
    for (int i = 0; i < n_molecules; ++i) {
      for (int j = 0; j < n_molecules; ++j) {
        const int apart = std::min(std::abs(i - j), n_molecules - std::abs(i - j));
        if (apart > reach) continue;
        column.push_back(j);
        offset.push_back(value.size());
        for (int c = 0; c < orbitals; ++c)
          for (int r = 0; r < orbitals; ++r)
            value.push_back(element(i * orbitals + r, j * orbitals + c, apart));
      }
      row_begin.push_back(column.size());
    }
  }
  [[nodiscard]] BlockRowsView view() const { return {size, row_begin, column, offset, value}; }

  /// The molecules of a submatrix: n_blocks of them from number `first` on, ascending.
  static std::vector<std::int32_t> blocks(int first, int n_blocks) {
    std::vector<std::int32_t> result;
    for (int k = 0; k < n_blocks; ++k) result.push_back((first + k) % n_molecules);
    std::sort(result.begin(), result.end());
    return result;
  }
  /// The orbitals of one of its molecules.
  static std::vector<int> own(int n_blocks) {
    std::vector<int> result(orbitals);
    std::iota(result.begin(), result.end(), n_blocks / 2 * orbitals);
    return result;
  }
  /// [n, n], column-major.
  [[nodiscard]] std::vector<double> submatrix(const std::vector<std::int32_t>& blocks) const {
    const std::size_t n = blocks.size() * orbitals;
    std::vector<double> a(n * n, 0.0);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      for (auto p = row_begin[blocks[i]]; p < row_begin[blocks[i] + 1]; ++p) {
        const auto found = std::lower_bound(blocks.begin(), blocks.end(), column[p]);
        if (found == blocks.end() || *found != column[p]) continue;
        const std::size_t j = found - blocks.begin();
        for (std::size_t c = 0; c < orbitals; ++c)
          for (std::size_t r = 0; r < orbitals; ++r)
            a[(j * orbitals + c) * n + i * orbitals + r] = value[offset[p] + c * orbitals + r];
      }
    return a;
  }

 private:
  static double element(int i, int j, int apart) {
    if (i == j) return i % orbitals < orbitals / 2 ? -0.7 : 0.6;
    auto x = std::min(i, j) * 0x9E3779B97F4A7C15u + std::max(i, j) * 0xC2B2AE3D27D4EB4Fu;
    x = (x ^ (x >> 31)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 29)) * 0x94D049BB133111EBu;
    const double noise = ((x ^ (x >> 32)) >> 11) * 0x1p-52 - 1;
    return 0.06 / (1 + apart * apart) * noise;
  }
};

/// What LAPACK finds for the submatrix of the ring's first n_blocks molecules.
struct DenseCase {
  int n_blocks = 0;
  std::vector<double> levels;   ///< [n] ascending
  std::vector<double> columns;  ///< [n, orbitals] of (1 - sign a)/2, those of own()
};
template <class A>
void visit(A& archive, DenseCase& c) {
  archive.all(c.n_blocks, c.levels, c.columns);
}

}  // namespace quintet::electronic
