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
}

int Descriptor::place(int m, int m2) const {
  if (m < m2) std::swap(m, m2);
  return offset_[m2] + m - m2;
}

std::vector<int> Descriptor::tied() const {
  std::vector<int> places;
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

template <class Real>
void Descriptor::backward(const Real* t, int t_stride, const Real* dd, Real* dt, Real* work) const {
  constexpr int w = pack_width<Real>;
  const Pack<Real> zero{};
  for (int m2 = 0; m2 < axis_; ++m2) {  // rows of dE/dD [m2, t_stride], 0 for m < m2 and beyond the channels
    const Real* from = dd + offset_[m2] - m2;
    Real* row = work + m2 * t_stride;
    const int head = m2 / w * w, tail = n_channels_ / w * w;
    std::fill_n(row, head, Real(0));
    for (int m = head; m < t_stride; m += w) store<Real>(row + m, load<Real>(from + m));
    store<Real>(row + head, joined<Real>(zero, load<Real>(row + head), m2 - head));
    if (tail < t_stride)
      store<Real>(row + tail, joined<Real>(load<Real>(row + tail), zero, n_channels_ - tail));
  }
  for (int m = 0; m < t_stride; m += w) {
    Pack<Real> sum[4] = {};
    for (int m2 = 0; m2 < axis_; ++m2) {
      const Pack<Real> g = load<Real>(work + m2 * t_stride + m);
      for (int a = 0; a < 4; ++a) sum[a] += t[a * t_stride + m2] * g;
    }
    for (int a = 0; a < 4; ++a) store<Real>(dt + a * t_stride + m, sum[a]);
  }
  for (int begin = 0; begin < axis_; begin += w) {
    const int end = std::min(begin + w, axis_);
    Pack<Real> sums[4][w] = {};
    for (int m2 = begin; m2 < end; ++m2)
      for (int m = begin; m < t_stride; m += w) {
        const Pack<Real> g = load<Real>(work + m2 * t_stride + m);
        for (int a = 0; a < 4; ++a) sums[a][m2 - begin] += g * load<Real>(t + a * t_stride + m);
      }
    for (int a = 0; a < 4; ++a) {
      Real* to = dt + a * t_stride + begin;
      store<Real>(to, load<Real>(to) + horizontal_sums<Real>(sums[a]));
    }
  }
}

template void Descriptor::forward(const float*, int, float*) const;
template void Descriptor::forward(const double*, int, double*) const;
template void Descriptor::tangent(const float*, const float*, int, float*) const;
template void Descriptor::tangent(const double*, const double*, int, double*) const;
template void Descriptor::backward(const float*, int, const float*, float*, float*) const;
template void Descriptor::backward(const double*, int, const double*, double*, double*) const;

}  // namespace quintet::potential
