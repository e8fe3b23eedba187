#include "surrogates/potential/model/descriptor.hpp"

#include <algorithm>

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

template <class Real>
void Descriptor::forward(const Real* t, int t_stride, Real* d) const {
  constexpr int w = pack_width<Real>;
  for (int m2 = 0; m2 < axis_; ++m2) {
    Real* row = d + offset_[m2];
    // The last pack runs over into the next row, which is written afterwards.
    for (int m = m2; m < n_channels_; m += w) {
      Pack<Real> sum{};
      for (int a = 0; a < 4; ++a) sum += t[a * t_stride + m2] * load<Real>(t + a * t_stride + m);
      store<Real>(row + m - m2, sum);
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
  for (int m2 = 0; m2 < axis_; ++m2) {
    Real* row = work + m2 * t_stride;
    std::fill_n(row, m2, Real(0));
    std::copy_n(dd + offset_[m2], n_channels_ - m2, row + m2);
    std::fill(row + n_channels_, row + t_stride, Real(0));
  }
  for (int m = 0; m < t_stride; m += w) {
    Pack<Real> sum[4] = {};
    for (int m2 = 0; m2 < axis_; ++m2) {
      const Pack<Real> g = load<Real>(work + m2 * t_stride + m);
      for (int a = 0; a < 4; ++a) sum[a] += t[a * t_stride + m2] * g;
    }
    for (int a = 0; a < 4; ++a) store<Real>(dt + a * t_stride + m, sum[a]);
  }
  for (int m2 = 0; m2 < axis_; ++m2) {
    Pack<Real> sum[4] = {};
    for (int m = 0; m < t_stride; m += w) {
      const Pack<Real> g = load<Real>(work + m2 * t_stride + m);
      for (int a = 0; a < 4; ++a) sum[a] += g * load<Real>(t + a * t_stride + m);
    }
    for (int a = 0; a < 4; ++a) dt[a * t_stride + m2] += horizontal_sum<Real>(sum[a]);
  }
}

template void Descriptor::forward(const float*, int, float*) const;
template void Descriptor::forward(const double*, int, double*) const;
template void Descriptor::tangent(const float*, const float*, int, float*) const;
template void Descriptor::tangent(const double*, const double*, int, double*) const;
template void Descriptor::backward(const float*, int, const float*, float*, float*) const;
template void Descriptor::backward(const double*, int, const double*, double*, double*) const;

}  // namespace quintet::potential
