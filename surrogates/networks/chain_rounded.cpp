#include <algorithm>
#include <type_traits>

#include "io/log/error.hpp"
#include "physics/kernels/bf16_words.hpp"
#include "surrogates/networks/chain.hpp"

/// Products in bfloat16 about a reference row; the equations stand above Chain.
namespace quintet::networks {

namespace {

constexpr int w = pack_width<float>;

void grow(AlignedVector<std::uint32_t>& words, std::size_t size) {
  if (words.size() < size) words.resize(size);
}

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
      std::vector<float> weight(std::int64_t{n_in} * n_out);
      layer.weight.unpack(weight.data());
      r.weight.assign(weight.data(), n_out, n_in, n_out);
      r.transposed.assign(weight.data(), n_out, n_out, n_in, true);
      r.x = padded_copy(read(tape, layer.input, &Tape::Layer::y, {x.data(), 0})[0], n_in);
      r.alpha = padded_copy(tape.layers[l].alpha.data(), n_out);
      r.z.resize(layer.weight.stride());
      multiply<float>(r.x.data(), n_in, 1, layer.weight, r.z.data(), layer.weight.stride());
      for (int o = 0; o < n_out; ++o) r.z[o] += layer.bias[o];
      r.dx.resize(layer.transposed.stride());
      multiply<float>(r.alpha.data(), n_out, 1, layer.transposed, r.dx.data(), layer.transposed.stride());
    }
    rounded_ = std::move(rounded);
  }
}

/// y = phi(z* + r V + b) idt with its slope, and alpha* . (d W - r V) into the rows' sums.
template <class Real>
void Chain<Real>::rounded_values(int l, Rows<const Real> in, int first, int n, Tape& tape) const {
  if constexpr (std::is_same_v<Real, float>) {
    const auto& layer = layers_[l];
    const auto& r = rounded_[l];
    auto& t = tape.layers[l];
    const int n_in = layer.n_in, words = r.weight.stride();
    grow(tape.words, rounded_words(n, words));
    const auto part = [&](const float* from, int i) {  // nobody vouches for the padding of the chain's input
      if (i + w <= n_in) return load<float>(from + i);
      Pack<float> values{};
      for (int lane = 0; lane < n_in - i; ++lane) values[lane] = from[i + lane];
      return values;
    };
    for (int row = 0; row < n; ++row) {
      Pack<float> linear{};
      bf16::round_row(n_in, tape.words.data() + std::ptrdiff_t{row} * words, words, [&](int i) {
        const Pack<float> away = part(in[first + row], i) - load<float>(r.x.data() + i);
        linear += away * load<float>(r.dx.data() + i);
        return away;
      });
      tape.sum[first + row] += horizontal_sum<float>(linear);
    }
    float* y = t.y.data();
    multiply_bf16(tape.words.data(), n, r.weight, y + std::ptrdiff_t{first} * layer.stride, layer.stride);
    for (int row = first; row < first + n; ++row) {
      Pack<float> linear{};
      const auto z = [&](std::size_t at, int o) {
        const Pack<float> product = load<float>(y + at);
        linear += product * load<float>(r.alpha.data() + o);
        return product + load<float>(r.z.data() + o);
      };
      layer.template activate_of<false>(z, row, 1, [&](std::size_t at, int o, auto phi, auto slope, auto) {
        store<float>(t.slope.data() + at, slope);
        store<float>(y + at, phi * load<float>(layer.timestep.data() + o));
      });
      tape.sum[row] -= horizontal_sum<float>(linear);
    }
  }
}

/// x_bar (+)= alpha* W^T + round(alpha - alpha*) V^T for alpha = a phi'(z) idt.
template <class Real>
void Chain<Real>::rounded_back(int l, Rows<const Real> a, int first, int n, Rows<Real> to_input,
                               Tape& tape) const {
  if constexpr (std::is_same_v<Real, float>) {
    const auto& layer = layers_[l];
    const auto& r = rounded_[l];
    const int words = r.transposed.stride(), n_in = padded(layer.n_in, w);
    const Rows<const float> slope{tape.layers[l].slope.data(), layer.stride};
    grow(tape.words, rounded_words(n, words));
    for (int row = 0; row < n; ++row) {
      const float *of = a[first + row], *by = slope[first + row];
      bf16::round_row(layer.stride, tape.words.data() + std::ptrdiff_t{row} * words, words, [&](int o) {
        return load<float>(of + o) * load<float>(by + o) * load<float>(layer.timestep.data() + o) -
               load<float>(r.alpha.data() + o);
      });
    }
    Bf16Start start{r.dx.data(), 0};
    if (layer.input_has_adjoint) {
      start = {to_input[first], to_input.stride};
      for (int row = first; row < first + n; ++row)
        for (int i = 0; i < n_in; i += w)
          store<float>(to_input[row] + i, load<float>(to_input[row] + i) + load<float>(r.dx.data() + i));
    }
    multiply_bf16(tape.words.data(), n, r.transposed, to_input[first], to_input.stride, start);
  }
}

template void Chain<float>::round_about(const double*);
template void Chain<double>::round_about(const double*);
template void Chain<float>::rounded_values(int, Rows<const float>, int, int, Tape&) const;
template void Chain<double>::rounded_values(int, Rows<const double>, int, int, Tape&) const;
template void Chain<float>::rounded_back(int, Rows<const float>, int, int, Rows<float>, Tape&) const;
template void Chain<double>::rounded_back(int, Rows<const double>, int, int, Rows<double>, Tape&) const;

}  // namespace quintet::networks
