#include "surrogates/potential/evaluation/radial_embedding.hpp"

namespace quintet::potential {

template <class Real>
void RadialEmbedding<Real>::forward(Batch<Real>& batch, Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  const int stride = this->stride_, n_types = this->n_types_;
  this->evaluate_all(batch, scratch);
  for (int b = 0; b < batch.n_atoms; ++b) {
    Real* t_of_b = batch.t.data() + std::int64_t{b} * 4 * stride;
    for (int m = 0; m < stride; m += w) {
      Pack<Real> sum{};
      for (int r = batch.first_row(b); r < batch.first_row(b + 1); ++r)
        sum += load<Real>(scratch.value.data() + std::int64_t{r} * stride + m);
      for (int t = 0; t < n_types; ++t)
        sum += static_cast<Real>(batch.empty[b * n_types + t]) *
               load<Real>(this->empty_.value[batch.centre * n_types + t].data() + m);
      store<Real>(t_of_b + m, sum * scale_);
    }
  }
}

template <class Real>
void RadialEmbedding<Real>::backward(Batch<Real>& batch, int b, Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  const int stride = this->stride_;
  for (int r = batch.first_row(b); r < batch.first_row(b + 1); ++r) {
    Pack<Real> sum{};
    for (int m = 0; m < stride; m += w)
      sum +=
          load<Real>(batch.dt.data() + m) * load<Real>(scratch.slope.data() + std::int64_t{r} * stride + m);
    Real* gradient = batch.gradient.data() + 4 * std::int64_t{r};
    gradient[0] = horizontal_sum<Real>(sum) * scale_;
    gradient[1] = gradient[2] = gradient[3] = 0;
  }
}

template class RadialEmbedding<float>;
template class RadialEmbedding<double>;

}  // namespace quintet::potential
