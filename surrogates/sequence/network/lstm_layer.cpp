#include "surrogates/sequence/network/lstm_layer.hpp"

#include <algorithm>
#include <type_traits>

#include "io/log/error.hpp"
#include "surrogates/sequence/network/lstm_cell.hpp"
#include "surrogates/sequence/network/lstm_gradient.hpp"
#include "surrogates/sequence/network/lstm_tiles.hpp"

namespace quintet::sequence {

namespace {

template <class Real>
void grow(AlignedVector<Real>& array, std::size_t n) {
  if (array.size() < n) array.resize(n);
}

/// Where a pack of units of a window has its gates in those of a step of n windows: by packs of units, so
/// that cells are stepped along memory, or by windows, as products of bf16 read them.
template <class Real>
lstm_tiles::Sums<Real> gates_of(Real* step, int w, int unit, int window, int n, int stride, bool by_windows) {
  if (by_windows)
    return {step + std::int64_t{window} * 4 * stride + unit, 4 * std::ptrdiff_t{stride}, stride};
  return {step + (std::int64_t{unit} * n + window * w) * 4, 4 * std::ptrdiff_t{w}, w};
}

/// Half packs for cells of few units: with AVX-512 alone, elsewhere packs are short.
template <class Real>
constexpr int half_pack = quintet::detail::pack_bytes == 64 ? pack_width<Real> / 2 : pack_width<Real>;

/// Call action(constant of a width of packs).
template <class Real, class Action>
void for_width(int w, const Action& action) {
  if (w == pack_width<Real>)
    action(std::integral_constant<int, pack_width<Real>>());
  else
    action(std::integral_constant<int, half_pack<Real>>());
}

}  // namespace

template <class Real>
LstmLayer<Real>::LstmLayer(int n_in, int units, Products products, bool may_be_narrow)
    : n_in_(n_in),
      units_(units),
      bf16_(products == Products::bf16),
      width_(may_be_narrow && !bf16_ && units <= half_pack<Real> ? half_pack<Real> : pack_width<Real>),
      stride_(padded(units, width_)),
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
  const int rows = n_in_ + units_, w = width_;
  const auto place = [&](const Real* from, Real* to,
                         std::ptrdiff_t panel) {  // a row of weights, or the biases
    for_width<Real>(w, [&](auto width) {
      constexpr int whole = decltype(width)::value;
      for (int q = 0; q < 4; ++q, from += units_, to += whole) {
        int begin = 0;
        for (; begin + whole <= units_; begin += whole)
          store<Real, whole>(to + begin / whole * panel, load<Real, whole>(from + begin));
        std::copy_n(from + begin, units_ - begin, to + begin / whole * panel);
      }
    });
  };
  place(parameters + std::int64_t{rows} * 4 * units_, bias_.data(), 4 * w);
  const Real* all = parameters;
  const int gate = bar_gate();
  if (gate != units_) {
    for (int i = 0; i < 4 * rows; ++i) {
      Real* to = padded_.data() + std::int64_t{i} * stride_;
      std::copy_n(parameters + std::int64_t{i} * units_, units_, to);
      std::fill(to + units_, to + stride_, Real(0));
    }
    all = padded_.data();
  }
  const Real* all_u = all + std::int64_t{n_in_} * 4 * gate;
  if constexpr (std::is_same_v<Real, float>)
    if (bf16_) {
      const int width = 4 * gate;
      all_bf16_.assign(all, width, rows, width);
      w_back_bf16_.assign(all, width, width, n_in_, true);
      u_back_bf16_.assign(all_u, width, width, units_, true);
      return;
    }
  const std::ptrdiff_t panel = std::int64_t{rows} * 4 * w;
  for (int i = 0; i < rows; ++i)
    place(parameters + std::int64_t{i} * 4 * units_, weights_.data() + std::int64_t{i} * 4 * w, panel);
  w_back_.assign(all, 4 * gate, n_in_, true);
  u_back_.assign(all_u, 4 * gate, units_, true);
}

/// to [rows, n_in or units] = z_bar W^T, or z_bar U^T.
template <class Real>
void LstmLayer<Real>::multiply_back(const Real* z_bar, int rows, bool to_inputs, Real* to) const {
  const PackedMatrix<Real>& matrix = to_inputs ? w_back_ : u_back_;
  const int width = 4 * bar_gate(), stride = padded(to_inputs ? n_in_ : units_, pack_width<Real>);
  if constexpr (std::is_same_v<Real, float>)
    if (bf16_) return multiply_bf16(z_bar, width, rows, to_inputs ? w_back_bf16_ : u_back_bf16_, to, stride);
  multiply(z_bar, width, rows, matrix, to, stride);
}

/// z [rows, 4 stride] = b + x W.
template <class Real>
void LstmLayer<Real>::sum_inputs(Steps<const Real> x, int rows, Real* z) const {
  using namespace lstm_tiles;
  for_width<Real>(width_, [&](auto width) {
    constexpr int w = decltype(width)::value;
    const std::ptrdiff_t panel = std::int64_t{n_in_ + units_} * 4 * w;
    for (int unit = 0; unit < stride_; unit += w)
      for (int row = 0; row < rows; row += tile_rows) {
        const std::ptrdiff_t at = row;
        const Sums<Real> to = {z + 4 * at * stride_ + unit, 4 * std::ptrdiff_t{stride_}, stride_};
        for_rows(std::min(tile_rows, rows - row), [&](auto constant) {
          sum_gates<Real, w, decltype(constant)::value>({x.data + at * x.stride, x.stride, n_in_},
                                                        {nullptr, 0, 0}, weights_.data() + unit / w * panel,
                                                        {bias_.data() + 4 * unit, 0, w}, to);
        });
      }
  });
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
  for_width<Real>(width_, [&](auto width) {
    step_packs<decltype(width)::value>(x, n, h_before, c_before, z, complete, gates, c, tanh_c, h);
  });
}

/// Units in packs of w outside, rows inside: weights of a pack stay in the first cache for all rows.
template <class Real>
template <int w>
void LstmLayer<Real>::step_packs(Steps<const Real> x, int n, const Real* h_before, const Real* c_before,
                                 const Real* z, bool complete, Real* gates, Real* c, Real* tanh_c, Real* h) {
  using namespace lstm_tiles;
  const Given given = z == nullptr ? Given::nothing : complete ? Given::all : Given::inputs;
  const std::ptrdiff_t panel = std::int64_t{n_in_ + units_} * 4 * w;
  for (int unit = 0; unit < stride_; unit += w)
    for (int row = 0; row < n; row += rows_together) {
      const std::ptrdiff_t at = std::int64_t{row} * stride_, state = std::int64_t{unit} * n + row * w;
      const auto moved = [](auto* p, std::ptrdiff_t by) { return p == nullptr ? p : p + by; };
      const Tile<Real> tile = {
          x.data + std::int64_t{row} * x.stride,
          moved(h_before, at),
          x.stride,
          n_in_,
          units_,
          stride_,
          weights_.data() + unit / w * panel,
          bias_.data() + 4 * unit,
          moved(c_before, state),
          gates == nullptr ? Sums<Real>{} : gates_of(gates, w, unit, row, n, stride_, bf16_),
          c + state,
          moved(tanh_c, state),
          h + at + unit};
      const Sums<const Real> sums = {moved(z, 4 * at + unit), 4 * std::ptrdiff_t{stride_}, stride_};
      const auto run =
          gates != nullptr
              ? (h_before == nullptr ? step_rows<Real, w, true, true> : step_rows<Real, w, true, false>)
              : (h_before == nullptr ? step_rows<Real, w, false, true> : step_rows<Real, w, false, false>);
      run(std::min(rows_together, n - row), tile, given, sums);
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

// The gradient of one step of the cell, gates and biases in one sweep along memory. What products with U^T
// and W^T read is written by windows, too: their sums run over the gates of a window. Of a single pack they
// lie side by side, and the padding of each is written over by what follows.
template <class Real>
template <int w>
void LstmLayer<Real>::step_back(int t, int n, const Real* h_bar, bool is_last) {
  constexpr int ahead =
      16;  // windows whose gates are fetched: with those of other layers they left the L2 cache
  const std::ptrdiff_t stride = stride_, size = n * stride, stride_of_next = bar_stride(),
                       gate_of_row = bar_gate();
  for (int unit = 0; unit < stride; unit += w) {
    const auto gates = gates_of(gates_.data() + 4 * size * t, w, unit, 0, n, stride_, bf16_);
    const std::ptrdiff_t first = std::int64_t{unit} * n;
    const Real* c_before = t == 0 ? nullptr : c_.data() + size * (t - 1) + first;
    const Real *tanh_c = tanh_c_.data() + size * t + first, *bar_of_next = h_bar_.data() + unit;
    Real *c_bars = c_bar_.data() + first, *z_of_rows = bf16_ ? nullptr : z_.data() + unit;
    Pack<Real, w> bias_bar[4];
    for (int q = 0; q < 4; ++q) bias_bar[q] = load<Real, w>(bias_bar_.data() + q * stride + unit);
    for (int row = 0; row < n; ++row) {
      Real* z = gates.z + row * gates.row;
      for (int line = 0; line < 4 * w; line += quintet::detail::cache_line<Real>)
        __builtin_prefetch(z + ahead * gates.row + line, 1);
      CellState<Real, w> s;
      s.i = load<Real, w>(z);
      s.f = load<Real, w>(z + gates.gate);
      s.g = load<Real, w>(z + 2 * gates.gate);
      s.o = load<Real, w>(z + 3 * gates.gate);
      s.tanh_c = load<Real, w>(tanh_c + row * w);
      const Pack<Real, w> before = c_before == nullptr ? Pack<Real, w>{} : load<Real, w>(c_before + row * w);
      Pack<Real, w> bar = load<Real, w>(h_bar + row * stride + unit), c_bar{}, z_bar[4];
      if (!is_last) {
        bar += load<Real, w>(bar_of_next + row * stride_of_next);
        c_bar = load<Real, w>(c_bars + row * w);
      }
      cell_backward<Real, w>(s, before, bar, c_bar, z_bar);
      store<Real, w>(c_bars + row * w, c_bar);
      for (int q = 0; q < 4; ++q) {
        store<Real, w>(z + q * gates.gate, z_bar[q]);
        bias_bar[q] += z_bar[q];
      }
      if (z_of_rows != nullptr)
        for (int q = 0; q < 4; ++q) store<Real, w>(z_of_rows + (4 * row + q) * gate_of_row, z_bar[q]);
    }
    for (int q = 0; q < 4; ++q) store<Real, w>(bias_bar_.data() + q * stride + unit, bias_bar[q]);
  }
}

/// gradient [n_in + units, 4 units] += (x, h of the step before)^T z_bar over all steps of n windows.
template <class Real>
void LstmLayer<Real>::add_gradient(Steps<const Real> x, const Real* h, int steps, int n, Real* gradient) {
  const int width = 4 * stride_, rows = steps * n;
  const bool padding = stride_ != units_;
  if (padding) std::fill(padded_.begin(), padded_.end(), Real(0));
  Real* to = padding ? padded_.data() : gradient;
  bool done = false;
  if constexpr (std::is_same_v<Real, float>)
    if (bf16_) {
      add_transposed_products_bf16({{x.data, x.stride, n_in_}, {h, stride_, units_, n}}, gates_.data(), width,
                                   rows, width, to, width);
      done = true;
    }
  if (!done)
    for_width<Real>(width_, [&](auto constant) {
      constexpr int w = decltype(constant)::value;
      lstm_tiles::add_gate_products<Real, w>({{x.data, x.stride, n_in_, 0}, {h, stride_, units_, 1}},
                                             {gates_.data(), n, stride_ / w}, steps, {to, width, stride_});
    });
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
  grow(h_bar_, static_cast<std::size_t>(std::int64_t{n} * bar_stride()));
  if (!bf16_) grow(z_, static_cast<std::size_t>(4 * size + width_));
  std::fill(bias_bar_.begin(), bias_bar_.end(), Real(0));
  for (int t = steps - 1; t >= 0; --t) {
    for_width<Real>(width_, [&](auto width) {
      step_back<decltype(width)::value>(t, n, h_bar + size * t, t == steps - 1);
    });
    const Real* z_bar = bf16_ ? gates_.data() + 4 * size * t : z_.data();  // while they are in the cache
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
