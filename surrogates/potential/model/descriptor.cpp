#include "surrogates/potential/model/descriptor.hpp"

#include <algorithm>
#include <utility>

#include "physics/kernels/pack_lanes.hpp"

namespace quintet::potential {

Descriptor::Descriptor(int n_channels, int axis_neuron, int pack)
    : n_channels_(n_channels), axis_(axis_neuron), pack_(pack), size_(0) {
  for (int m2 = 0; m2 < axis_; ++m2) {
    offset_.push_back(size_);
    size_ += n_channels_ - m2;
  }
  if (axis_ == 0) size_ = n_channels_;
}

int Descriptor::place(int m, int m2) const {
  if (m < m2) std::swap(m, m2);
  return offset_[m2] + m - m2;
}

std::vector<int> Descriptor::tied() const {
  std::vector<int> places;
  for (int m = 0; axis_ == 0 && m < n_channels_; ++m) places.push_back(m);
  for (int m = 0; m < n_channels_; ++m)
    for (int m2 = 0; m2 < axis_; ++m2) places.push_back(place(m, m2));
  return places;
}

namespace {
/// Lanes of `low` where lane < n, else those of `high`.
template <class Real>
Pack<Real> joined(Pack<Real> low, Pack<Real> high, int n) {
  constexpr int w = pack_width<Real>;
  const auto lane = []<int... l>(std::integer_sequence<int, l...>) {
    return Pack<Real>{static_cast<Real>(l)...};
  }
  (std::make_integer_sequence<int, w>());
  return lane < broadcast<Real>(static_cast<Real>(n)) ? low : high;
}
}  // namespace

template <class Real>
void Descriptor::forward(const Real* t, int t_stride, Real* d) const {
  constexpr int w = pack_width<Real>;
  if (axis_ == 0) std::copy_n(t, n_channels_, d);
  for (int m2 = 0; m2 < axis_; ++m2) {
    Real* row = d + offset_[m2] - m2;
    // Whole packs of T: the first of a row begins with lanes that belong to the row before, the last runs
    // over into the next one, which is written afterwards.
    for (int m = m2 / w * w; m < n_channels_; m += w) {
      Pack<Real> sum{};
      for (int a = 0; a < 4; ++a) sum += t[a * t_stride + m2] * load<Real>(t + a * t_stride + m);
      store<Real>(row + m, m < m2 ? joined<Real>(load<Real>(row + m), sum, m2 - m) : sum);
    }
  }
}

template <class Real>
void Descriptor::tangent(const Real* t, const Real* t_dot, int t_stride, Real* d_dot) const {
  constexpr int w = pack_width<Real>;
  if (axis_ == 0) std::copy_n(t_dot, n_channels_, d_dot);
  for (int m2 = 0; m2 < axis_; ++m2) {
    Real* row = d_dot + offset_[m2];
    for (int m = m2; m < n_channels_; m += w) {
      Pack<Real> sum{};
      for (int a = 0; a < 4; ++a)
        sum += t[a * t_stride + m2] * load<Real>(t_dot + a * t_stride + m) +
               t_dot[a * t_stride + m2] * load<Real>(t + a * t_stride + m);
      store<Real>(row + m - m2, sum);
    }
  }
}

/// dE/dD of the kept entries as rows of T's width, `full` [axis, t_stride]: 0 where m < m2, and in the
/// padding.
template <class Real>
void Descriptor::expand(const Real* dd, int t_stride, Real* full) const {
  constexpr int w = pack_width<Real>;
  const Pack<Real> zero{};
  for (int m2 = 0; m2 < axis_; ++m2, full += t_stride) {
    const Real* row =
        dd + offset_[m2] - m2;  // of m = 0; a pack's lanes beyond either end lie in rows beside it
    const int first = m2 / w * w, last = t_stride - w;
    std::fill_n(full, first, Real(0));
    for (int m = first; m < t_stride; m += w) {
      __builtin_prefetch(row + m + stride());  // the next atom's: nothing else hides its latency
      store<Real>(full + m, load<Real>(row + m));
    }
    store<Real>(full + first, joined<Real>(zero, load<Real>(full + first), m2 - first));
    store<Real>(full + last, joined<Real>(load<Real>(full + last), zero, n_channels_ - last));
  }
}

/// dE/dT_am += sum_m' T_am' g[m', m] for as many m, whose g [t_stride] lie one after the other.
template <class Real, int rows>
void add_products_with_rows(const Real* t, int t_stride, const Real* g, Real* dt) {
  constexpr int w = pack_width<Real>;
  Pack<Real> sum[padded(4 * rows, w)] = {};  // of a and m: rows a + m
  for (int m = 0; m < t_stride; m += w) {
    Pack<Real> right[rows];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) right[i] = load<Real>(g + i * t_stride + m);
#pragma GCC unroll 4
    for (int a = 0; a < 4; ++a) {
      const Pack<Real> left = load<Real>(t + a * t_stride + m);
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) sum[rows * a + i] += left * right[i];
    }
  }
  Real total[padded(4 * rows, w)];
#pragma GCC unroll 16
  for (int first = 0; first < 4 * rows; first += w) {
    Pack<Real> some[w];
#pragma GCC unroll 16
    for (int i = 0; i < w; ++i) some[i] = sum[first + i];
    store<Real>(total + first, horizontal_sums<Real, w>(some));
  }
  for (int a = 0; a < 4; ++a)
    for (int i = 0; i < rows; ++i) dt[a * t_stride + i] += total[rows * a + i];
}

template <class Real>
void Descriptor::backward(const Real* t, int t_stride, const Real* dd, Real* dt, Real* work) const {
  constexpr int w = pack_width<Real>;
  if (axis_ == 0) {
    std::fill_n(std::copy_n(dd, n_channels_, dt), 4 * t_stride - n_channels_, Real(0));
    return;
  }
  expand(dd, t_stride, work);
  for (int m = 0; m < t_stride; m += w) {
    Pack<Real> sum[4] = {};
    for (int m2 = 0; m2 < axis_; ++m2) {
      const Pack<Real> g = load<Real>(work + m2 * t_stride + m);
      for (int a = 0; a < 4; ++a) sum[a] += t[a * t_stride + m2] * g;
    }
    for (int a = 0; a < 4; ++a) store<Real>(dt + a * t_stride + m, sum[a]);
  }
  int m2 = 0;
  for (; m2 + 4 <= axis_; m2 += 4)
    add_products_with_rows<Real, 4>(t, t_stride, work + m2 * t_stride, dt + m2);
  for (; m2 < axis_; ++m2) add_products_with_rows<Real, 1>(t, t_stride, work + m2 * t_stride, dt + m2);
}

template void Descriptor::forward(const float*, int, float*) const;
template void Descriptor::forward(const double*, int, double*) const;
template void Descriptor::tangent(const float*, const float*, int, float*) const;
template void Descriptor::tangent(const double*, const double*, int, double*) const;
template void Descriptor::backward(const float*, int, const float*, float*, float*) const;
template void Descriptor::backward(const double*, int, const double*, double*, double*) const;

}  // namespace quintet::potential
