#include "surrogates/potential/training/embedding/trainable_embedding.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "surrogates/potential/evaluation/moment_packs.hpp"

namespace quintet::potential {

/// Networks are sampled where the intervals' polynomials need it, and at the s of empty slots. With gates a
/// table belongs to a centre and a group of neighbours, else to a network.
template <class Real>
TrainableEmbedding<Real>::TrainableEmbedding(const Model& model, const ParameterLayout& parameters,
                                             const SpectralLayout& layout)
    : SpectralEmbedding<Real>(model, layout, model.smooth_gates ? 1 : 0),
      samples_(layout.order),
      smooth_(model.smooth_gates) {
  std::vector<double> nodes;
  for (int p = 0; p < layout.n_intervals; ++p) samples_.append_nodes(layout.lower, layout.width, p, nodes);
  nodes_.assign(model.embedding.size(), nodes);
  for (int centre = 0; centre < this->n_types_; ++centre)
    for (int t = 0; t < this->n_types_; ++t) {
      network_of_.push_back(model.network_index(centre, t));
      auto& of = nodes_[network_of_.back()];
      empty_node_.push_back(of.size());
      of.push_back(-model.mean[centre][0] / model.deviation[centre][0]);
      empty_bar_.emplace_back(this->stride_, Real(0));
      if (!model.gates.empty()) gate_places_.push_back(parameters.gates[model.pair_index(centre, t)]);
    }
  for (std::size_t i = 0; i < model.embedding.size(); ++i)
    networks_.push_back(embedding_chain<double>(model.embedding[i], parameters.embedding[i]));
  tapes_.resize(networks_.size());
  if (is_gated()) {
    std::iota(this->index_.begin(), this->index_.end(), 0);
    this->tables_.resize(this->index_.size());
    factors_.resize(this->index_.size());
  }
  for (std::size_t i = 0; i < this->tables_.size(); ++i)
    c_bar_.emplace_back(std::int64_t{layout.n_intervals} * layout.order * this->stride_, Real(0));
}

template <class Real>
std::vector<double> TrainableEmbedding<Real>::factor(int centre, int group, const Real* parameters) const {
  if (group == this->n_types_) return std::vector<double>(this->n_channels_, 1.0);
  const Real* gate = parameters + gate_places_[centre * this->n_types_ + group];
  std::vector<double> f(gate, gate + this->n_channels_);
  for (double& value : f) value += smooth_ ? 0 : 1;
  return f;
}

template <class Real>
void TrainableEmbedding<Real>::set_gated_tables(const Real* parameters) {
  std::vector<double> scaled(coefficients_.size());
  for (int centre = 0, i = 0; centre < this->n_types_; ++centre)
    for (int group = 0; group < this->n_groups_; ++group, ++i) {
      factors_[i] = factor(centre, group, parameters);
      for (std::size_t k = 0; k < scaled.size(); ++k)
        scaled[k] = factors_[i][k % this->n_channels_] * coefficients_[k];
      this->set_table(i, scaled.data());
    }
}

template <class Real>
std::vector<double> TrainableEmbedding<Real>::intervals() const {
  const auto& layout = this->layout_;
  return {static_cast<double>(layout.order),       layout.width, layout.lower,
          static_cast<double>(layout.n_intervals), layout.error, layout.slope_error};
}

template <class Real>
void TrainableEmbedding<Real>::refresh(const Real* parameters) {
  unresolved_ = 0;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    networks_[i].refresh(parameters);
    networks_[i].forward({nodes_[i].data(), 1}, nodes_[i].size(), networks::Keep::gradient, tapes_[i]);
    auto c = samples_.coefficients(tapes_[i].layers.back().y.data(), networks_[i].stride(),
                                   this->layout_.n_intervals, this->n_channels_, unresolved_);
    if (is_gated())
      coefficients_ = std::move(c);
    else
      this->set_table(static_cast<int>(i), c.data());
  }
  if (is_gated()) set_gated_tables(parameters);
  for (std::size_t pair = 0; pair < empty_node_.size(); ++pair) {
    const int network = network_of_[pair];
    const double* g = tapes_[network].layers.back().y.data() +
                      std::int64_t{empty_node_[pair]} * networks_[network].stride();
    auto& value = this->empty_.value[pair];
    for (int q = 0; q < this->n_channels_; ++q) value[q] = static_cast<Real>(g[q]);
  }
}

/// Copy an atom's occupied intervals from the scratch to the record.
template <class Real>
void TrainableEmbedding<Real>::keep(int b, AlignedVector<Real>& moments, Record& record) const {
  const int intervals = this->layout_.n_intervals, size = 4 * this->layout_.order;
  const auto& scratch = record.scratch;
  for (int t = 0; t < this->n_groups_; ++t)
    for (int i = 0; i < scratch.count[t]; ++i) {
      const std::size_t at = (std::int64_t{t} * intervals + scratch.occupied[t * intervals + i]) * size;
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
  record.count.resize(std::int64_t{batch.n_atoms} * this->n_groups_);
  for (int b = 0; b < batch.n_atoms; ++b) {
    if (smooth_)
      this->accumulate_gated(batch, b, scratch);
    else
      this->accumulate_moments(batch, b, scratch);
    keep(b, record.moments, record);
    std::copy(scratch.occupied.begin(), scratch.occupied.end(), record.occupied.begin() + b * intervals);
    std::copy_n(scratch.count.begin(), this->n_groups_, record.count.begin() + b * this->n_groups_);
    Real* t = batch.t.data() + std::int64_t{b} * 4 * this->stride_;
    this->contract({0, this->n_groups_}, batch.centre, scratch, t);
    this->add_empty_slots(batch, b, t);
  }
}

/// Set the moments of an atom's occupied intervals to 0.
template <class Real>
void TrainableEmbedding<Real>::clear_moments(Scratch& scratch) const {
  const int intervals = this->layout_.n_intervals, size = 4 * this->layout_.order;
  for (int g = 0; g < this->n_groups_; ++g)
    for (int i = 0; i < scratch.count[g]; ++i)
      std::fill_n(
          scratch.moments.data() + (std::int64_t{g} * intervals + scratch.occupied[g * intervals + i]) * size,
          size, Real(0));
}

/// Mdot_pka = sum_{j in p} x_j^k Rdot_ja + k x_j^(k-1) xdot_j R_ja, xdot = 2/width Rdot_0; with smooth gates
/// that is of all neighbours, and a type's has w_j times that and wdot_j x_j^k R_ja, wdot = w'(s) Rdot_0.
template <class Real>
template <bool smooth>
void TrainableEmbedding<Real>::accumulate_tangent(const Batch<Real>& batch, int b, const Real* row_dot,
                                                  Scratch& scratch) const {
  constexpr int lanes = moment_lanes<Real>;
  const int intervals = this->layout_.n_intervals, size = 4 * this->layout_.order, n_packs = size / lanes;
  const Real dx_ds = 2 / this->layout_.width;
  const Real* const rows = this->columns(batch, scratch);
  clear_moments(scratch);
  const std::size_t of_group = std::int64_t{intervals} * size;
  for (int t = 0; t < this->n_types_; ++t) {
    Real* const moments = scratch.moments.data() + (smooth ? this->n_types_ : t) * of_group;
    Real* gated = scratch.moments.data() + t * of_group;
    for (int r = batch.first[b * this->n_types_ + t]; r < batch.first[b * this->n_types_ + t + 1]; ++r) {
      const Real* dot = row_dot + 4 * std::int64_t{r};
      const Real x_dot = dx_ds * dot[0];
      const MomentPowers<Real> power(scratch.local[r]);
      const MomentPack<Real> columns = columns_of<Real>(rows + 4 * std::int64_t{r}),
                             columns_dot =
                                 this->empty_.is_radial ? MomentPack<Real>{} : columns_of<Real>(dot);
      const Real next_dot = x_dot * power.next_slope();
      MomentPack<Real> term = power.weight * columns;
      MomentPack<Real> term_dot = power.weight * columns_dot + power.weight_slope() * x_dot * columns;
      const std::size_t at = std::int64_t{scratch.interval[r]} * size;
      Real *m = moments + at, *of_type = gated + at;
      for (int i = 0; i < n_packs; ++i, m += lanes, of_type += lanes) {
        store<Real, lanes>(m, load<Real, lanes>(m) + term_dot);
        if constexpr (smooth)
          store<Real, lanes>(of_type, load<Real, lanes>(of_type) + batch.gate[r] * term_dot +
                                          (batch.gate_slope[r] * dot[0]) * term);
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
    std::copy_n(record.count.begin() + b * this->n_groups_, this->n_groups_, scratch.count.begin());
    if (smooth_)
      accumulate_tangent<true>(batch, b, row_dot, scratch);
    else
      accumulate_tangent<false>(batch, b, row_dot, scratch);
    keep(b, record.tangent, record);
    this->contract({0, this->n_groups_}, batch.centre, scratch, t_dot + std::int64_t{b} * 4 * this->stride_);
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
      right[a][q] = load<Real>(t + std::int64_t{a} * stride + q * w);
      right_dot[a][q] = load<Real>(s + std::int64_t{a} * stride + q * w);
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
  const std::size_t t_size = 4 * std::int64_t{stride}, lists = record.scratch.occupied.size();
  const int groups = this->n_groups_;
  for (int b = 0; b < batch.n_atoms; ++b)
    for (int t = 0; t < groups; ++t) {
      const Real *bar = t_bar + b * t_size, *dot_bar = t_dot_bar + b * t_size;
      auto& c_bar = c_bar_[this->index_[batch.centre * groups + t]];
      for (int i = 0; i < record.count[b * groups + t]; ++i) {
        const int p = record.occupied[b * lists + t * intervals + i];
        const std::size_t at = b * atom_size() + (std::int64_t{t} * intervals + p) * 4 * order;
        const Real *m = record.moments.data() + at, *d = record.tangent.data() + at;
        if (i + 1 < record.count[b * groups + t]) {  // moments of the interval that comes next
          const int ahead = (record.occupied[b * lists + t * intervals + i + 1] - p) * 4 * order;
          for (int k = 0; k < 4 * order; k += 64 / static_cast<int>(sizeof(Real))) {
            __builtin_prefetch(m + ahead + k);
            __builtin_prefetch(d + ahead + k);
          }
        }
        Real* c = c_bar.data() + std::int64_t{p} * order * stride;
        for (int q = 0; q < stride; q += 2 * w) {
          if (q + w < stride)
            outer_products<Real, 2>(m, d, order, bar + q, dot_bar + q, stride, c + q);
          else
            outer_products<Real, 1>(m, d, order, bar + q, dot_bar + q, stride, c + q);
        }
      }
      if (t == this->n_types_) continue;
      const int pair = batch.centre * this->n_types_ + t;
      const Real n_empty = batch.empty[b * this->n_types_ + t];
      for (int a = 0; a < 4; ++a) {
        const Real factor = n_empty * this->empty_.row[batch.centre][a];
        for (int q = 0; factor != 0 && q < stride; ++q) empty_bar_[pair][q] += factor * bar[a * stride + q];
      }
    }
}

template <class Real>
void TrainableEmbedding<Real>::backward(Batch<Real>& batch, int b, Scratch& scratch) const {
  if (!smooth_) return SpectralEmbedding<Real>::backward(batch, b, scratch);
  const int n = this->n_types_;
  for (int t = 0; t < n; ++t) this->relist(batch.first[b * n + t], batch.first[b * n + t + 1], t, scratch);
  this->relist(batch.first_row(b), batch.first_row(b + 1), n, scratch);
  this->contract_back({0, this->n_groups_}, batch.centre, batch.dt.data(), scratch);
  this->differentiate({batch.first_row(b), batch.first_row(b + 1)}, n, batch, scratch);
  this->add_gated_gradient(batch, b, scratch);
}

/// c_bar of a network, [intervals, order, n_channels]; that of gates goes to the gradient.
template <class Real>
std::vector<double> TrainableEmbedding<Real>::gathered(int network, Real* gradient) const {
  const int m = this->n_channels_, rows = this->layout_.n_intervals * this->layout_.order;
  std::vector<double> sum(std::int64_t{rows} * m, 0.0), f_bar(m);
  for (std::size_t i = 0; i < c_bar_.size(); ++i) {
    if (!is_gated() && static_cast<int>(i) != network) continue;
    std::fill(f_bar.begin(), f_bar.end(), 0.0);
    for (int row = 0; row < rows; ++row)
      for (int q = 0; q < m; ++q) {
        const std::size_t at = std::int64_t{row} * m + q;
        const double bar = c_bar_[i][std::int64_t{row} * this->stride_ + q];
        sum[at] += is_gated() ? factors_[i][q] * bar : bar;
        if (is_gated()) f_bar[q] += coefficients_[at] * bar;
      }
    const int centre = static_cast<int>(i) / this->n_groups_, group = static_cast<int>(i) % this->n_groups_;
    if (!is_gated() || group == this->n_types_) continue;
    Real* gate_bar = gradient + gate_places_[centre * this->n_types_ + group];
    for (int q = 0; q < m; ++q) gate_bar[q] += static_cast<Real>(this->empty_.inverse_slots * f_bar[q]);
  }
  return sum;
}

template <class Real>
void TrainableEmbedding<Real>::collect(Real* gradient) {
  const int m = this->n_channels_;
  const double factor = this->empty_.inverse_slots;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    const int stride = networks_[i].stride();
    auto& bar = tapes_[i].layers.back().y_bar;
    std::fill(bar.begin(), bar.end(), 0.0);
    samples_.add_back(gathered(i, gradient).data(), factor, this->layout_.n_intervals, m, stride, bar.data());
    for (std::size_t pair = 0; pair < empty_node_.size(); ++pair) {
      if (network_of_[pair] != static_cast<int>(i)) continue;
      double* to = bar.data() + std::int64_t{empty_node_[pair]} * stride;
      for (int q = 0; q < m; ++q) to[q] = factor * empty_bar_[pair][q];
      std::fill(empty_bar_[pair].begin(), empty_bar_[pair].end(), Real(0));
    }
    networks_[i].gradient({nodes_[i].data(), 1}, tapes_[i], gradient);
  }
  for (auto& c_bar : c_bar_) std::fill(c_bar.begin(), c_bar.end(), Real(0));
}

template class TrainableEmbedding<float>;
template class TrainableEmbedding<double>;

}  // namespace quintet::potential
