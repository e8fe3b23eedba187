#include "surrogates/sequence/network/dense_layer.hpp"

#include <algorithm>
#include <type_traits>

#include "io/log/error.hpp"

namespace quintet::sequence {

template <class Real>
DenseLayer<Real>::DenseLayer(int n_in, int n_out, bool relu, Products products)
    : n_in_(n_in),
      n_out_(n_out),
      stride_(padded(n_out, pack_width<Real>)),
      relu_(relu),
      bf16_(products == Products::bf16),
      bias_(static_cast<std::size_t>(stride_), Real(0)),
      padded_(n_out == stride_ ? 0 : std::int64_t{n_in} * stride_) {}

template <class Real>
void DenseLayer<Real>::refresh(const Real* parameters) {
  codes_.reset();
  std::copy_n(parameters + std::int64_t{n_in_} * n_out_, n_out_, bias_.begin());
  if constexpr (std::is_same_v<Real, float>)
    if (bf16_) {
      weights_bf16_.assign(parameters, n_out_, n_in_, n_out_);
      back_bf16_.assign(parameters, n_out_, n_out_, n_in_, true);
      return;
    }
  weights_.assign(parameters, n_in_, n_out_);
  back_.assign(parameters, n_out_, n_in_, true);
}

/// to = from W, or from W^T.
template <class Real>
void DenseLayer<Real>::multiply_by(bool transposed, const Real* from, int stride, int rows, Real* to,
                                   int to_stride) const {
  if constexpr (std::is_same_v<Real, float>)
    if (bf16_)
      return multiply_bf16(from, stride, rows, transposed ? back_bf16_ : weights_bf16_, to, to_stride);
  multiply(from, stride, rows, transposed ? back_ : weights_, to, to_stride);
}

/// to [n_in, stride] += x^T y_bar.
template <class Real>
void DenseLayer<Real>::add_products(const Real* x, int ldx, const Real* y_bar, int rows, Real* to) const {
  if constexpr (std::is_same_v<Real, float>)
    if (bf16_)
      return add_transposed_products_bf16({{x, ldx, n_in_}}, y_bar, stride_, rows, stride_, to, stride_);
  add_transposed_products<Real>({{x, ldx, y_bar, stride_}}, rows, n_in_, stride_, to, stride_);
}

template <class Real>
void DenseLayer<Real>::take_codes(const BinaryCodes& w, CodeKernel kernel) {
  if (!std::is_same_v<Real, float> || w.rows != n_out_ || w.columns != n_in_)
    throw InternalError("codes of a matrix that is not this layer's");
  codes_.emplace(w, kernel);
}

template <class Real>
void DenseLayer<Real>::forward(const Real* x, int ldx, int rows, Real* y) {
  constexpr int w = pack_width<Real>;
  bool done = false;
  if constexpr (std::is_same_v<Real, float>)
    if ((done = codes_.has_value())) codes_->multiply(x, ldx, rows, y, stride_);
  if (!done) multiply_by(false, x, ldx, rows, y, stride_);
  const Pack<Real> zero{};
  for (int row = 0; row < rows; ++row, y += stride_)
    for (int o = 0; o < stride_; o += w) {
      const Pack<Real> sum = load<Real>(y + o) + load<Real>(bias_.data() + o);
      store<Real>(y + o, relu_ ? (sum < zero ? zero : sum) : sum);  // a NaN stays one
    }
}

template <class Real>
void DenseLayer<Real>::backward(const Real* x, int ldx, int rows, const Real* y, Real* y_bar, Real* x_bar,
                                Real* gradient) {
  constexpr int w = pack_width<Real>;
  const Pack<Real> zero{};
  Real* b_gradient = gradient + std::int64_t{n_in_} * n_out_;
  for (int o = 0; o < stride_; o += w) {
    Pack<Real> sum{};
    for (int row = 0; row < rows; ++row) {
      const std::ptrdiff_t at = std::int64_t{row} * stride_ + o;
      Pack<Real> bar = load<Real>(y_bar + at);
      if (relu_) {
        bar = load<Real>(y + at) > zero ? bar : zero;
        store<Real>(y_bar + at, bar);
      }
      sum += bar;
    }
    Real lanes[w];
    store<Real>(lanes, sum);
    for (int lane = 0; lane < std::min(w, n_out_ - o); ++lane) b_gradient[o + lane] += lanes[lane];
  }
  if (x_bar != nullptr) multiply_by(true, y_bar, stride_, rows, x_bar, padded(n_in_, w));
  if (n_out_ == stride_) {
    add_products(x, ldx, y_bar, rows, gradient);
    return;
  }
  std::fill(padded_.begin(), padded_.end(), Real(0));
  add_products(x, ldx, y_bar, rows, padded_.data());
  for (int i = 0; i < n_in_; ++i)
    for (int o = 0; o < n_out_; ++o)
      gradient[std::int64_t{i} * n_out_ + o] += padded_[std::int64_t{i} * stride_ + o];
}

template class DenseLayer<float>;
template class DenseLayer<double>;

}  // namespace quintet::sequence
