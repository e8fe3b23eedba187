#include "surrogates/potential/evaluation/gated_embedding.hpp"

#include <algorithm>
#include <cstring>

#include "surrogates/potential/evaluation/moment_packs.hpp"

namespace quintet::potential {

/// M of all neighbours and N of each type.
template <class Real>
void SpectralEmbedding<Real>::accumulate_gated(const Batch<Real>& batch, int b, Scratch& scratch) const {
  constexpr int lanes = moment_lanes<Real>;
  const int size = 4 * layout_.order, n_types = n_types_;
  const std::size_t of_group = std::int64_t{layout_.n_intervals} * size;
  locate(batch, batch.first_row(b), batch.first_row(b + 1), n_types, scratch);
  const auto* interval = scratch.interval.data();
  const Real *local = scratch.local.data(), *rows = batch.row.data(), *gate = batch.gate.data();
  Real* const all_moments = scratch.moments.data() + n_types * of_group;
  for (int t = 0; t < n_types; ++t) {
    const int begin = batch.first[b * n_types + t], end = batch.first[b * n_types + t + 1];
    locate(batch, begin, end, t, scratch);
    Real* const moments = scratch.moments.data() + t * of_group;
    with_packs(size / lanes, [&](auto n) {
      for (int r = begin; r < end; ++r) {
        const MomentPowers<Real> power(local[r]);
        MomentPack<Real> term = power.weight * columns_of<Real>(rows + 4 * std::int64_t{r});
        Real* const m = all_moments + std::int64_t{interval[r]} * size;
        Real* const gated = moments + std::int64_t{interval[r]} * size;
        const Real w = gate[r];
        for (int i = 0; i < n; ++i) {
          store<Real, lanes>(m + i * lanes, load<Real, lanes>(m + i * lanes) + term);
          store<Real, lanes>(gated + i * lanes, load<Real, lanes>(gated + i * lanes) + w * term);
          term = term * power.next;
        }
      }
    });
  }
}

/// dE/dR through the weighted moments, and dE/ds through their weights w(s).
template <class Real>
void SpectralEmbedding<Real>::add_gated_gradient(Batch<Real>& batch, int b, const Scratch& scratch) const {
  constexpr int lanes = moment_lanes<Real>, powers = lanes / 4;
  const auto first = moment_constants<Real>([](int, int a) { return a == 0; });
  const auto spread = [](const Real* values) {
    MomentPack<Real> all;
    for (int l = 0; l < lanes; ++l) all[l] = values[l / 4];
    return all;
  };
  const auto place = [&](int r) { return MomentPlace<Real>{scratch.local[r], scratch.interval[r]}; };
  const int order = layout_.order;
  for (int t = 0; t < n_types_; ++t)
    slopes_of_rows<Real>(
        {batch.first[b * n_types_ + t], batch.first[b * n_types_ + t + 1]},
        scratch.moments.data() + std::int64_t{t} * layout_.n_intervals * 4 * order,
        {order, static_cast<Real>(2 / layout_.width), empty_.inverse_slots}, batch.row.data(), place,
        [&](int begin, int n, const MomentPack<Real>& values, const MomentPack<Real>& through_s) {
          const std::size_t at = 4 * std::int64_t{begin};
          const auto by_gate = sums_of_columns<Real>(values * load<Real, lanes>(batch.row.data() + at));
          const MomentPack<Real> gradient = load<Real, lanes>(batch.gradient.data() + at) +
                                            spread(batch.gate.data() + begin) * (values + through_s) +
                                            first * spread(batch.gate_slope.data() + begin) * by_gate;
          std::memcpy(batch.gradient.data() + at, &gradient, std::min(powers, n) * 4 * sizeof(Real));
        });
}

template <class Real>
GatedEmbedding<Real>::GatedEmbedding(const DescriptorModel& model, const SpectralLayout& layout)
    : SpectralEmbedding<Real>(model, layout, model.smooth_gates ? 1 : 0), smooth_(model.smooth_gates) {
  const int n = model.n_types();
  factors_.resize(std::int64_t{n} * n * this->stride_, Real(0));
  for (int centre = 0; centre < n; ++centre)
    for (int t = 0; t < n; ++t) {
      const auto& c = model.gates[model.pair_index(centre, t)];
      Real* to = factors_.data() + (std::int64_t{centre} * n + t) * this->stride_;
      for (int m = 0; m < this->n_channels_; ++m) to[m] = static_cast<Real>(smooth_ ? c[m] : 1 + c[m]);
    }
}

namespace {

/// to = c * from (+ to): rows [4, stride] by a factor for each channel.
template <bool add, class Real>
void scale_channels(const Real* c, const Real* from, int stride, Real* to) {
  constexpr int w = pack_width<Real>;
  for (int a = 0; a < 4; ++a, from += stride, to += stride)
    for (int m = 0; m < stride; m += w) {
      Pack<Real> product = load<Real>(c + m) * load<Real>(from + m);
      if constexpr (add) product += load<Real>(to + m);
      store<Real>(to + m, product);
    }
}

}  // namespace

template <class Real>
std::string GatedEmbedding<Real>::description() const {
  return SpectralEmbedding<Real>::description() + (smooth_ ? ", with smooth gates" : ", with gates");
}

template <class Real>
void GatedEmbedding<Real>::forward(Batch<Real>& batch, Scratch& scratch) const {
  this->reserve(batch, scratch);
  const int size = 4 * this->stride_;
  scratch.gated.resize(size);
  for (int b = 0; b < batch.n_atoms; ++b) {
    Real* t = batch.t.data() + std::int64_t{b} * size;
    if (smooth_) {
      this->accumulate_gated(batch, b, scratch);
      this->contract(this->all(), batch.centre, scratch, t);
    } else {
      this->accumulate_moments(batch, b, scratch);
      std::fill_n(t, size, Real(0));
    }
    for (int type = 0; type < this->n_types_; ++type) {
      if (scratch.count[type] == 0) continue;
      this->contract({type, type + 1}, batch.centre, scratch, scratch.gated.data());
      scale_channels<true>(factor(batch.centre, type), scratch.gated.data(), this->stride_, t);
    }
    this->add_empty_slots(batch, b, t);
  }
}

template <class Real>
void GatedEmbedding<Real>::backward(Batch<Real>& batch, int b, Scratch& scratch) const {
  const int n_types = this->n_types_;
  const Real* dt = batch.dt.data();
  for (int type = 0; type < n_types; ++type) {
    this->relist(batch.first[b * n_types + type], batch.first[b * n_types + type + 1], type, scratch);
    if (scratch.count[type] == 0) continue;
    scale_channels<false>(factor(batch.centre, type), dt, this->stride_, scratch.gated.data());
    this->contract_back({type, type + 1}, batch.centre, scratch.gated.data(), scratch);
  }
  if (!smooth_) {
    for (int type = 0; type < n_types; ++type)
      this->differentiate({batch.first[b * n_types + type], batch.first[b * n_types + type + 1]}, type, batch,
                          scratch);
    return;
  }
  this->relist(batch.first_row(b), batch.first_row(b + 1), n_types, scratch);
  this->contract_back(this->all(), batch.centre, dt, scratch);
  this->differentiate({batch.first_row(b), batch.first_row(b + 1)}, n_types, batch, scratch);
  this->add_gated_gradient(batch, b, scratch);
}

template void SpectralEmbedding<float>::accumulate_gated(const Batch<float>&, int, Scratch&) const;
template void SpectralEmbedding<float>::add_gated_gradient(Batch<float>&, int, const Scratch&) const;
template void SpectralEmbedding<double>::accumulate_gated(const Batch<double>&, int, Scratch&) const;
template void SpectralEmbedding<double>::add_gated_gradient(Batch<double>&, int, const Scratch&) const;
template class GatedEmbedding<float>;
template class GatedEmbedding<double>;

}  // namespace quintet::potential
