#include "surrogates/potential/evaluation/triplets/triplet_embedding.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "surrogates/potential/evaluation/triplets/triplet_kernels.hpp"
#include "surrogates/potential/model/chains.hpp"

namespace quintet::potential {

// Not inlined: another copy of it might round in another way.
template <class Real>
[[gnu::noinline]] void multiply_directions(const typename Embedding<Real>::Scratch::Directions& d, int j,
                                           int begin, int end, Real* theta) {
  for (int k = begin; k < end; ++k) theta[k - begin] = d.x[j] * d.x[k] + d.y[j] * d.y[k] + d.z[j] * d.z[k];
}

template <class Real>
TripletEmbedding<Real>::TripletEmbedding(const DescriptorModel& model,
                                         const std::optional<TripletLayout>& layout, bool use_tables)
    : layout_(layout),
      n_types_(model.n_types()),
      n_channels_(model.n_channels()),
      stride_(padded(model.n_channels(), pack_width<Real>)) {
  for (int u = 0; u < n_types_; ++u)
    for (int t = 0; t <= u; ++t) {
      const auto& network = model.embedding[model.network_index(t, u)];
      pairs_.push_back({t,
                        u,
                        static_cast<Real>(1.0 / model.sel[t] / model.sel[u]),
                        embedding_chain<Real>(network),
                        {},
                        {}});
      if (use_tables) pairs_.back().rows.emplace(model.tables[model.network_index(t, u)], stride_);
      if (layout_) set_table(pairs_.back(), triplet_coefficients(network, *layout_).data());
    }
  for (int i = 0; layout_ && i < layout_->n_intervals(); ++i)
    x_by_theta_.push_back(static_cast<Real>(2 / layout_->width(i)));
  for (int centre = 0; centre < n_types_; ++centre) {
    empty_.emplace_back();
    for (int a = 0; a < 3; ++a)
      empty_.back()[a] = static_cast<Real>(-model.mean[centre][a + 1] / model.deviation[centre][a + 1]);
  }
}

template <class Real>
void TripletEmbedding<Real>::set_table(TypePair& types, const double* c) const {
  const std::int64_t rows = std::int64_t{layout_->n_intervals()} * layout_->order;
  types.table.assign(rows * stride_, Real(0));
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(c + row * n_channels_, n_channels_, types.table.begin() + row * stride_);
}

template <class Real>
std::string TripletEmbedding<Real>::description() const {
  if (pairs_.front().rows) return "the file's quintic tables, for every pair of neighbours";
  if (!layout_) return "networks of three atoms evaluated for every pair of neighbours";
  return fmt::format("polynomials of degree {} on {} intervals of R_j.R_k, relative error {:.1e}",
                     layout_->order - 1, layout_->n_intervals(), layout_->error);
}

/// The neighbours of an atom by type; then, where it is not 0, the row of the type's empty slots, once.
template <class Real>
void TripletEmbedding<Real>::gather(const Batch<Real>& batch, int b, Scratch& scratch) const {
  auto& d = scratch.directions;
  for (auto* array : {&d.x, &d.y, &d.z, &d.count}) array->clear();
  d.first.assign(1, 0);
  const auto add = [&d](const Real* row, Real count) {
    d.x.push_back(row[0]);
    d.y.push_back(row[1]);
    d.z.push_back(row[2]);
    d.count.push_back(count);
  };
  const auto& empty = empty_[batch.centre];
  const bool has_empty = std::any_of(empty.begin(), empty.end(), [](Real value) { return value != 0; });
  for (int t = 0; t < n_types_; ++t) {
    const std::int64_t at = std::int64_t{b} * n_types_ + t;
    for (std::int64_t r = batch.first[at]; r < batch.first[at + 1]; ++r) {
      const Real* row = batch.row.data() + 4 * r + 1;
      if (!std::isfinite(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]))
        throw NumericalError(
            fmt::format("two atoms lie at one place (neighbour of atom index {}): overlapping atoms or too "
                        "large a time step",
                        batch.neighbour[r]));
      add(row, 1);
    }
    if (has_empty && batch.empty[at] > 0) add(empty.data(), static_cast<Real>(batch.empty[at]));
    d.first.push_back(static_cast<int>(d.x.size()));
  }
}

template <class Real>
void TripletEmbedding<Real>::begin_intervals(Scratch& scratch) const {
  if (!layout_) return;
  const std::size_t n = layout_->n_intervals();
  scratch.moments.resize(n * layout_->order);
  scratch.marked.assign(n, 0);
  scratch.occupied.clear();
}

/// G [pairs, stride] of the pairs at hand, then dG/dtheta: of the file's tables, or on the network's tape.
template <class Real>
const Real* TripletEmbedding<Real>::evaluate_pairs(const TypePair& types, Scratch& scratch) const {
  const auto& theta = scratch.pairs.theta;
  const std::int64_t n = std::ssize(theta), size = n * stride_;
  if (types.rows) {
    scratch.value.resize(2 * size);
    Real* g = scratch.value.data();
    for (std::int64_t i = 0; i < n; ++i, g += stride_)
      types.rows->evaluate(theta[i], [&](int m, const Pack<Real>& value, const Pack<Real>& slope) {
        store<Real>(g + m, value);
        store<Real>(g + size + m, slope);
      });
    return scratch.value.data();
  }
  scratch.input.assign(theta.begin(), theta.end());
  scratch.input.resize(2 * theta.size(), Real(1));
  types.network.forward_with_tangent({scratch.input.data(), 1}, static_cast<int>(n), scratch.tape);
  return scratch.tape.layers.back().y.data();
}

template <class Real>
void TripletEmbedding<Real>::add_pairs(const TypePair& types, Scratch& scratch, Real* t) const {
  constexpr int w = pack_width<Real>;
  const auto& [j, k, theta, weight] = scratch.pairs;
  const Real* g = evaluate_pairs(types, scratch);
  for (std::size_t i = 0; i < theta.size(); ++i, g += stride_)
    for (int m = 0; m < stride_; m += w)
      store<Real>(t + m, load<Real>(t + m) + (types.scale * weight[i] * theta[i]) * load<Real>(g + m));
}

/// T_0m += scale sum_p sum_k c_pkm M_pk.
template <class Real>
void TripletEmbedding<Real>::add_moments(const TypePair& types, const Scratch& scratch, Real* t) const {
  constexpr int w = pack_width<Real>;
  const int order = layout_->order;
  for (int m = 0; m < stride_; m += w) {
    Pack<Real> sum{};
    for (const int interval : scratch.occupied) {
      const Real* moments = scratch.moments.data() + std::int64_t{interval} * order;
      const Real* c = types.table.data() + std::int64_t{interval} * order * stride_ + m;
      for (int k = 0; k < order; ++k, c += stride_) sum += moments[k] * load<Real>(c);
    }
    store<Real>(t + m, load<Real>(t + m) + types.scale * sum);
  }
}

template <class Real>
void TripletEmbedding<Real>::forward(Batch<Real>& batch, Scratch& scratch) const {
  for (int b = 0; b < batch.n_atoms; ++b) {
    Real* t = batch.t.data() + std::int64_t{b} * 4 * stride_;
    std::fill_n(t, stride_, Real(0));
    gather(batch, b, scratch);
    for (const auto& types : pairs_) {
      accumulate_moments(types, scratch, [&] { add_pairs(types, scratch, t); });
      if (layout_) add_moments(types, scratch, t);
    }
  }
}

/// q_pk = sum_m c_pkm dE/dT_0m of an interval p.
template <class Real>
void TripletEmbedding<Real>::contract_back(const TypePair& types, int interval, const Real* dt,
                                           Real* moments) const {
  constexpr int w = pack_width<Real>;
  const Real* c = types.table.data() + std::int64_t{interval} * layout_->order * stride_;
  for (int k = 0; k < layout_->order; ++k, c += stride_) {
    Pack<Real> sum{};
    for (int m = 0; m < stride_; m += w) sum += load<Real>(c + m) * load<Real>(dt + m);
    moments[k] = horizontal_sum<Real>(sum);
  }
}

/// Add dE/dtheta_jk to the gradients of both rows.
template <class Real, class Directions>
void add_slope(Directions& d, int j, int k, Real slope) {
  d.gx[j] += slope * d.x[k];
  d.gy[j] += slope * d.y[k];
  d.gz[j] += slope * d.z[k];
  d.gx[k] += slope * d.x[j];
  d.gy[k] += slope * d.y[j];
  d.gz[k] += slope * d.z[j];
}

/// Of pairs whose network is run: d/dtheta of theta G = G + theta G'.
template <class Real>
void TripletEmbedding<Real>::add_pair_slopes(const TypePair& types, const Real* dt, Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  const auto& [j, k, theta, weight] = scratch.pairs;
  const Real* g = evaluate_pairs(types, scratch);
  const Real* dg = g + std::ssize(theta) * stride_;
  for (std::size_t i = 0; i < theta.size(); ++i, g += stride_, dg += stride_) {
    Pack<Real> sum{};
    for (int m = 0; m < stride_; m += w)
      sum += load<Real>(dt + m) * (load<Real>(g + m) + theta[i] * load<Real>(dg + m));
    add_slope<Real>(scratch.directions, j[i], k[i], types.scale * weight[i] * horizontal_sum<Real>(sum));
  }
}

/// Of two types of neighbours: where polynomials P reach, d/dtheta of theta P(x), q their coefficients.
template <class Real>
void TripletEmbedding<Real>::add_slopes(const TypePair& types, const Real* dt, Scratch& scratch) const {
  begin_intervals(scratch);
  const auto add = [&](int j, int k, Real theta, Real weight, const TripletPlace<Real>& place) {
    const Real* q = numbers_of(place.interval, scratch,
                               [&](Real* those) { contract_back(types, place.interval, dt, those); });
    Pack<Real> value{}, slope{};
    each_power<Real>(place.x, layout_->order, [&](int i, Pack<Real> power, Pack<Real> derivative) {
      value += load<Real>(q + i) * power;
      slope += load<Real>(q + i) * derivative;
    });
    slope *= theta * x_by_theta_[place.interval];
    add_slope<Real>(scratch.directions, j, k, types.scale * weight * horizontal_sum<Real>(value + slope));
  };
  sort_pairs(types, scratch, add, [&] { add_pair_slopes(types, dt, scratch); });
}

template <class Real>
void TripletEmbedding<Real>::backward(Batch<Real>& batch, int b, Scratch& scratch) const {
  auto& d = scratch.directions;
  gather(batch, b, scratch);
  for (auto* array : {&d.gx, &d.gy, &d.gz}) array->assign(d.x.size(), Real(0));
  for (const auto& types : pairs_) add_slopes(types, batch.dt.data(), scratch);
  for (int t = 0; t < n_types_; ++t) {
    int at = d.first[t];  // a row of empty slots after the type's own is a constant
    const std::int64_t own = std::int64_t{b} * n_types_ + t;
    for (std::int64_t r = batch.first[own]; r < batch.first[own + 1]; ++r, ++at) {
      Real* gradient = batch.gradient.data() + 4 * r;
      gradient[0] = 0;
      gradient[1] = d.gx[at];
      gradient[2] = d.gy[at];
      gradient[3] = d.gz[at];
    }
  }
}

template void multiply_directions<float>(const Embedding<float>::Scratch::Directions&, int, int, int, float*);
template void multiply_directions<double>(const Embedding<double>::Scratch::Directions&, int, int, int,
                                          double*);
template class TripletEmbedding<float>;
template class TripletEmbedding<double>;

}  // namespace quintet::potential
