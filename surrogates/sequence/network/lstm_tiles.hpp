#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "physics/kernels/pack.hpp"
#include "surrogates/sequence/network/lstm_cell.hpp"

/// One step of LSTM cells by register tiles: windows times a pack of units with its four gates. For
/// lstm_layer.cpp alone, whose flags keep a window's bits independent of the windows beside it.
namespace quintet::sequence::lstm_tiles {

constexpr bool many_registers = quintet::detail::pack_bytes == 64;
/// Windows of a register tile: four gates each, beside the rows' factors and those of the weights, fill the
/// registers (32 with AVX-512, else 16).
constexpr int tile_rows = many_registers ? 6 : 3;
/// Windows whose sums are made before their cells are stepped: functions of several cells are under way at a
/// time, and the sums stay in the first-level cache.
constexpr int rows_together = 32;

/// Sums of the gates in memory: z of row r and gate q at r * row + q * gate.
template <class T>
struct Sums {
  T* z;
  std::ptrdiff_t row, gate;
};

/// Where a tile of cells lies in memory; pointers at the first window and the pack of units. States c and
/// their tanh lie by packs of units: one window's pack after the other's.
template <class Real>
struct Tile {
  const Real *x, *h_before;  ///< h_before: at the first unit
  int ldx, n_in, units, stride;
  const Real *weights, *bias, *c_before;
  Sums<Real> gates;  ///< null: not kept
  Real *c, *tanh_c, *h;
};

/// The biases of a pack of units as the sums of any row.
template <class Real, int w>
Sums<const Real> biases(const Tile<Real>& tile) {
  return {tile.bias, 0, w};
}

/// Rows of a product with a pack of units' weights [k][gate][pack].
template <class Real>
struct Factor {
  const Real* a;
  std::ptrdiff_t lda;
  int k;
};

/// to [rows, gate, pack] = from + a weights + b weights of a pack of units; b may be of no columns. Not
/// inlined: beside the cells' functions g++ keeps the sums in memory.
template <class Real, int w, int rows>
__attribute__((noinline)) void sum_gates(const Factor<Real>& a, const Factor<Real>& b,
                                         const Real* __restrict weights, const Sums<const Real>& from,
                                         const Sums<Real>& to) {
  Pack<Real, w> sum[rows][4];
#pragma GCC unroll 8
  for (int q = 0; q < 4; ++q)
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) sum[r][q] = load<Real, w>(from.z + r * from.row + q * from.gate);
  const Factor<Real>* factor = &a;
  for (int part = 0; part < 2; ++part, factor = &b) {
    const Real* __restrict const left_rows = factor->a;
    const std::ptrdiff_t lda = factor->lda;
    const int k = factor->k;
    for (int i = 0; i < k; ++i, weights += 4 * w) {
      if constexpr (many_registers) {
        Pack<Real, w> right[4];
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) hold(right[q] = load<Real, w>(weights + q * w));
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          const Pack<Real, w> left = broadcast<Real, w>(left_rows[r * lda + i]);
#pragma GCC unroll 4
          for (int q = 0; q < 4; ++q) sum[r][q] += left * right[q];
        }
      } else {
        Pack<Real, w> left[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) hold(left[r] = broadcast<Real, w>(left_rows[r * lda + i]));
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) {
          Pack<Real, w> right;
          hold(right = load<Real, w>(weights + q * w));
#pragma GCC unroll 8
          for (int r = 0; r < rows; ++r) sum[r][q] += left[r] * right;
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) store<Real, w>(to.z + r * to.row + q * to.gate, sum[r][q]);
}

/// Call action(constant of rows) for 1 to tile_rows rows.
template <class Action>
void for_rows(int rows, const Action& action) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((rows == i + 1 ? action(std::integral_constant<int, i + 1>()) : void()), ...);
  }
  (std::make_integer_sequence<int, tile_rows>());
}

/// Step a pack of units of `rows` windows from its sums, to which the bias is added, or has been: in one
/// sweep the gates and states c, in a second one tanh(c) and h, for these wait for each other. What it calls
/// is inlined: else packs go through memory.
template <class Real, int w, bool keep, bool first, bool add_bias>
__attribute__((noinline, flatten)) void step_cells(int rows, const Tile<Real>& where,
                                                   const Sums<const Real>& sums) {
  const Tile<Real> tile = where;  // which stores cannot reach
  const std::ptrdiff_t stride = tile.stride, row = sums.row, gate = sums.gate;
  const Real* const z_of_rows = sums.z;
  for (int r = 0; r < rows; ++r) {
    Pack<Real, w> z[4];
    const Real* z_of_row = z_of_rows + r * row;
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      z[q] = load<Real, w>(z_of_row + q * gate);
      if constexpr (add_bias) z[q] += load<Real, w>(tile.bias + q * w);
    }
    CellState<Real, w> s;
    cell_forward<Real, w>(z, first ? Pack<Real, w>{} : load<Real, w>(tile.c_before + r * w), s);
    store<Real, w>(tile.c + r * w, s.c);
    store<Real, w>(tile.h + r * stride, s.o);  // times tanh(c) below
    if constexpr (keep) {
      Real* gates = tile.gates.z + r * tile.gates.row;
      store<Real, w>(gates, s.i);
      store<Real, w>(gates + tile.gates.gate, s.f);
      store<Real, w>(gates + 2 * tile.gates.gate, s.g);
      store<Real, w>(gates + 3 * tile.gates.gate, s.o);
    }
  }
  const auto finish = [&]<int n>(std::integral_constant<int, n>, int r) {
    Pack<Real, w> c[n], tanh_c[n];
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) c[i] = load<Real, w>(tile.c + (r + i) * w);
    pack_tanhs<Real, w, n>(c, tanh_c);
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) {
      Real* h = tile.h + (r + i) * stride;
      store<Real, w>(h, load<Real, w>(h) * tanh_c[i]);
      if constexpr (keep) store<Real, w>(tile.tanh_c + (r + i) * w, tanh_c[i]);
    }
  };
  int r = 0;
  for (; r + 4 <= rows; r += 4) finish(std::integral_constant<int, 4>(), r);
  for (; r < rows; ++r) finish(std::integral_constant<int, 1>(), r);
}

/// What sums of a step hold already.
enum class Given {
  nothing,
  inputs,  ///< b + x W
  all      ///< x W + h_before U, the bias excepted
};

/// Step a pack of units of up to rows_together windows; what the sums lack is added, tile by tile.
template <class Real, int w, bool keep, bool first>
void step_rows(int n, const Tile<Real>& tile, Given given, const Sums<const Real>& sums) {
  if (given == Given::all) return step_cells<Real, w, keep, first, true>(n, tile, sums);
  if (first && given == Given::inputs) return step_cells<Real, w, keep, first, false>(n, tile, sums);
  alignas(64) Real z[rows_together * 4 * w];
  for (int row = 0, rows = 0; row < n; row += rows) {
    const int tiles = (n - row + tile_rows - 1) / tile_rows;
    rows = (n - row + tiles - 1) / tiles;  // of about the same size: narrow ones wait for their own sums
    const Sums<Real> to = {z + std::ptrdiff_t{row} * 4 * w, 4 * w, w};
    const Factor<Real> x = {tile.x + std::ptrdiff_t{row} * tile.ldx, tile.ldx, tile.n_in},
                       h = {first ? nullptr : tile.h_before + std::ptrdiff_t{row} * tile.stride, tile.stride,
                            first ? 0 : tile.units};
    for_rows(rows, [&](auto constant) {
      constexpr int some = decltype(constant)::value;
      if (given == Given::inputs)
        sum_gates<Real, w, some>({nullptr, 0, 0}, h, tile.weights + std::ptrdiff_t{tile.n_in} * 4 * w,
                                 {sums.z + row * sums.row, sums.row, sums.gate}, to);
      else
        sum_gates<Real, w, some>(x, h, tile.weights, biases<Real, w>(tile), to);
    });
  }
  step_cells<Real, w, keep, first, false>(n, tile, {z, 4 * w, w});
}

}  // namespace quintet::sequence::lstm_tiles
