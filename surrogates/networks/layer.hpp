#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "physics/kernels/activation.hpp"
#include "physics/kernels/gemm.hpp"

namespace quintet::networks {

/// Rows of numbers in memory: row i begins at data + i stride.
template <class T>
struct Rows {
  T* data = nullptr;
  int stride = 0;
  [[nodiscard]] T* operator[](int row) const { return data + std::int64_t{row} * stride; }
};

/// Where a layer's numbers lie in the flat array of all parameters.
struct LayerPlace {
  std::size_t weight = 0, bias = 0;  ///< first of [n_in, n_out] and [n_out]
  std::size_t timestep = 0;          ///< first of [n_out]
  bool has_timestep = false;         ///< a layer whose idt is 1 throughout has none to train
};

/// A dense layer without its weights:
///
///     y = phi(x W + b) idt + s
///
/// x the tensor `input`, s the tensor `skip` (repeated until it fills the n_out outputs). y is the tensor of
/// the layer's own name.
struct LayerSpec {
  std::string name, input;
  std::string skip;         ///< empty: none
  int n_in = 0, n_out = 0;  ///< of W [n_in, n_out]
  Activation activation = Activation::tanh;
  LayerPlace place;
};

/// A layer ready to run, its tensors by index: -1 the chain's input, l the output of layer l.
template <class Real>
struct Layer {
  static constexpr int none = -2, outside = -1;
  LayerSpec spec;
  int n_in = 0, stride = 0;          ///< inputs (tied ones once); outputs padded to whole packs
  int input = outside, skip = none;  ///< tensors
  int skip_width = 0;                ///< numbers of the skip, repeated until they fill the outputs
  std::vector<int> skip_place;       ///< [n_out] where they lie, unless one after the other (tied inputs)
  bool input_has_adjoint = false;    ///< on the way back: a later layer has already left its share there
  bool skip_has_adjoint = true;      ///< the same of the skip, once the input has been served
  PackedMatrix<Real> weight, transposed;
  AlignedVector<Real> bias, timestep;  ///< [stride], padded with 0

  /// Call body(at, o, phi(z + b), phi', phi'') for each pack of rows first .. first + n of z [rows, stride];
  /// phi'' only where asked for.
  template <bool curvature, class Body>
  void activate(const Real* z, int first, int n, Body&& body) const {
    activate_of<curvature>(
        [&](std::size_t at, int o) { return load<Real>(z + at) + load<Real>(bias.data() + o); }, first, n,
        body);
  }
  /// Call body() as activate() does, with z + b given by `biased(at, o)`.
  template <bool curvature, class Biased, class Body>
  void activate_of(Biased&& biased, int first, int n, Body&& body) const {
    constexpr int w = pack_width<Real>;
    with_activation(spec.activation, [&]<Activation A>() {
      for (int row = first; row < first + n; ++row)
        for (int o = 0; o < stride; o += w) {
          const std::size_t at = std::int64_t{row} * stride + o;
          const Pack<Real> x = biased(at, o);
          Pack<Real> phi, slope, second{};
          if constexpr (curvature)
            quintet::activate<A, Real, w>(x, phi, slope, second);
          else
            quintet::activate<A, Real, w>(x, phi, slope);
          body(at, o, phi, slope, second);
        }
    });
  }
  /// y += skip for n rows.
  void add_skip(Rows<const Real> from, Rows<Real> y, int n) const {
    for (int row = 0; row < n; ++row) visit_skip(from[row], y[row], [](Real& y_o, Real s) { y_o += s; });
  }
  /// The way back: from += y_bar, gathered.
  void return_skip(Rows<const Real> y_bar, Rows<Real> from, int n) const {
    for (int row = 0; row < n; ++row) visit_skip(from[row], y_bar[row], [](Real y_o, Real& s) { s += y_o; });
  }

 private:
  /// visit(element of y, element of the skip that is added to it).
  template <class From, class To, class Visit>
  void visit_skip(From* from, To* y, Visit&& visit) const {
    if (!skip_place.empty())
      for (int o = 0; o < spec.n_out; ++o) visit(y[o], from[skip_place[o]]);
    else
      for (int begin = 0; begin < spec.n_out; begin += skip_width)
        for (int i = 0; i < skip_width; ++i) visit(y[begin + i], from[i]);
  }
};

}  // namespace quintet::networks
