#pragma once

#include "physics/kernels/activation.hpp"

/// The formulas of one LSTM cell, for packs of units: forward, and backward through one step of time.
namespace quintet::sequence {

/// The logistic function 1/(1 + e^-x), to 2 ulp of itself (of either sign of x).
template <class T, int W = pack_width<T>>
inline Pack<T, W> pack_sigmoid(Pack<T, W> x) {
  const auto limit = broadcast<T, W>(quintet::detail::ExpConstants<T>::exp_limit);
  x = x > limit ? limit : x;
  x = x < -limit ? -limit : x;
  Pack<T, W> scale, p;
  quintet::detail::split_exp<T, W>(-x, scale, p);
  return T(1) / (T(1) + (scale * p + scale));
}

/// What a cell holds after a step: gates i, f, o, candidate g, state c with its tanh, output h.
template <class T>
struct CellState {
  Pack<T> i, f, g, o, c, tanh_c, h;
};

/// One step of an LSTM from the sums z = x W + h U + b of its four gates,
///
///     i = s(z_i),  f = s(z_f),  g = tanh(z_g),  o = s(z_o),  s(x) = 1/(1 + e^-x)
///     c = f c_before + i g,     h = o tanh(c).
///
/// Source: Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000; order of gates as in
/// PyTorch and Keras.
template <class T>
inline CellState<T> cell_forward(const Pack<T> (&z)[4], Pack<T> c_before) {
  constexpr int w = pack_width<T>;
  CellState<T> s;
  s.i = pack_sigmoid<T>(z[0]);
  s.f = pack_sigmoid<T>(z[1]);
  s.g = pack_tanh<T, w>(z[2]);
  s.o = pack_sigmoid<T>(z[3]);
  s.c = s.f * c_before + s.i * s.g;
  s.tanh_c = pack_tanh<T, w>(s.c);
  s.h = s.o * s.tanh_c;
  return s;
}

/// Backward through one step: from h_bar = dL/dh and what the next step left in c_bar, dL/dz of the four
/// gates and c_bar for the step before.
///
///     c_bar += h_bar o (1 - tanh(c)^2)
///     z_bar = (c_bar g i (1 - i), c_bar c_before f (1 - f), c_bar i (1 - g^2), h_bar tanh(c) o (1 - o))
///     c_bar = c_bar f
template <class T>
inline void cell_backward(const CellState<T>& s, Pack<T> c_before, Pack<T> h_bar, Pack<T>& c_bar,
                          Pack<T> (&z_bar)[4]) {
  c_bar += h_bar * s.o * (T(1) - s.tanh_c * s.tanh_c);
  z_bar[0] = c_bar * s.g * s.i * (T(1) - s.i);
  z_bar[1] = c_bar * c_before * s.f * (T(1) - s.f);
  z_bar[2] = c_bar * s.i * (T(1) - s.g * s.g);
  z_bar[3] = h_bar * s.tanh_c * s.o * (T(1) - s.o);
  c_bar *= s.f;
}

}  // namespace quintet::sequence
