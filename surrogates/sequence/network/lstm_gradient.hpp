#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "physics/kernels/gemm.hpp"
#include "surrogates/sequence/network/lstm_tiles.hpp"

/// Gradients of an LSTM's weights by register tiles: columns of its inputs times a pack of units with its
/// four gates. For lstm_layer.cpp alone, as lstm_tiles.hpp is.

namespace quintet::sequence::lstm_tiles {

/// dL/dz of the gates of n windows by packs of units: [step][pack of units][window][gate][pack].
template <class Real>
struct GatePanels {
  const Real* data;
  int n, packs;
};

/// Columns of a left-hand matrix [step, window, k]; those of step t are a[t - delay], and before there are
/// none.
template <class Real>
struct StepColumns {
  const Real* a;
  int lda, k, delay;
};

/// A gradient of weights [k, gate, unit]: row i and gate q begin at i * row + q * gate.
template <class Real>
struct WeightRows {
  Real* data;
  std::ptrdiff_t row, gate;
};

/// Rows of gates that stay in the first-level cache while the tiles of a strip run over them: 16 KiB, beside
/// a cache line of each row of inputs.
template <class Real, int w>
constexpr int strip_rows = 16384 / static_cast<int>(4 * w * sizeof(Real));

/// C [columns, gate, pack] += sum over rows of A[row, columns] gates[row, gate, pack]; meanwhile the next
/// tile's C is fetched. Not inlined: inside its caller g++ keeps sums in memory.
template <class Real, int w, int columns>
__attribute__((noinline)) void add_gate_products(const Real* __restrict a, std::ptrdiff_t lda,
                                                 const Real* __restrict gates, int rows,
                                                 const WeightRows<Real>& c, const Real* next) {
  Pack<Real, w> sum[columns][4];
#pragma GCC unroll 8
  for (int i = 0; i < columns; ++i)
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) sum[i][q] = load<Real, w>(c.data + i * c.row + q * c.gate);
  for (int row = 0; row < rows; ++row, a += lda, gates += 4 * w) {
    if (row < 4 * columns) __builtin_prefetch(next + row / 4 * c.row + row % 4 * c.gate, 1);
    if constexpr (many_registers) {
      Pack<Real, w> right[4];
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) hold(right[q] = load<Real, w>(gates + q * w));
#pragma GCC unroll 8
      for (int i = 0; i < columns; ++i) {
        const Pack<Real, w> left = broadcast<Real, w>(a[i]);
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) sum[i][q] += left * right[q];
      }
    } else {
      Pack<Real, w> left[columns];
#pragma GCC unroll 8
      for (int i = 0; i < columns; ++i) hold(left[i] = broadcast<Real, w>(a[i]));
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        Pack<Real, w> right;
        hold(right = load<Real, w>(gates + q * w));
#pragma GCC unroll 8
        for (int i = 0; i < columns; ++i) sum[i][q] += left[i] * right;
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < columns; ++i)
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) store<Real, w>(c.data + i * c.row + q * c.gate, sum[i][q]);
}

/// C [k of all columns, gate, unit] += A^T gates over the rows, in order: each sum is that of one row after
/// the other, to the bit, wherever strips end. Steps of a pack of units lie apart, and would meet in few sets
/// of the first-level cache: a strip of them is copied together first, once for all columns of A.
template <class Real, int w>
void add_gate_products(std::initializer_list<StepColumns<Real>> a, const GatePanels<Real>& gates, int steps,
                       WeightRows<Real> c) {
  const int rows = steps * gates.n;
  alignas(64) Real strip[std::ptrdiff_t{strip_rows<Real, w>} * 4 * w];
  for (int begin = 0; begin < rows; begin += strip_rows<Real, w>) {
    const int end = std::min(rows, begin + strip_rows<Real, w>);
    for (int u = 0; u < gates.packs; ++u) {
      for (int row = begin, some = 0; row < end; row += some) {
        const int t = row / gates.n, window = row % gates.n;
        some = std::min(gates.n - window, end - row);
        std::copy_n(gates.data + ((std::ptrdiff_t{t} * gates.packs + u) * gates.n + window) * 4 * w,
                    std::ptrdiff_t{some} * 4 * w, strip + std::ptrdiff_t{row - begin} * 4 * w);
      }
      WeightRows<Real> to = {c.data + u * w, c.row, c.gate};
      for (const auto& columns : a) {
        const int first = std::max(begin, columns.delay * gates.n);
        const Real* left = columns.a + (std::ptrdiff_t{first} - columns.delay * gates.n) * columns.lda;
        for (int i = 0; i < columns.k && first < end; i += tile_rows) {
          const WeightRows<Real> at = {to.data + i * to.row, to.row, to.gate};
          for_rows(std::min(tile_rows, columns.k - i), [&](auto constant) {
            add_gate_products<Real, w, decltype(constant)::value>(
                left + i, columns.lda, strip + std::ptrdiff_t{first - begin} * 4 * w, end - first, at,
                at.data + tile_rows * to.row);
          });
        }
        to.data += columns.k * to.row;
      }
    }
  }
}

}  // namespace quintet::sequence::lstm_tiles
