#include <algorithm>
#include <type_traits>

#include "io/log/error.hpp"
#include "surrogates/networks/chain.hpp"

/// Products in bfloat16 about a reference row; the equations stand above Chain.
namespace quintet::networks {

namespace {

constexpr int w = pack_width<float>;

AlignedVector<float> padded_copy(const float* from, int n) {
  AlignedVector<float> copy(padded(n, w), 0.0F);
  std::copy_n(from, n, copy.begin());
  return copy;
}

}  // namespace

/// In float, by the exact passes of one row: what the rounded ones leave out is what these make.
template <class Real>
void Chain<Real>::round_about(const double* reference) {
  if constexpr (!std::is_same_v<Real, float>) {
    throw InternalError("only a chain in float rounds its products to bfloat16");
  } else {
    QUINTET_ASSERT(output_ == Output::sum, "an adjoint needs a sum");
    rounded_.clear();
    const std::vector<float> x(reference, reference + n_in_);
    AlignedVector<float> dx(padded(n_in_, w) + w, 0.0F);
    Tape tape;
    forward_and_adjoint({x.data(), n_in_}, 1, Keep::tangent, {dx.data(), static_cast<int>(dx.size())}, tape);
    std::vector<RoundedLayer> rounded(layers_.size());
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto& layer = layers_[l];
      auto& r = rounded[l];
      const int n_in = layer.n_in, n_out = layer.spec.n_out;
      std::vector<float> weight(static_cast<std::size_t>(n_in) * n_out);
      layer.weight.unpack(weight.data());
      r.weight.assign(weight.data(), n_out, n_in, n_out);
      r.transposed.assign(weight.data(), n_out, n_out, n_in, true);
      r.x = padded_copy(read(tape, layer.input, &Tape::Layer::y, {x.data(), 0})[0], n_in);
      r.alpha = padded_copy(tape.layers[l].alpha.data(), n_out);
      r.z.resize(layer.weight.stride());
      multiply<float>(r.x.data(), n_in, 1, layer.weight, r.z.data(), layer.weight.stride());
      r.dx.resize(layer.transposed.stride());
      multiply<float>(r.alpha.data(), n_out, 1, layer.transposed, r.dx.data(), layer.transposed.stride());
    }
    rounded_ = std::move(rounded);
  }
}

/// z = z* + r V, and alpha* . (d W - r V) into the rows' sums.
template <class Real>
void Chain<Real>::rounded_values(int l, Rows<const Real> in, int first, int n, Rows<Real> z,
                                 Tape& tape) const {
  if constexpr (std::is_same_v<Real, float>) {
    const auto& r = rounded_[l];
    const int n_in = layers_[l].n_in, stride = layers_[l].stride, d_stride = padded(n_in, w);
    auto& d = tape.product;
    if (d.size() < static_cast<std::size_t>(n) * d_stride) d.resize(static_cast<std::size_t>(n) * d_stride);
    const auto part = [&](const float* from, int i) {  // nobody vouches for the padding of the chain's input
      if (i + w <= n_in) return load<float>(from + i);
      Pack<float> values{};
      for (int lane = 0; lane < n_in - i; ++lane) values[lane] = from[i + lane];
      return values;
    };
    for (int row = 0; row < n; ++row) {
      Pack<float> linear{};
      for (int i = 0; i < d_stride; i += w) {
        const Pack<float> away = part(in[row], i) - load<float>(r.x.data() + i);
        store<float>(d.data() + static_cast<std::ptrdiff_t>(row) * d_stride + i, away);
        linear += away * load<float>(r.dx.data() + i);
      }
      tape.sum[first + row] += horizontal_sum<float>(linear);
    }
    multiply_bf16(d.data(), d_stride, n, r.weight, z.data, z.stride);
    for (int row = 0; row < n; ++row) {
      Pack<float> linear{};
      for (int o = 0; o < stride; o += w) {
        const Pack<float> product = load<float>(z[row] + o);
        linear += product * load<float>(r.alpha.data() + o);
        store<float>(z[row] + o, product + load<float>(r.z.data() + o));
      }
      tape.sum[first + row] -= horizontal_sum<float>(linear);
    }
  }
}

/// x_bar (+)= alpha* W^T + round(alpha - alpha*) V^T.
template <class Real>
void Chain<Real>::rounded_back(int l, Rows<const Real> alpha, int n, Rows<Real> to_input,
                               AlignedVector<Real>& work) const {
  if constexpr (std::is_same_v<Real, float>) {
    const auto& layer = layers_[l];
    const auto& r = rounded_[l];
    const int stride = layer.stride, n_in = padded(layer.n_in, w);
    if (work.size() < static_cast<std::size_t>(n) * stride) work.resize(static_cast<std::size_t>(n) * stride);
    for (int row = 0; row < n; ++row) {
      for (int o = 0; o < stride; o += w)
        store<float>(work.data() + static_cast<std::ptrdiff_t>(row) * stride + o,
                     load<float>(alpha[row] + o) - load<float>(r.alpha.data() + o));
      for (int i = 0; i < n_in; i += w) {
        const Pack<float> dx = load<float>(r.dx.data() + i);
        store<float>(to_input[row] + i, layer.input_has_adjoint ? dx + load<float>(to_input[row] + i) : dx);
      }
    }
    multiply_bf16(work.data(), stride, n, r.transposed, to_input.data, to_input.stride, true);
  }
}

template void Chain<float>::round_about(const double*);
template void Chain<double>::round_about(const double*);
template void Chain<float>::rounded_values(int, Rows<const float>, int, int, Rows<float>, Tape&) const;
template void Chain<double>::rounded_values(int, Rows<const double>, int, int, Rows<double>, Tape&) const;
template void Chain<float>::rounded_back(int, Rows<const float>, int, Rows<float>,
                                         AlignedVector<float>&) const;
template void Chain<double>::rounded_back(int, Rows<const double>, int, Rows<double>,
                                          AlignedVector<double>&) const;

}  // namespace quintet::networks
