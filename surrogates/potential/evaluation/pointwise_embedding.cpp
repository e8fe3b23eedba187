#include "surrogates/potential/evaluation/pointwise_embedding.hpp"

#include <algorithm>

namespace quintet::potential {

template <class Real>
PointwiseEmbedding<Real>::PointwiseEmbedding(const Model& model, bool use_tables)
    : empty_(model),
      n_types_(model.n_types()),
      n_channels_(model.n_channels()),
      stride_(padded(model.n_channels(), pack_width<Real>)) {
  for (int centre = 0; centre < n_types_; ++centre)
    for (int t = 0; t < n_types_; ++t) index_.push_back(model.network_index(centre, t));
  if (use_tables) {
    tables_ = model.tables;
    return;
  }
  for (const auto& network : model.embedding) {
    std::vector<Layer> layers;
    for (const auto& dense : network.layers) {
      Layer layer{PackedMatrix<Real>(dense.weight.data(), dense.n_in, dense.n_out),
                  {},
                  {},
                  dense.activation,
                  dense.skip,
                  dense.n_in};
      layer.bias.assign(layer.weight.stride(), Real(0));
      layer.timestep.assign(layer.weight.stride(), Real(0));
      std::copy(dense.bias.begin(), dense.bias.end(), layer.bias.begin());
      std::copy(dense.timestep.begin(), dense.timestep.end(), layer.timestep.begin());
      layers.push_back(std::move(layer));
    }
    networks_.push_back(std::move(layers));
  }
}

template <class Real>
std::string PointwiseEmbedding<Real>::description() const {
  return tables_.empty() ? "embedding networks evaluated for every neighbour" : "the file's quintic tables";
}

/// Values and tangents of rows begin .. end into scratch.value and scratch.slope.
template <class Real>
void PointwiseEmbedding<Real>::run_network(const std::vector<Layer>& layers, const Batch<Real>& batch,
                                           int begin, int end, Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  const int n = end - begin;
  auto* x = &scratch.layers[0];
  auto* y = &scratch.layers[1];
  x->resize(std::max<std::size_t>(x->size(), 2 * static_cast<std::size_t>(n)));
  for (int r = 0; r < n; ++r) {
    (*x)[r] = batch.row[4 * static_cast<std::size_t>(begin + r)];
    (*x)[n + r] = 1;
  }
  int width = 1;
  for (const auto& layer : layers) {
    const int stride = layer.weight.stride();
    y->resize(std::max<std::size_t>(y->size(), 2 * static_cast<std::size_t>(n) * stride + w));
    multiply(x->data(), width, 2 * n, layer.weight, y->data(), stride);
    for (int r = 0; r < n; ++r) {
      Real* value = y->data() + static_cast<std::size_t>(r) * stride;
      Real* slope = y->data() + static_cast<std::size_t>(n + r) * stride;
      with_activation(layer.activation, [&]<Activation A>() {
        for (int o = 0; o < stride; o += w) {
          Pack<Real> phi, dphi;
          activate<A, Real, w>(load<Real>(value + o) + load<Real>(layer.bias.data() + o), phi, dphi);
          const Pack<Real> idt = load<Real>(layer.timestep.data() + o);
          store<Real>(value + o, phi * idt);
          store<Real>(slope + o, dphi * idt * load<Real>(slope + o));
        }
      });
      if (layer.skip != DenseLayer::Skip::none)
        for (int o = 0; o < layer.weight.n(); ++o) {
          const int from = o < layer.n_in ? o : o - layer.n_in;
          value[o] += (*x)[static_cast<std::size_t>(r) * width + from];
          slope[o] += (*x)[static_cast<std::size_t>(n + r) * width + from];
        }
    }
    width = stride;
    std::swap(x, y);
  }
  std::copy_n(x->data(), static_cast<std::size_t>(n) * stride_,
              scratch.value.data() + static_cast<std::size_t>(begin) * stride_);
  std::copy_n(x->data() + static_cast<std::size_t>(n) * stride_, static_cast<std::size_t>(n) * stride_,
              scratch.slope.data() + static_cast<std::size_t>(begin) * stride_);
}

template <class Real>
void PointwiseEmbedding<Real>::evaluate(int network, const Batch<Real>& batch, int begin, int end,
                                        Scratch& scratch) const {
  if (tables_.empty()) return run_network(networks_[network], batch, begin, end, scratch);
  std::vector<double> g(n_channels_), dg(n_channels_);
  for (int r = begin; r < end; ++r) {
    tables_[network].evaluate(batch.row[4 * static_cast<std::size_t>(r)], g.data(), dg.data());
    std::copy(g.begin(), g.end(), scratch.value.begin() + static_cast<std::ptrdiff_t>(r) * stride_);
    std::copy(dg.begin(), dg.end(), scratch.slope.begin() + static_cast<std::ptrdiff_t>(r) * stride_);
  }
}

template <class Real>
void PointwiseEmbedding<Real>::forward(Batch<Real>& batch, Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  scratch.value.resize(batch.neighbour.size() * stride_);
  scratch.slope.resize(batch.neighbour.size() * stride_);
  for (int b = 0; b < batch.n_atoms; ++b)
    for (int t = 0; t < n_types_; ++t) {
      const int begin = batch.first[b * n_types_ + t], end = batch.first[b * n_types_ + t + 1];
      if (begin < end) evaluate(index_[batch.centre * n_types_ + t], batch, begin, end, scratch);
    }
  for (int b = 0; b < batch.n_atoms; ++b) {
    Real* t_of_b = batch.t.data() + static_cast<std::size_t>(b) * 4 * stride_;
    for (int m = 0; m < stride_; m += w) {
      Pack<Real> sum[4] = {};
      for (int r = batch.first[b * n_types_]; r < batch.first[(b + 1) * n_types_]; ++r) {
        const Pack<Real> g = load<Real>(scratch.value.data() + static_cast<std::size_t>(r) * stride_ + m);
        for (int a = 0; a < 4; ++a) sum[a] += batch.row[4 * static_cast<std::size_t>(r) + a] * g;
      }
      for (int t = 0; t < n_types_; ++t) {
        const Pack<Real> g = load<Real>(empty_.value[batch.centre * n_types_ + t].data() + m);
        const auto n_empty = static_cast<Real>(batch.empty[b * n_types_ + t]);
        for (int a = 0; a < 4; ++a) sum[a] += n_empty * empty_.row[batch.centre][a] * g;
      }
      for (int a = 0; a < 4; ++a)
        store<Real>(t_of_b + static_cast<std::size_t>(a) * stride_ + m, sum[a] * empty_.inverse_slots);
    }
  }
}

template <class Real>
void PointwiseEmbedding<Real>::backward(Batch<Real>& batch, int b, Scratch& scratch) const {
  constexpr int w = pack_width<Real>;
  const Real* dt = batch.dt.data();
  for (int r = batch.first[b * n_types_]; r < batch.first[(b + 1) * n_types_]; ++r) {
    const Real* row = batch.row.data() + 4 * static_cast<std::size_t>(r);
    Pack<Real> sum[4] = {}, through_s{};
    for (int m = 0; m < stride_; m += w) {
      const Pack<Real> g = load<Real>(scratch.value.data() + static_cast<std::size_t>(r) * stride_ + m);
      const Pack<Real> dg = load<Real>(scratch.slope.data() + static_cast<std::size_t>(r) * stride_ + m);
      Pack<Real> projected{};
      for (int a = 0; a < 4; ++a) {
        const Pack<Real> d = load<Real>(dt + static_cast<std::size_t>(a) * stride_ + m);
        sum[a] += d * g;
        projected += row[a] * d;
      }
      through_s += projected * dg;
    }
    Real* gradient = batch.gradient.data() + 4 * static_cast<std::size_t>(r);
    for (int a = 0; a < 4; ++a) gradient[a] = horizontal_sum<Real>(sum[a]) * empty_.inverse_slots;
    gradient[0] += horizontal_sum<Real>(through_s) * empty_.inverse_slots;
  }
}

template class PointwiseEmbedding<float>;
template class PointwiseEmbedding<double>;

}  // namespace quintet::potential
