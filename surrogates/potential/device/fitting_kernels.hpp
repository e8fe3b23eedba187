#pragma once

#include "physics/kernels/activation_kind.hpp"
#include "surrogates/potential/device/lanes.hpp"

/// Kernels between the matrix products of a fitting network.
namespace quintet::potential {

KOKKOS_INLINE_FUNCTION double fast_tanh(double x) { return ::tanh(x); }
KOKKOS_INLINE_FUNCTION float fast_tanh(float x) { return ::tanhf(x); }
KOKKOS_INLINE_FUNCTION double exponential(double x) { return ::exp(x); }
KOKKOS_INLINE_FUNCTION float exponential(float x) { return ::expf(x); }
KOKKOS_INLINE_FUNCTION double log_one_plus(double x) { return ::log1p(x); }
KOKKOS_INLINE_FUNCTION float log_one_plus(float x) { return ::log1pf(x); }

/// y = phi(x) and dy = phi'(x): the formulas of physics/kernels/activation.hpp for one number.
template <class Real>
KOKKOS_INLINE_FUNCTION void activate_one(Activation kind, Real x, Real& y, Real& dy) {
  y = x;
  dy = 1;
  if (kind == Activation::tanh) {
    y = fast_tanh(x);
    dy = 1 - y * y;
  } else if (kind == Activation::relu) {
    y = x > 0 ? x : 0;
    dy = x > 0 ? 1 : 0;
  } else if (kind == Activation::relu6) {
    y = x > 0 ? (x < 6 ? x : 6) : 0;
    dy = x > 0 && x < 6 ? 1 : 0;
  } else if (kind == Activation::sigmoid) {
    y = Real(0.5) + Real(0.5) * fast_tanh(Real(0.5) * x);
    dy = y * (1 - y);
  } else if (kind == Activation::softplus) {
    const Real u = exponential(x > 0 ? -x : x), large = 1 / (1 + u);
    y = (x > 0 ? x : 0) + log_one_plus(u);
    dy = x > 0 ? large : u * large;
  } else if (kind == Activation::silu) {
    const Real s = Real(0.5) + Real(0.5) * fast_tanh(Real(0.5) * x);
    y = x * s;
    dy = s + y * (1 - s);
  } else if (kind == Activation::gelu) {
    const Real c = Real(0.79788456080286535588), k = Real(0.044715);
    const Real t = fast_tanh(c * (x + k * x * x * x));
    y = Real(0.5) * x * (1 + t);
    dy = Real(0.5) * (1 + t) + Real(0.5) * x * (1 - t * t) * c * (1 + 3 * k * x * x);
  }
}

/// y = phi(z + b) idt (+ x); z becomes phi'(z + b) idt. Reads z (and x), writes y and z.
template <class Real>
struct ActivationKernel {
  Real* z;
  const Real *x, *bias, *timestep;
  Real* y;
  int n_in, n_out, skip;
  Activation kind;
  KOKKOS_INLINE_FUNCTION void operator()(const int at) const {
    const int row = at / n_out, o = at - row * n_out;
    Real value, slope;
    activate_one(kind, z[at] + bias[o], value, slope);
    value *= timestep[o];
    if (skip > 0) value += x[std::int64_t{row} * n_in + (o < n_in ? o : o - n_in)];
    y[at] = value;
    z[at] = slope * timestep[o];
  }
};

/// dz = dy slope, in place of slope. dy has rows `dy_stride` apart (0: the same for all atoms).
template <class Real>
struct SlopeKernel {
  Real* slope;
  const Real* dy;
  Real* dx;  ///< dy goes here, too, where x was added to y; nullptr: it does not
  int n_out, dy_stride;
  KOKKOS_INLINE_FUNCTION void operator()(const int at) const {
    const int row = at / n_out, o = at - row * n_out;
    const Real value = dy[std::int64_t{row} * dy_stride + o];
    slope[at] *= value;
    if (dx) dx[at] = value;
  }
};

/// dx = dy by the way around a layer of twice the width: added up, since x was added twice.
template <class Real>
struct SkipKernel {
  const Real* dy;
  Real* dx;
  int n_in, n_out, dy_stride;
  KOKKOS_INLINE_FUNCTION void operator()(const int at) const {
    const int row = at / n_in, i = at - row * n_in;
    const Real* of_row = dy + std::int64_t{row} * dy_stride;
    Real sum = 0;
    for (int o = i; o < n_out; o += n_in) sum += of_row[o];
    dx[at] = sum;
  }
};

/// E = y . w + constant of each atom.
template <class Space, class Real>
struct EnergyKernel {
  static constexpr int width = device::Cut<Space>::lanes;
  using Team = device::Lanes<width>;
  const Real *y, *w;
  double constant;
  int n;
  const int* atom;
  double* sums;         ///< [n, 10]
  double* atom_energy;  ///< nullptr: not asked for
  [[nodiscard]] static int scratch_bytes() { return 0; }
  KOKKOS_INLINE_FUNCTION void operator()(const int b, char*) const {
    const Real* own = y + std::int64_t{b} * n;
    Real sum = 0;
    for (int o = Team::own(); o < n; o += width) sum += own[o] * w[o];
    sum = Team::sum(sum);
    if (Team::own() != 0) return;
    const double energy = static_cast<double>(sum) + constant;
    sums[10 * std::int64_t{b}] = energy;
    if (atom_energy) atom_energy[atom[b]] = energy;
  }
};

/// out[g] = sum of rows [g length, (g + 1) length) of in [n, 10], by lanes: the same for any timing.
template <class Space>
struct SumRowsKernel {
  static constexpr int width = device::Cut<Space>::lanes;
  using Team = device::Lanes<width>;
  const double* in;
  double* out;
  int n, length;
  bool add;  ///< to what out holds
  [[nodiscard]] static int scratch_bytes() { return 0; }
  KOKKOS_INLINE_FUNCTION void operator()(const int group, char*) const {
    double sum[10] = {};
    const int end = (group + 1) * length < n ? (group + 1) * length : n;
    for (int i = group * length + Team::own(); i < end; i += width)
      for (int k = 0; k < 10; ++k) sum[k] += in[10 * std::int64_t{i} + k];
    for (int k = 0; k < 10; ++k) {
      sum[k] = Team::sum(sum[k]);
      if (Team::own() == 0)
        out[10 * std::int64_t{group} + k] = sum[k] + (add ? out[10 * std::int64_t{group} + k] : 0.0);
    }
  }
};

}  // namespace quintet::potential
