#include "surrogates/sequence/network/lstm_layer.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "io/log/error.hpp"
#include "surrogates/sequence/network/lstm_cell.hpp"

namespace quintet::sequence {

namespace {

/// Keep a pack in a register: else g++ may read it from memory again for every product.
template <class P>
inline void hold(P& pack) {
#ifdef __x86_64__
  asm("" : "+v"(pack));
#else
  (void)pack;
#endif
}

constexpr bool many_registers = quintet::detail::pack_bytes == 64;
/// Windows of a register tile: four gates each, beside the rows' factors and those of the weights, fill the
/// registers (32 with AVX-512, else 16).
constexpr int tile_rows = many_registers ? 6 : 3;

/// Where a tile of cells lies in memory; pointers at the first window and the pack of units.
template <class Real>
struct Tile {
  const Real *x, *h_before;  ///< h_before: at the first unit
  int ldx, n_in, units, stride;
  const Real *weights, *bias, *c_before;
  Real *gates, *c, *tanh_c, *h;
};

/// Sums of the gates in memory: z of row r and gate q at r * row + q * gate.
template <class T>
struct Sums {
  T* z;
  std::ptrdiff_t row, gate;
};

/// The biases of a pack of units as the sums of any row.
template <class Real>
Sums<const Real> biases(const Tile<Real>& tile) {
  return {tile.bias, 0, pack_width<Real>};
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
template <class Real, int rows>
__attribute__((noinline)) void sum_gates(const Factor<Real>& a, const Factor<Real>& b,
                                         const Real* __restrict weights, const Sums<const Real>& from,
                                         const Sums<Real>& to) {
  constexpr int w = pack_width<Real>;
  Pack<Real> sum[rows][4];
#pragma GCC unroll 8
  for (int q = 0; q < 4; ++q)
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) sum[r][q] = load<Real>(from.z + r * from.row + q * from.gate);
  const Factor<Real>* factor = &a;
  for (int part = 0; part < 2; ++part, factor = &b) {
    const Real* __restrict const left_rows = factor->a;
    const std::ptrdiff_t lda = factor->lda;
    const int k = factor->k;
    for (int i = 0; i < k; ++i, weights += 4 * w) {
      if constexpr (many_registers) {
        Pack<Real> right[4];
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) hold(right[q] = load<Real>(weights + q * w));
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          const Pack<Real> left = broadcast<Real>(left_rows[r * lda + i]);
#pragma GCC unroll 4
          for (int q = 0; q < 4; ++q) sum[r][q] += left * right[q];
        }
      } else {
        Pack<Real> left[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) hold(left[r] = broadcast<Real>(left_rows[r * lda + i]));
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) {
          Pack<Real> right;
          hold(right = load<Real>(weights + q * w));
#pragma GCC unroll 8
          for (int r = 0; r < rows; ++r) sum[r][q] += left[r] * right;
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) store<Real>(to.z + r * to.row + q * to.gate, sum[r][q]);
}

/// Call action(constant of rows) for 1 to tile_rows rows.
template <class Action>
void for_rows(int rows, const Action& action) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((rows == i + 1 ? action(std::integral_constant<int, i + 1>()) : void()), ...);
  }
  (std::make_integer_sequence<int, tile_rows>());
}

/// One step of `rows` windows and one pack of units from their sums, to which the bias is added, or has been.
template <class Real, int rows, bool keep, bool first, bool add_bias>
void step_cells(const Tile<Real>& tile, const Sums<const Real>& sums) {
  constexpr int w = pack_width<Real>;
  Pack<Real> z[rows][4], c_before[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      z[r][q] = load<Real>(sums.z + r * sums.row + q * sums.gate);
      if constexpr (add_bias) z[r][q] += load<Real>(tile.bias + q * w);
    }
    c_before[r] = first ? Pack<Real>{} : load<Real>(tile.c_before + std::int64_t{r} * tile.stride);
  }
  CellState<Real> states[rows];
  cells_forward<Real, rows>(z, c_before, states);
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    const std::ptrdiff_t at = std::int64_t{r} * tile.stride;
    const CellState<Real>& s = states[r];
    store<Real>(tile.c + at, s.c);
    store<Real>(tile.h + at, s.h);
    if constexpr (keep) {
      Real* gates = tile.gates + 4 * at;
      store<Real>(gates, s.i);
      store<Real>(gates + tile.stride, s.f);
      store<Real>(gates + 2 * tile.stride, s.g);
      store<Real>(gates + 3 * tile.stride, s.o);
      store<Real>(tile.tanh_c + at, s.tanh_c);
    }
  }
}

/// What sums of a step hold already.
enum class Given {
  nothing,
  inputs,  ///< b + x W
  all      ///< x W + h_before U, the bias excepted
};

/// Step up to tile_rows windows; what the sums lack is added.
template <class Real, bool keep, bool first>
void step_tile(int rows, const Tile<Real>& tile, Given given, const Sums<const Real>& sums) {
  constexpr int w = pack_width<Real>;
  for_rows(rows, [&](auto constant) {
    constexpr int n = decltype(constant)::value;
    if (given == Given::all) return step_cells<Real, n, keep, first, true>(tile, sums);
    if (first && given == Given::inputs) return step_cells<Real, n, keep, first, false>(tile, sums);
    alignas(64) Real z[n * 4 * w];
    const Sums<Real> to = {z, 4 * w, w};
    const Factor<Real> x = {tile.x, tile.ldx, tile.n_in},
                       h = {tile.h_before, tile.stride, first ? 0 : tile.units};
    if (given == Given::inputs)
      sum_gates<Real, n>({nullptr, 0, 0}, h, tile.weights + std::ptrdiff_t{tile.n_in} * 4 * w, sums, to);
    else
      sum_gates<Real, n>(x, h, tile.weights, biases(tile), to);
    step_cells<Real, n, keep, first, false>(tile, {z, 4 * w, w});
  });
}

template <class Real>
void grow(AlignedVector<Real>& array, std::size_t n) {
  if (array.size() < n) array.resize(n);
}

}  // namespace

template <class Real>
LstmLayer<Real>::LstmLayer(int n_in, int units, Products products)
    : n_in_(n_in),
      units_(units),
      bf16_(products == Products::bf16),
      stride_(padded(units, pack_width<Real>)),
      weights_(std::int64_t{n_in + units} * 4 * stride_, Real(0)),
      bias_(std::int64_t{4} * stride_, Real(0)),
      padded_(std::int64_t{n_in + units} * 4 * stride_, Real(0)),
      bias_bar_(std::int64_t{4} * stride_, Real(0)) {}

template <class Real>
std::size_t LstmLayer<Real>::n_parameters() const {
  return 4 * std::int64_t{units_} * (n_in_ + units_ + 1);
}

template <class Real>
void LstmLayer<Real>::refresh(const Real* parameters) {
  w_codes_.reset();
  u_codes_.reset();
  constexpr int w = pack_width<Real>;
  const int rows = n_in_ + units_;
  const auto place = [&](const Real* from, Real* to,
                         std::ptrdiff_t panel) {  // a row of weights, or the biases
    for (int q = 0; q < 4; ++q, from += units_, to += w) {
      int begin = 0;
      for (; begin + w <= units_; begin += w) store<Real>(to + begin / w * panel, load<Real>(from + begin));
      std::copy_n(from + begin, units_ - begin, to + begin / w * panel);
    }
  };
  place(parameters + std::int64_t{rows} * 4 * units_, bias_.data(), 4 * w);
  const Real* all = parameters;
  if (stride_ != units_) {
    for (int i = 0; i < 4 * rows; ++i) {
      Real* to = padded_.data() + std::int64_t{i} * stride_;
      std::copy_n(parameters + std::int64_t{i} * units_, units_, to);
      std::fill(to + units_, to + stride_, Real(0));
    }
    all = padded_.data();
  }
  const Real* all_u = all + std::int64_t{n_in_} * 4 * stride_;
  if constexpr (std::is_same_v<Real, float>)
    if (bf16_) {
      const int width = 4 * stride_;
      all_bf16_.assign(all, width, rows, width);
      w_back_bf16_.assign(all, width, width, n_in_, true);
      u_back_bf16_.assign(all_u, width, width, units_, true);
      return;
    }
  const std::ptrdiff_t panel = std::int64_t{rows} * 4 * w;
  for (int i = 0; i < rows; ++i)
    place(parameters + std::int64_t{i} * 4 * units_, weights_.data() + std::int64_t{i} * 4 * w, panel);
  w_back_.assign(all, 4 * stride_, n_in_, true);
  u_back_.assign(all_u, 4 * stride_, units_, true);
}

/// to [rows, n_in or units] = z_bar W^T, or z_bar U^T.
template <class Real>
void LstmLayer<Real>::multiply_back(const Real* z_bar, int rows, bool to_inputs, Real* to) const {
  const PackedMatrix<Real>& matrix = to_inputs ? w_back_ : u_back_;
  const int width = 4 * stride_, stride = padded(to_inputs ? n_in_ : units_, pack_width<Real>);
  if constexpr (std::is_same_v<Real, float>)
    if (bf16_) return multiply_bf16(z_bar, width, rows, to_inputs ? w_back_bf16_ : u_back_bf16_, to, stride);
  multiply(z_bar, width, rows, matrix, to, stride);
}

/// z [rows, 4 stride] = b + x W.
template <class Real>
void LstmLayer<Real>::sum_inputs(Steps<const Real> x, int rows, Real* z) const {
  constexpr int w = pack_width<Real>;
  const std::ptrdiff_t panel = std::int64_t{n_in_ + units_} * 4 * w;
  for (int unit = 0; unit < stride_; unit += w)
    for (int row = 0; row < rows; row += tile_rows) {
      const std::ptrdiff_t at = row;
      const Sums<Real> to = {z + 4 * at * stride_ + unit, 4 * std::ptrdiff_t{stride_}, stride_};
      for_rows(std::min(tile_rows, rows - row), [&](auto constant) {
        sum_gates<Real, decltype(constant)::value>({x.data + at * x.stride, x.stride, n_in_}, {nullptr, 0, 0},
                                                   weights_.data() + unit / w * panel,
                                                   {bias_.data() + 4 * unit, 0, w}, to);
      });
    }
}

template <class Real>
void LstmLayer<Real>::take_codes(const BinaryCodes& w, const BinaryCodes& u, CodeKernel kernel) {
  if (!std::is_same_v<Real, float> || w.rows != 4 * units_ || w.columns != n_in_ || u.rows != 4 * units_ ||
      u.columns != units_)
    throw InternalError("codes of a matrix that is not this layer's");
  const auto spread =
      [&](const BinaryCodes& codes) {  // gates apart by whole packs: rows of zeros between them
        BinaryCodes wide = codes;
        wide.rows = 4 * stride_;
        const auto move = [&](const auto& from, auto& to, std::ptrdiff_t width) {
          to.assign(std::int64_t{codes.bits} * wide.rows * width, 0);
          for (int i = 0; i < codes.bits; ++i)
            for (int q = 0; q < 4; ++q)
              std::copy_n(from.begin() + (std::ptrdiff_t{i} * codes.rows + q * units_) * width,
                          units_ * width, to.begin() + (std::ptrdiff_t{i} * wide.rows + q * stride_) * width);
        };
        move(codes.alpha, wide.alpha, codes.groups());
        move(codes.keys, wide.keys, codes.bytes_of_row());
        return wide;
      };
  w_codes_.emplace(spread(w), kernel);
  u_codes_.emplace(spread(u), kernel);
}

template <class Real>
void LstmLayer<Real>::step(Steps<const Real> x, int n, const Real* h_before, const Real* c_before,
                           const Real* z, bool complete, Real* gates, Real* c, Real* tanh_c, Real* h) {
  constexpr int w = pack_width<Real>;
  const Given given = z == nullptr ? Given::nothing : complete ? Given::all : Given::inputs;
  const std::ptrdiff_t panel = std::int64_t{n_in_ + units_} * 4 * w;
  for (int unit = 0; unit < stride_; unit += w)
    for (int row = 0, rows = 0; row < n; row += rows) {
      const int tiles = (n - row + tile_rows - 1) / tile_rows;
      rows = (n - row + tiles - 1) / tiles;  // of about the same size: narrow ones wait for their own sums
      const std::ptrdiff_t at = std::int64_t{row} * stride_;
      const auto moved = [](auto* p, std::ptrdiff_t by) { return p == nullptr ? p : p + by; };
      const Tile<Real> tile = {x.data + std::int64_t{row} * x.stride,
                               moved(h_before, at),
                               x.stride,
                               n_in_,
                               units_,
                               stride_,
                               weights_.data() + unit / w * panel,
                               bias_.data() + 4 * unit,
                               moved(c_before, at + unit),
                               moved(gates, 4 * at + unit),
                               c + at + unit,
                               moved(tanh_c, at + unit),
                               h + at + unit};
      const Sums<const Real> sums = {moved(z, 4 * at + unit), 4 * std::ptrdiff_t{stride_}, stride_};
      const auto run =
          gates != nullptr
              ? (h_before == nullptr ? step_tile<Real, true, true> : step_tile<Real, true, false>)
              : (h_before == nullptr ? step_tile<Real, false, true> : step_tile<Real, false, false>);
      run(rows, tile, given, sums);
    }
}

template <class Real>
void LstmLayer<Real>::forward(Steps<const Real> x, int steps, int n, Real* h, bool keep) {
  const std::size_t size = std::int64_t{n} * stride_;  // of a step
  grow(c_, keep ? size * steps : size);
  if (keep) {
    grow(gates_, 4 * size * steps);
    grow(tanh_c_, size * steps);
  }
  // One window alone waits for its weights, from the second-level cache: x W is made for all steps at once,
  // and W is read once instead of at every step (a seventh of the time of LSTM-80 x 2; from two windows on it
  // costs some). The sums are the same to the bit.
  const bool coded = w_codes_.has_value(), together = coded || (!bf16_ && n == 1 && steps > 1);
  const int width = 4 * stride_;
  if (together || bf16_) grow(z_, (together ? steps : 1) * 4 * size);
  if (together && !coded) sum_inputs(x, steps * n, z_.data());
  if constexpr (std::is_same_v<Real, float>)
    if (coded) w_codes_->multiply(x.data, x.stride, steps * n, z_.data(), width);
  for (int t = 0; t < steps; ++t) {
    const Steps<const Real> now = {x.data + std::int64_t{t} * n * x.stride, x.stride};
    Real* c = c_.data() + (keep ? size * t : 0);
    const Real* c_before = t == 0 ? nullptr : (keep ? c - size : c);
    const Real* h_before = t == 0 ? nullptr : h + size * (t - 1);
    Real* z = together ? z_.data() + 4 * size * t : bf16_ ? z_.data() : nullptr;
    if constexpr (std::is_same_v<Real, float>) {
      if (coded && t > 0) u_codes_->multiply(h_before, stride_, n, z, width, true);
      if (bf16_ && !coded)
        multiply_bf16({{now.data, now.stride, n_in_}, {h_before, stride_, units_}}, n, all_bf16_, z, width);
    }
    step(now, n, h_before, c_before, z, coded || bf16_, keep ? gates_.data() + 4 * size * t : nullptr, c,
         keep ? tanh_c_.data() + size * t : nullptr, h + size * t);
  }
}

// The gradient of one step of the cell, gates and biases in one sweep; products with the weights follow for
// all steps together.
template <class Real>
void LstmLayer<Real>::step_back(int t, int n, const Real* h_bar, bool is_last) {
  constexpr int w = pack_width<Real>;
  const std::ptrdiff_t size = std::int64_t{n} * stride_;
  Real* gates = gates_.data() + 4 * size * t;
  const Real *c = c_.data() + size * t, *tanh_c = tanh_c_.data() + size * t;
  for (int unit = 0; unit < stride_; unit += w) {
    Pack<Real> bias_bar[4];
    for (int q = 0; q < 4; ++q) bias_bar[q] = load<Real>(bias_bar_.data() + q * stride_ + unit);
    for (int row = 0; row < n; ++row) {
      const std::ptrdiff_t at = std::int64_t{row} * stride_ + unit;
      Real* z = gates + 4 * (at - unit) + unit;
      CellState<Real> s;
      s.i = load<Real>(z);
      s.f = load<Real>(z + stride_);
      s.g = load<Real>(z + 2 * stride_);
      s.o = load<Real>(z + 3 * stride_);
      s.tanh_c = load<Real>(tanh_c + at);
      const Pack<Real> c_before = t == 0 ? Pack<Real>{} : load<Real>(c - size + at);
      Pack<Real> bar = load<Real>(h_bar + at), c_bar{}, z_bar[4];
      if (!is_last) {
        bar += load<Real>(h_bar_.data() + at);
        c_bar = load<Real>(c_bar_.data() + at);
      }
      cell_backward<Real>(s, c_before, bar, c_bar, z_bar);
      store<Real>(c_bar_.data() + at, c_bar);
      for (int q = 0; q < 4; ++q) {
        store<Real>(z + q * stride_, z_bar[q]);
        bias_bar[q] += z_bar[q];
      }
    }
    for (int q = 0; q < 4; ++q) store<Real>(bias_bar_.data() + q * stride_ + unit, bias_bar[q]);
  }
}

/// gradient [n_in + units, 4 units] += (x, h of the step before)^T z_bar over all steps of n windows.
template <class Real>
void LstmLayer<Real>::add_gradient(Steps<const Real> x, const Real* h, int steps, int n, Real* gradient) {
  const int width = 4 * stride_, rows = steps * n;
  const Real* z_bar = gates_.data();
  const bool padding = stride_ != units_;
  if (padding) std::fill(padded_.begin(), padded_.end(), Real(0));
  Real* to = padding ? padded_.data() : gradient;
  bool done = false;
  if constexpr (std::is_same_v<Real, float>)
    if (bf16_) {
      add_transposed_products_bf16({{x.data, x.stride, n_in_}, {h, stride_, units_, n}}, z_bar, width, rows,
                                   width, to, width);
      done = true;
    }
  if (!done)
    add_transposed_products<Real>({{x.data, x.stride, n_in_}, {h, stride_, units_, n}}, z_bar, width, rows,
                                  width, to, width);
  if (!padding) return;
  for (int i = 0; i < 4 * (n_in_ + units_); ++i)
    for (int j = 0; j < units_; ++j)
      gradient[std::int64_t{i} * units_ + j] += padded_[std::int64_t{i} * stride_ + j];
}

template <class Real>
void LstmLayer<Real>::backward(Steps<const Real> x, int steps, int n, const Real* h, const Real* h_bar,
                               Real* x_bar, Real* gradient) {
  const std::ptrdiff_t size = std::int64_t{n} * stride_;
  grow(c_bar_, static_cast<std::size_t>(size));
  grow(h_bar_, static_cast<std::size_t>(size));
  std::fill(bias_bar_.begin(), bias_bar_.end(), Real(0));
  for (int t = steps - 1; t >= 0; --t) {
    step_back(t, n, h_bar + size * t, t == steps - 1);
    const Real* z_bar = gates_.data() + 4 * size * t;  // while they are in the cache
    if (t > 0) multiply_back(z_bar, n, false, h_bar_.data());
    if (x_bar != nullptr)
      multiply_back(z_bar, n, true, x_bar + std::ptrdiff_t{t} * n * padded(n_in_, pack_width<Real>));
  }
  add_gradient(x, h, steps, n, gradient);
  Real* b_gradient = gradient + std::int64_t{n_in_ + units_} * 4 * units_;
  for (int q = 0; q < 4; ++q)
    for (int j = 0; j < units_; ++j) b_gradient[q * units_ + j] += bias_bar_[std::int64_t{q} * stride_ + j];
}

template class LstmLayer<float>;
template class LstmLayer<double>;

}  // namespace quintet::sequence
