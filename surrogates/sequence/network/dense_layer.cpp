#include "surrogates/sequence/network/dense_layer.hpp"

#include <algorithm>

namespace quintet::sequence {

template <class Real>
DenseLayer<Real>::DenseLayer(int n_in, int n_out, bool relu)
    : n_in_(n_in),
      n_out_(n_out),
      stride_(padded(n_out, pack_width<Real>)),
      relu_(relu),
      bias_(static_cast<std::size_t>(stride_), Real(0)),
      padded_(n_out == stride_ ? 0 : static_cast<std::size_t>(n_in) * stride_) {}

template <class Real>
void DenseLayer<Real>::refresh(const Real* parameters) {
  weights_.assign(parameters, n_in_, n_out_);
  std::copy_n(parameters + static_cast<std::ptrdiff_t>(n_in_) * n_out_, n_out_, bias_.begin());
  back_.assign(parameters, n_out_, n_in_, true);
}

template <class Real>
void DenseLayer<Real>::forward(const Real* x, int ldx, int rows, Real* y) const {
  constexpr int w = pack_width<Real>;
  multiply(x, ldx, rows, weights_, y, stride_);
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
  Real* b_gradient = gradient + static_cast<std::ptrdiff_t>(n_in_) * n_out_;
  for (int o = 0; o < stride_; o += w) {
    Pack<Real> sum{};
    for (int row = 0; row < rows; ++row) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(row) * stride_ + o;
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
  if (x_bar != nullptr) multiply(y_bar, stride_, rows, back_, x_bar, back_.stride());
  if (n_out_ == stride_) {
    add_transposed_products<Real>({{x, ldx, y_bar, stride_}}, rows, n_in_, stride_, gradient, stride_);
    return;
  }
  std::fill(padded_.begin(), padded_.end(), Real(0));
  add_transposed_products<Real>({{x, ldx, y_bar, stride_}}, rows, n_in_, stride_, padded_.data(), stride_);
  for (int i = 0; i < n_in_; ++i)
    for (int o = 0; o < n_out_; ++o)
      gradient[static_cast<std::ptrdiff_t>(i) * n_out_ + o] +=
          padded_[static_cast<std::size_t>(i) * stride_ + o];
}

template class DenseLayer<float>;
template class DenseLayer<double>;

}  // namespace quintet::sequence
