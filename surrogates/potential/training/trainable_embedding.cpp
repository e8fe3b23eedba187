#include "surrogates/potential/training/trainable_embedding.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "surrogates/potential/evaluation/moment_packs.hpp"

namespace quintet::potential {

template <class Real>
TrainableEmbedding<Real>::TrainableEmbedding(const Model& model, const ParameterLayout& parameters,
                                             const SpectralLayout& layout)
    : SpectralEmbedding<Real>(model, layout) {
  const int n = layout.order;
  chebyshev_.resize(static_cast<std::size_t>(n) * n);
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      chebyshev_[k * n + i] = (k == 0 ? 1.0 : 2.0) / n * std::cos(std::numbers::pi * k * (i + 0.5) / n);
  power_ = chebyshev_to_power(n);
  std::vector<double> nodes;
  for (int p = 0; p < layout.n_intervals; ++p)
    for (int i = 0; i < n; ++i)
      nodes.push_back(layout.lower +
                      (p + 0.5 * (std::cos(std::numbers::pi * (i + 0.5) / n) + 1)) * layout.width);
  nodes_.assign(model.embedding.size(), nodes);
  for (int centre = 0; centre < this->n_types_; ++centre)
    for (int t = 0; t < this->n_types_; ++t) {
      auto& of = nodes_[model.network_index(centre, t)];
      empty_node_.push_back(of.size());
      of.push_back(-model.mean[centre][0] / model.deviation[centre][0]);
      empty_bar_.emplace_back(this->stride_, Real(0));
    }
  for (std::size_t i = 0; i < model.embedding.size(); ++i) {
    networks_.push_back(embedding_chain<double>(model.embedding[i], parameters.embedding[i]));
    c_bar_.emplace_back(static_cast<std::size_t>(layout.n_intervals) * n * this->stride_, Real(0));
  }
  tapes_.resize(networks_.size());
}

/// Coefficients of the powers from samples, by way of Chebyshev's: two steps, so that round-off stays that of
/// G.
template <class Real>
void TrainableEmbedding<Real>::transform(int network, const double* samples, int stride) {
  const int n = this->layout_.order, m = this->n_channels_;
  std::vector<double> c(static_cast<std::size_t>(this->layout_.n_intervals) * n * m, 0.0), t(m);
  double largest = 0, last = 0;
  for (int p = 0; p < this->layout_.n_intervals; ++p)
    for (int k = 0; k < n; ++k) {
      std::fill(t.begin(), t.end(), 0.0);
      for (int i = 0; i < n; ++i) {
        const double* g = samples + (static_cast<std::size_t>(p) * n + i) * stride;
        const double factor = chebyshev_[k * n + i];
        for (int q = 0; q < m; ++q) t[q] += factor * g[q];
      }
      double* to = c.data() + static_cast<std::size_t>(p) * n * m;
      for (int i = k % 2; i <= k; i += 2)  // T_k has powers of its own parity
        for (int q = 0; q < m; ++q) to[static_cast<std::size_t>(i) * m + q] += power_[k * n + i] * t[q];
      for (int q = 0; q < m; ++q) {
        if (k == 0) largest = std::max(largest, std::abs(t[q]));
        if (k >= n - 2) last = std::max(last, std::abs(t[q]));
      }
    }
  unresolved_ = std::max(unresolved_, last / std::max(largest, 1e-300));
  this->set_table(network, c.data());
}

template <class Real>
void TrainableEmbedding<Real>::refresh(const Real* parameters) {
  unresolved_ = 0;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    networks_[i].refresh(parameters);
    networks_[i].forward({nodes_[i].data(), 1}, nodes_[i].size(), networks::Keep::gradient, tapes_[i]);
    transform(i, tapes_[i].layers.back().y.data(), networks_[i].stride());
  }
  for (std::size_t pair = 0; pair < empty_node_.size(); ++pair) {
    const int network = this->index_[pair];
    const double* g = tapes_[network].layers.back().y.data() +
                      static_cast<std::size_t>(empty_node_[pair]) * networks_[network].stride();
    auto& value = this->empty_.value[pair];
    for (int q = 0; q < this->n_channels_; ++q) value[q] = static_cast<Real>(g[q]);
  }
}

/// Copy an atom's occupied intervals from the scratch to the record.
template <class Real>
void TrainableEmbedding<Real>::keep(int b, AlignedVector<Real>& moments, Record& record) const {
  const int intervals = this->layout_.n_intervals, size = 4 * this->layout_.order;
  const auto& scratch = record.scratch;
  for (int t = 0; t < this->n_types_; ++t)
    for (int i = 0; i < scratch.count[t]; ++i) {
      const std::size_t at =
          (static_cast<std::size_t>(t) * intervals + scratch.occupied[t * intervals + i]) * size;
      const Real* from = scratch.moments.data() + at;
      Real* to = moments.data() + b * atom_size() + at;
      for (int k = 0; k < size; k += moment_lanes<Real>)
        store<Real, moment_lanes<Real>>(to + k, load<Real, moment_lanes<Real>>(from + k));
    }
}

template <class Real>
void TrainableEmbedding<Real>::record(Batch<Real>& batch, Record& record) const {
  auto& scratch = record.scratch;
  this->reserve(batch, scratch);
  const std::size_t intervals = scratch.occupied.size();
  record.moments.resize(batch.n_atoms * atom_size());
  record.tangent.resize(record.moments.size());
  record.occupied.resize(batch.n_atoms * intervals);
  record.count.resize(static_cast<std::size_t>(batch.n_atoms) * this->n_types_);
  for (int b = 0; b < batch.n_atoms; ++b) {
    this->accumulate_moments(batch, b, scratch);
    keep(b, record.moments, record);
    std::copy(scratch.occupied.begin(), scratch.occupied.end(), record.occupied.begin() + b * intervals);
    std::copy_n(scratch.count.begin(), this->n_types_, record.count.begin() + b * this->n_types_);
    Real* t = batch.t.data() + static_cast<std::size_t>(b) * 4 * this->stride_;
    this->contract(batch.centre, scratch, t);
    this->add_empty_slots(batch, b, t);
  }
}

/// Mdot_pka = sum_{j in p} x_j^k Rdot_ja + k x_j^(k-1) xdot_j R_ja, xdot = 2/width Rdot_0.
template <class Real>
void TrainableEmbedding<Real>::accumulate_tangent(const Batch<Real>& batch, int b, const Real* row_dot,
                                                  Scratch& scratch) const {
  constexpr int lanes = moment_lanes<Real>;
  const int intervals = this->layout_.n_intervals, size = 4 * this->layout_.order, n_packs = size / lanes;
  const auto dx_ds = static_cast<Real>(2 / this->layout_.width);
  for (int t = 0; t < this->n_types_; ++t) {
    Real* moments = scratch.moments.data() + static_cast<std::size_t>(t) * intervals * size;
    for (int i = 0; i < scratch.count[t]; ++i)
      std::fill_n(moments + static_cast<std::size_t>(scratch.occupied[t * intervals + i]) * size, size,
                  Real(0));
    for (int r = batch.first[b * this->n_types_ + t]; r < batch.first[b * this->n_types_ + t + 1]; ++r) {
      const Real* dot = row_dot + 4 * static_cast<std::size_t>(r);
      const Real x_dot = dx_ds * dot[0];
      const MomentPowers<Real> power(scratch.local[r]);
      const MomentPack<Real> columns = columns_of<Real>(batch.row.data() + 4 * static_cast<std::size_t>(r));
      const Real next_dot = x_dot * power.next_slope();
      MomentPack<Real> term = power.weight * columns;
      MomentPack<Real> term_dot =
          power.weight * columns_of<Real>(dot) + power.weight_slope() * x_dot * columns;
      Real* m = moments + static_cast<std::size_t>(scratch.interval[r]) * size;
      for (int i = 0; i < n_packs; ++i, m += lanes) {
        store<Real, lanes>(m, load<Real, lanes>(m) + term_dot);
        term_dot = term_dot * power.next + term * next_dot;
        term = term * power.next;
      }
    }
  }
}

template <class Real>
void TrainableEmbedding<Real>::tangent(const Batch<Real>& batch, const Real* row_dot, Record& record,
                                       Real* t_dot) const {
  auto& scratch = record.scratch;
  const std::size_t intervals = scratch.occupied.size();
  for (int b = 0; b < batch.n_atoms; ++b) {
    std::copy_n(record.occupied.begin() + b * intervals, intervals, scratch.occupied.begin());
    std::copy_n(record.count.begin() + b * this->n_types_, this->n_types_, scratch.count.begin());
    accumulate_tangent(batch, b, row_dot, scratch);
    keep(b, record.tangent, record);
    this->contract(batch.centre, scratch, t_dot + static_cast<std::size_t>(b) * 4 * this->stride_);
  }
}

namespace {

/// c[order, packs W] += sum_a m[k, a] t[a] + d[k, a] s[a], for the packs whose t and s fit into registers.
template <class Real, int packs>
void outer_products(const Real* m, const Real* d, int order, const Real* t, const Real* s, int stride,
                    Real* c) {
  constexpr int w = pack_width<Real>;
  Pack<Real> right[4][packs], right_dot[4][packs];
#pragma GCC unroll 4
  for (int a = 0; a < 4; ++a)
#pragma GCC unroll 4
    for (int q = 0; q < packs; ++q) {
      right[a][q] = load<Real>(t + static_cast<std::size_t>(a) * stride + q * w);
      right_dot[a][q] = load<Real>(s + static_cast<std::size_t>(a) * stride + q * w);
    }
  for (int k = 0; k < order; ++k, m += 4, d += 4, c += stride) {
    Pack<Real> sum[packs];
#pragma GCC unroll 4
    for (int q = 0; q < packs; ++q) sum[q] = load<Real>(c + q * w);
#pragma GCC unroll 4
    for (int a = 0; a < 4; ++a)
#pragma GCC unroll 4
      for (int q = 0; q < packs; ++q) sum[q] += m[a] * right[a][q] + d[a] * right_dot[a][q];
#pragma GCC unroll 4
    for (int q = 0; q < packs; ++q) store<Real>(c + q * w, sum[q]);
  }
}

}  // namespace

template <class Real>
void TrainableEmbedding<Real>::add_gradient(const Batch<Real>& batch, const Record& record, const Real* t_bar,
                                            const Real* t_dot_bar) {
  constexpr int w = pack_width<Real>;
  const int intervals = this->layout_.n_intervals, order = this->layout_.order, stride = this->stride_;
  const std::size_t t_size = 4 * static_cast<std::size_t>(stride), lists = record.scratch.occupied.size();
  for (int b = 0; b < batch.n_atoms; ++b)
    for (int t = 0; t < this->n_types_; ++t) {
      const int pair = batch.centre * this->n_types_ + t;
      const Real *bar = t_bar + b * t_size, *dot_bar = t_dot_bar + b * t_size;
      auto& c_bar = c_bar_[this->index_[pair]];
      for (int i = 0; i < record.count[b * this->n_types_ + t]; ++i) {
        const int p = record.occupied[b * lists + t * intervals + i];
        const std::size_t at = b * atom_size() + (static_cast<std::size_t>(t) * intervals + p) * 4 * order;
        const Real *m = record.moments.data() + at, *d = record.tangent.data() + at;
        if (i + 1 < record.count[b * this->n_types_ + t]) {  // moments of the interval that comes next
          const int ahead = (record.occupied[b * lists + t * intervals + i + 1] - p) * 4 * order;
          for (int k = 0; k < 4 * order; k += 64 / static_cast<int>(sizeof(Real))) {
            __builtin_prefetch(m + ahead + k);
            __builtin_prefetch(d + ahead + k);
          }
        }
        Real* c = c_bar.data() + static_cast<std::size_t>(p) * order * stride;
        for (int q = 0; q < stride; q += 2 * w) {
          if (q + w < stride)
            outer_products<Real, 2>(m, d, order, bar + q, dot_bar + q, stride, c + q);
          else
            outer_products<Real, 1>(m, d, order, bar + q, dot_bar + q, stride, c + q);
        }
      }
      const auto n_empty = static_cast<Real>(batch.empty[b * this->n_types_ + t]);
      for (int a = 0; a < 4; ++a) {
        const Real factor = n_empty * this->empty_.row[batch.centre][a];
        for (int q = 0; factor != 0 && q < stride; ++q) empty_bar_[pair][q] += factor * bar[a * stride + q];
      }
    }
}

template <class Real>
void TrainableEmbedding<Real>::collect(Real* gradient) {
  const int n = this->layout_.order, m = this->n_channels_, intervals = this->layout_.n_intervals;
  const double factor = this->empty_.inverse_slots;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    const int stride = networks_[i].stride();
    auto& bar = tapes_[i].layers.back().y_bar;
    std::fill(bar.begin(), bar.end(), 0.0);
    std::vector<double> t(m);
    for (int p = 0; p < intervals; ++p)
      for (int k = 0; k < n; ++k) {
        std::fill(t.begin(), t.end(), 0.0);
        for (int l = k % 2; l <= k; l += 2) {
          const Real* c = c_bar_[i].data() + (static_cast<std::size_t>(p) * n + l) * this->stride_;
          for (int q = 0; q < m; ++q) t[q] += factor * power_[k * n + l] * static_cast<double>(c[q]);
        }
        for (int l = 0; l < n; ++l) {
          double* to = bar.data() + (static_cast<std::size_t>(p) * n + l) * stride;
          for (int q = 0; q < m; ++q) to[q] += chebyshev_[k * n + l] * t[q];
        }
      }
    for (std::size_t pair = 0; pair < empty_node_.size(); ++pair) {
      if (this->index_[pair] != static_cast<int>(i)) continue;
      double* to = bar.data() + static_cast<std::size_t>(empty_node_[pair]) * stride;
      for (int q = 0; q < m; ++q) to[q] = factor * static_cast<double>(empty_bar_[pair][q]);
      std::fill(empty_bar_[pair].begin(), empty_bar_[pair].end(), Real(0));
    }
    std::fill(c_bar_[i].begin(), c_bar_[i].end(), Real(0));
    networks_[i].gradient({nodes_[i].data(), 1}, tapes_[i], gradient);
  }
}

template class TrainableEmbedding<float>;
template class TrainableEmbedding<double>;

}  // namespace quintet::potential
