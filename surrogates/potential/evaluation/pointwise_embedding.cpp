#include "surrogates/potential/evaluation/pointwise_embedding.hpp"

#include <algorithm>

#include "surrogates/potential/model/chains.hpp"

namespace quintet::potential {

template <class Real>
PointwiseEmbedding<Real>::PointwiseEmbedding(const DescriptorModel& model, bool use_tables)
    : empty_(model, use_tables),
      n_types_(model.n_types()),
      n_channels_(model.n_channels()),
      stride_(padded(model.n_channels(), pack_width<Real>)),
      smooth_gates_(model.smooth_gates) {
  for (int centre = 0; centre < n_types_; ++centre)
    for (int t = 0; t < n_types_; ++t) {
      index_.push_back(model.network_index(centre, t));
      if (model.gates.empty()) continue;
      const auto& c = model.gates[model.pair_index(centre, t)];
      gates_.insert(gates_.end(), c.begin(), c.end());
      gates_.resize(index_.size() * stride_, Real(0));
    }
  if (use_tables) {
    for (const auto& table : model.tables) tables_.emplace_back(table, stride_);
    return;
  }
  for (const auto& network : model.embedding) networks_.push_back(embedding_chain<Real>(network));
}

template <class Real>
std::string PointwiseEmbedding<Real>::description() const {
  return tables_.empty() ? "embedding networks evaluated for every neighbour" : "the file's quintic tables";
}

/// Values and tangents of rows begin .. end into scratch.value and scratch.slope.
template <class Real>
void PointwiseEmbedding<Real>::run_network(const networks::Chain<Real>& network, const Batch<Real>& batch,
                                           int begin, int end, Scratch& scratch) const {
  const int n = end - begin;
  scratch.input.resize(2 * std::int64_t{n});
  for (int r = 0; r < n; ++r) {
    scratch.input[r] = batch.row[4 * std::int64_t{begin + r}];
    scratch.input[n + r] = 1;
  }
  network.forward_with_tangent({scratch.input.data(), 1}, n, scratch.tape);
  const Real* y = scratch.tape.layers.back().y.data();
  const std::size_t size = std::int64_t{n} * stride_, at = std::int64_t{begin} * stride_;
  std::copy_n(y, size, scratch.value.data() + at);
  std::copy_n(y + size, size, scratch.slope.data() + at);
}

template <class Real>
void PointwiseEmbedding<Real>::look_up(const QuinticRows<Real>& table, const Batch<Real>& batch, int begin,
                                       int end, Scratch& scratch) const {
  Real *g = scratch.value.data(), *dg = scratch.slope.data();
  const std::int64_t first = std::int64_t{begin} * stride_, last = std::int64_t{end} * stride_;
  if (table.empty()) {  // rows R of excluded pairs are 0
    std::fill(g + first, g + last, Real(0));
    std::fill(dg + first, dg + last, Real(0));
    return;
  }
  for (int r = begin; r < end; ++r) {
    const std::int64_t at = std::int64_t{r} * stride_;
    table.evaluate(batch.row[4 * std::int64_t{r}],
                   [&](int m, const Pack<Real>& value, const Pack<Real>& slope) {
                     store<Real>(g + at + m, value);
                     store<Real>(dg + at + m, slope);
                   });
  }
}

template <class Real>
void PointwiseEmbedding<Real>::evaluate(int network, const Batch<Real>& batch, int begin, int end,
                                        Scratch& scratch) const {
  if (tables_.empty()) return run_network(networks_[network], batch, begin, end, scratch);
  look_up(tables_[network], batch, begin, end, scratch);
}

/// Multiply rows begin .. end of G by 1 + c w, and G' accordingly.
template <class Real>
void PointwiseEmbedding<Real>::apply_gates(const Real* gates, const Batch<Real>& batch, int begin, int end,
                                           Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  for (int r = begin; r < end; ++r) {
    const Real gate = smooth_gates_ ? batch.gate[r] : Real(1);
    const Real slope = smooth_gates_ ? batch.gate_slope[r] : Real(0);
    Real* g = scratch.value.data() + std::int64_t{r} * stride_;
    Real* dg = scratch.slope.data() + std::int64_t{r} * stride_;
    for (int m = 0; m < stride_; m += w) {
      const Pack<Real> c = load<Real>(gates + m), value = load<Real>(g + m);
      const Pack<Real> factor = Real(1) + c * gate;
      store<Real>(g + m, value * factor);
      store<Real>(dg + m, load<Real>(dg + m) * factor + value * c * slope);
    }
  }
}

template <class Real>
void PointwiseEmbedding<Real>::evaluate_all(const Batch<Real>& batch, Scratch& scratch) const {
  scratch.value.resize(batch.neighbour.size() * stride_);
  scratch.slope.resize(batch.neighbour.size() * stride_);
  for (int b = 0; b < batch.n_atoms; ++b)
    for (int t = 0; t < n_types_; ++t) {
      const int begin = batch.first[b * n_types_ + t], end = batch.first[b * n_types_ + t + 1];
      if (begin == end) continue;
      const std::size_t pair = std::int64_t{batch.centre} * n_types_ + t;
      evaluate(index_[pair], batch, begin, end, scratch);
      if (!gates_.empty()) apply_gates(gates_.data() + pair * stride_, batch, begin, end, scratch);
    }
}

template <class Real>
void PointwiseEmbedding<Real>::forward(Batch<Real>& batch, Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  evaluate_all(batch, scratch);
  for (int b = 0; b < batch.n_atoms; ++b) {
    Real* t_of_b = batch.t.data() + std::int64_t{b} * 4 * stride_;
    for (int m = 0; m < stride_; m += w) {
      Pack<Real> sum[4] = {};
      for (int r = batch.first[b * n_types_]; r < batch.first[(b + 1) * n_types_]; ++r) {
        const Pack<Real> g = load<Real>(scratch.value.data() + std::int64_t{r} * stride_ + m);
        for (int a = 0; a < 4; ++a) sum[a] += batch.row[4 * std::int64_t{r} + a] * g;
      }
      for (int t = 0; t < n_types_; ++t) {
        const Pack<Real> g = load<Real>(empty_.value[batch.centre * n_types_ + t].data() + m);
        const Real n_empty = batch.empty[b * n_types_ + t];
        for (int a = 0; a < 4; ++a) sum[a] += n_empty * empty_.row[batch.centre][a] * g;
      }
      for (int a = 0; a < 4; ++a)
        store<Real>(t_of_b + std::int64_t{a} * stride_ + m, sum[a] * empty_.inverse_slots);
    }
  }
}

template <class Real>
void PointwiseEmbedding<Real>::backward(Batch<Real>& batch, int b, Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  const Real* dt = batch.dt.data();
  for (int r = batch.first[b * n_types_]; r < batch.first[(b + 1) * n_types_]; ++r) {
    const Real* row = batch.row.data() + 4 * std::int64_t{r};
    Pack<Real> sum[4] = {}, through_s{};
    for (int m = 0; m < stride_; m += w) {
      const Pack<Real> g = load<Real>(scratch.value.data() + std::int64_t{r} * stride_ + m);
      const Pack<Real> dg = load<Real>(scratch.slope.data() + std::int64_t{r} * stride_ + m);
      Pack<Real> projected{};
      for (int a = 0; a < 4; ++a) {
        const Pack<Real> d = load<Real>(dt + std::int64_t{a} * stride_ + m);
        sum[a] += d * g;
        projected += row[a] * d;
      }
      through_s += projected * dg;
    }
    Real* gradient = batch.gradient.data() + 4 * std::int64_t{r};
    for (int a = 0; a < 4; ++a) gradient[a] = horizontal_sum<Real>(sum[a]) * empty_.inverse_slots;
    gradient[0] += horizontal_sum<Real>(through_s) * empty_.inverse_slots;
  }
}

template class PointwiseEmbedding<float>;
template class PointwiseEmbedding<double>;

}  // namespace quintet::potential
