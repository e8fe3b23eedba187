#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/tiers/page_arena.hpp"
#include "surrogates/flow/decoder/decoder_layer.hpp"
#include "surrogates/flow/decoder/jet_activation.hpp"
#include "surrogates/flow/decoder/jet_plan.hpp"
#include "surrogates/flow/decoder/place_series.hpp"

/// A thread's way through points: a task's rows run through all layers in blocks that fit the second-level
/// cache. For decoder_passes.cpp.
namespace quintet::flow {

/// Points of a task: products of nodes are formed once for it.
inline constexpr int task_points = 512;
/// Rows of a block, of all channels: they and their products fit the second-level cache.
inline constexpr int block_rows = 256;

/// Numbers that are written before they are read; many of them among torch's large tensors.
template <class Real>
class DecoderScratch {
 public:
  Real* get(std::size_t n) {
    if (n > size_) {
      data_.reset();
      size_ = 0;
      void* const pages = n * sizeof(Real) >= PageArena::least_block
                              ? PageArena::of_process().allocate(n * sizeof(Real))
                              : nullptr;
      data_.reset(pages ? static_cast<Real*>(pages) : AlignedAllocator<Real>().allocate(n));
      size_ = n;
    }
    return data_.get();
  }
  [[nodiscard]] const Real* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(Real* p) const {
      if (PageArena::of_process().owns(p)) return PageArena::of_process().deallocate(p);
      AlignedAllocator<Real>().deallocate(p, 0);
    }
  };
  std::unique_ptr<Real, Free> data_;
  std::size_t size_ = 0;
};

/// Some points of a sample.
struct DecoderTask {
  int sample, first, n_points;
};

inline int n_nodes(const NodeGrid& grid) { return grid[0].size() * grid[1].size() * grid[2].size(); }

/// One thread's way through its tasks.
template <class Real>
class DecoderPass {
 public:
  using Layers = std::vector<DecoderLayer<Real>>;
  DecoderPass(const DecoderOptions& options, const Layers& layers, const Real* latents,
              const DecoderQueries& queries, const JetPlan& plan, const std::vector<std::vector<int>>& order)
      : options_(options),
        layers_(layers),
        latents_(latents),
        queries_(queries),
        plan_(plan),
        order_(order),
        products_(layers.size()),
        local_(n_nodes(queries.grids.front()), -1),
        block_points_(std::max(1, block_rows / (n_corners * plan.n_channels()))) {
    for (const auto& layer : layers_) widest_ = std::max(widest_, layer.stride);
    if constexpr (std::is_same_v<Real, float>)
      if (queries.bf16) series_.emplace(layers[0], layers[1], plan);
  }

  /// @param a room for the pre-activations of the task, or null
  void forward(const DecoderTask& task, Real* jets, Real* a) {
    touch(task);
    for (std::size_t l = 0; l < layers_.size(); ++l) form_products(l);
    for_runs(task, [&](const int* run, int n_run, bool by_series) {
      for_blocks(run, n_run, [&](const int* points, int n_points) {
        rows_.prepare(plan_, queries_, options_.blend, task.sample, points, n_points);
        place_nodes();
        if (by_series) multiply_by_series(points == run);
        a = advance(a, layers_.size(), by_series);
        Real* h = h_.get(room());
        if (options_.adds_known_fields) add_known_fields(h);
        blend(task.sample, points, n_points, h, jets);
      });
    });
    untouch();
  }

  void start_gradient() {
    gradient_.resize(layers_.size());
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const std::size_t stride = layers_[l].stride;
      gradient_[l].hidden.assign(layers_[l].n_hidden * stride, Real(0));
      gradient_[l].coordinates.assign(n_axes * stride, Real(0));
      gradient_[l].latent.assign(layers_[l].reads_input ? options_.n_latent * stride : 0, Real(0));
      gradient_[l].bias.assign(stride, Real(0));
    }
    nodes_bar_.resize(layers_.size());
  }

  /// Gradients of the parameters are added up in this pass; those of the latents of `touched` nodes are
  /// returned.
  /// @param a the pre-activations of the task; null: they are made again
  void backward(const DecoderTask& task, const Real* jets_bar, const Real* a, std::vector<int>& touched,
                std::vector<Real>& latents_bar) {
    touch(task);
    for (std::size_t l = 0; l < (a != nullptr ? 1 : layers_.size()); ++l) form_products(l);
    start_nodes();
    for_blocks(points_of(task), task.n_points, [&](const int* points, int n_points) {
      rows_.prepare(plan_, queries_, options_.blend, task.sample, points, n_points);
      place_nodes();
      const Real* end = nullptr;
      if (a != nullptr)
        end = a += kept_of_block();
      else
        end = advance(again_.get(kept_of_block()), layers_.size() - 1);
      Real *h = h_.get(room()), *bar = z_.get(room()), *next = bar_.get(room());
      unblend(task.sample, points, n_points, jets_bar, bar);
      if (options_.adds_known_fields) add_known_fields_backward(bar);
      for (std::size_t l = layers_.size() - 1; l-- > 0;) {
        const auto &layer = layers_[l], &after = layers_[l + 1];
        const Real* z = l == 0 ? nullptr : end -= kept(layer);
        multiply<Real>(bar, after.stride, stacked(), after.hidden_transposed, next, layer.stride);
        activate_backward(layer, plan_, rows_, arrays(l, const_cast<Real*>(z), h), next,
                          gradient_[l].coordinates.data(), node_bar(l));
        add_transposed_products<Real>({{h, layer.stride, bar, after.stride}}, stacked(), after.n_hidden,
                                      after.stride, gradient_[l + 1].hidden.data(), after.stride);
        std::swap(bar, next);
      }
    });
    finish_nodes(latents_bar);
    touched = touched_;
    untouch();
  }

  /// Add the gradient of the parameters that this pass has gathered.
  void add_gradient(Real* gradient) const {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto& layer = layers_[l];
      Real* to = gradient + layer.weight;
      const auto add = [&](const AlignedVector<Real>& rows, int n) {
        for (int i = 0; i < n; ++i, to += layer.n_out)
          for (int o = 0; o < layer.n_out; ++o) to[o] += rows[std::int64_t{i} * layer.stride + o];
      };
      add(gradient_[l].hidden, layer.n_hidden);
      if (layer.reads_input) {
        add(gradient_[l].coordinates, n_axes);
        add(gradient_[l].latent, options_.n_latent);
      }
      add(gradient_[l].bias, 1);
    }
  }

 private:
  [[nodiscard]] int stacked() const { return plan_.n_channels() * rows_.n_rows; }
  [[nodiscard]] std::size_t kept(const DecoderLayer<Real>& layer) const {
    return std::int64_t{stacked()} * layer.stride;
  }
  /// Pre-activations that the backward pass of the block reads.
  [[nodiscard]] std::size_t kept_of_block() const {
    std::size_t n = 0;
    for (std::size_t l = 1; l + 1 < layers_.size(); ++l) n += kept(layers_[l]);
    return n;
  }
  /// The block's rows through the first layers. @param a room for what is kept, or null @return its end
  /// @param by_series the second layer's product stands in z_, so that the first layer is passed over
  Real* advance(Real* a, std::size_t n_layers, bool by_series = false) {
    const bool keeps = a != nullptr;
    Real* h = h_.get(room());
    for (std::size_t l = by_series ? 1 : 0; l < n_layers; ++l) {
      const auto& layer = layers_[l];
      const bool keep = keeps && l > 0 && l + 1 < layers_.size();
      Real* z = l == 0 ? nullptr : keep ? a : z_.get(room());
      if (l > (by_series ? 1 : 0)) multiply_hidden(l, h, z);
      activate_forward(layer, plan_, rows_, arrays(l, z, h), keeps);
      if (keep) a += kept(layer);
    }
    return a;
  }
  [[nodiscard]] std::size_t room() const {
    return std::int64_t{plan_.n_channels()} * block_points_ * n_corners * widest_;
  }

  [[nodiscard]] const int* points_of(const DecoderTask& task) const {
    return order_[task.sample].data() + task.first;
  }
  template <class Body>
  void for_blocks(const int* points, int n_points, Body&& body) {
    for (int first = 0; first < n_points; first += block_points_)
      body(points + first, std::min(block_points_, n_points - first));
  }
  /// Call body(points, n_points, by_series) for pieces of a task: cells whose points are many enough for a
  /// series, which is then chosen, and all between them.
  template <class Body>
  void for_runs(const DecoderTask& task, Body&& body) {
    const int* points = points_of(task);
    int first = 0;
    for (int begin = 0, end = 0; series_ && begin < task.n_points; begin = end) {
      places_.clear();
      std::array<int, n_axes> here{};
      for (end = begin; end < task.n_points; ++end) {
        const auto cell = locate(queries_.grid(task.sample), queries_.point(task.sample, points[end]));
        const std::array own{cell[0].node[0], cell[1].node[0], cell[2].node[0]};
        if (end == begin) here = own;
        if (own != here) break;
        places_.push_back({cell[0].r, cell[1].r, cell[2].r});
      }
      if (!series_->choose(PlaceBox::around(places_), end - begin)) continue;
      if (first < begin) body(points + first, begin - first, false);
      body(points + begin, end - begin, true);
      first = end;
    }
    if (first < task.n_points) body(points + first, task.n_points - first, false);
  }
  /// The second layer's product of a block, into z_; of its first one in a cell after the cell's
  /// coefficients.
  void multiply_by_series(bool is_first) {
    if constexpr (std::is_same_v<Real, float>) {
      std::array<const float*, n_corners> nodes;
      for (int corner = 0; corner < n_corners; ++corner)
        nodes[corner] = products_[0].data() + std::ptrdiff_t{rows_.local[corner]} * layers_[0].stride;
      if (is_first) series_->form(nodes);
      series_->multiply(rows_, z_.get(room()));
    }
  }

  /// The nodes that the task's points are seen from, and their latents one after the other.
  void touch(const DecoderTask& task) {
    const int n_latent = options_.n_latent;
    for_blocks(points_of(task), task.n_points, [&](const int* points, int n_points) {
      visit_nodes(queries_, task.sample, points, n_points, [&](int node) {
        if (local_[node] >= 0) return;
        local_[node] = touched_.size();
        touched_.push_back(node);
      });
    });
    Real* to = latents_of_nodes_.get(touched_.size() * n_latent);
    const Real* from = latents_ + std::int64_t{task.sample} * static_cast<int>(local_.size()) * n_latent;
    for (const int node : touched_) to = std::copy_n(from + std::int64_t{node} * n_latent, n_latent, to);
  }
  void untouch() {
    for (const int node : touched_) local_[node] = -1;
    touched_.clear();
  }
  void place_nodes() {
    for (int row = 0; row < rows_.n_rows; ++row) rows_.local[row] = local_[rows_.node[row]];
  }

  /// W_q q + c of the touched nodes.
  void form_products(std::size_t l) {
    const auto& layer = layers_[l];
    if (!layer.reads_input) return;
    const int n = touched_.size(), stride = layer.stride;
    Real* product = products_[l].get(std::int64_t{n} * stride);
    multiply<Real>(latents_of_nodes_.data(), options_.n_latent, n, layer.latent, product, stride);
    for (int i = 0; i < n; ++i)
      for (int o = 0; o < stride; ++o) product[std::int64_t{i} * stride + o] += layer.bias_row[o];
  }
  [[nodiscard]] LayerArrays<Real> arrays(std::size_t l, Real* a, Real* h) const {
    const auto& layer = layers_[l];
    if (layer.reads_input) return {products_[l].data(), layer.stride, a, h};
    return {layer.bias_row.data(), 0, a, h};
  }
  /// W_h h of all channels, on the way forward.
  void multiply_hidden(std::size_t l, const Real* h, Real* product) const {
    const auto& layer = layers_[l];
    const int stride = layers_[l - 1].stride;
    if constexpr (std::is_same_v<Real, float>)
      if (queries_.bf16) return multiply_bf16(h, stride, stacked(), layer.hidden_bf16, product, layer.stride);
    multiply<Real>(h, stride, stacked(), layer.hidden, product, layer.stride);
  }

  /// Known fields of each row's node, to the value alone: they are constant about a node.
  void add_known_fields(Real* g) const {
    const int n_fields = options_.n_fields, stride = layers_.back().stride;
    const Real* known = latents_of_nodes_.data() + options_.n_latent - n_fields;
    for (int row = 0; row < rows_.n_rows; ++row)
      for (int f = 0; f < n_fields; ++f)
        g[std::ptrdiff_t{row} * stride + f] +=
            known[std::ptrdiff_t{rows_.local[row]} * options_.n_latent + f];
  }
  void add_known_fields_backward(const Real* g_bar) {
    const int n_fields = options_.n_fields, stride = layers_.back().stride;
    for (int row = 0; row < rows_.n_rows; ++row)
      for (int f = 0; f < n_fields; ++f)
        known_bar_[std::int64_t{rows_.local[row]} * n_fields + f] += g_bar[std::ptrdiff_t{row} * stride + f];
  }

  /// Gradients of the nodes' products; a layer that reads no input has its bias alone.
  [[nodiscard]] Real* node_bar(std::size_t l) {
    return layers_[l].reads_input ? nodes_bar_[l].data() : gradient_[l].bias.data();
  }
  void start_nodes() {
    for (std::size_t l = 0; l < layers_.size(); ++l)
      if (layers_[l].reads_input) nodes_bar_[l].assign(touched_.size() * layers_[l].stride, Real(0));
    known_bar_.assign(options_.adds_known_fields ? touched_.size() * options_.n_fields : 0, Real(0));
  }
  /// From the gradients of the nodes' products to those of W_q, the biases and the latents.
  void finish_nodes(std::vector<Real>& latents_bar) {
    const int n = touched_.size(), n_latent = options_.n_latent;
    latents_bar.assign(std::int64_t{n} * n_latent, Real(0));
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto& layer = layers_[l];
      if (!layer.reads_input) continue;
      const Real* bar = nodes_bar_[l].data();
      auto& gradient = gradient_[l];
      add_transposed_products<Real>({{latents_of_nodes_.data(), n_latent, bar, layer.stride}}, n, n_latent,
                                    layer.stride, gradient.latent.data(), layer.stride);
      for (int i = 0; i < n; ++i)
        for (int o = 0; o < layer.stride; ++o) gradient.bias[o] += bar[std::int64_t{i} * layer.stride + o];
      const int stride = layer.latent_transposed.stride();
      Real* product = z_.get(std::int64_t{n} * stride);
      multiply<Real>(bar, layer.stride, n, layer.latent_transposed, product, stride);
      for (int i = 0; i < n; ++i)
        for (int q = 0; q < n_latent; ++q)
          latents_bar[std::int64_t{i} * n_latent + q] += product[std::int64_t{i} * stride + q];
    }
    const int n_fields = options_.n_fields;
    for (std::size_t i = 0; i < known_bar_.size(); ++i)
      latents_bar[(i / n_fields + 1) * n_latent - n_fields + i % n_fields] += known_bar_[i];
  }

  /// jets = sum over a point's rows and channels of mix g.
  void blend(int sample, const int* points, int n_points, const Real* g, Real* jets) const {
    constexpr int w = pack_width<Real>;
    const int stride = layers_.back().stride, n_fields = options_.n_fields, channels = plan_.n_channels(),
              outputs = plan_.n_outputs();
    for (int p = 0; p < n_points; ++p) {
      Real* to = jets + (std::int64_t{sample} * queries_.n_points + points[p]) * outputs * n_fields;
      for (int k = 0; k < outputs; ++k, to += n_fields)
        for (int o = 0; o < stride; o += w) {
          Pack<Real> sum{};
          for (int row = p * n_corners; row < (p + 1) * n_corners; ++row) {
            const Real* mix = rows_.mix.data() + (std::ptrdiff_t{row} * outputs + k) * channels;
            for (int c = 0; c < channels; ++c)
              sum += mix[c] * load<Real>(g + (std::ptrdiff_t{c} * rows_.n_rows + row) * stride + o);
          }
          Real lanes[w];
          store<Real>(lanes, sum);
          std::copy_n(lanes, std::min(w, n_fields - o), to + o);
        }
    }
  }
  /// The way back, and the gradient of the last bias.
  void unblend(int sample, const int* points, int n_points, const Real* jets_bar, Real* g_bar) {
    constexpr int w = pack_width<Real>;
    const int stride = layers_.back().stride, n_fields = options_.n_fields, channels = plan_.n_channels(),
              outputs = plan_.n_outputs();
    Real* bias = gradient_.back().bias.data();
    jet_.assign(std::int64_t{outputs} * stride, Real(0));
    for (int p = 0; p < n_points; ++p) {
      const Real* from =
          jets_bar + (std::int64_t{sample} * queries_.n_points + points[p]) * outputs * n_fields;
      for (int k = 0; k < outputs; ++k)
        std::copy_n(from + k * n_fields, n_fields, jet_.data() + std::int64_t{k} * stride);
      for (int row = p * n_corners; row < (p + 1) * n_corners; ++row)
        for (int c = 0; c < channels; ++c)
          for (int o = 0; o < stride; o += w) {
            Pack<Real> sum{};
            for (int k = 0; k < outputs; ++k)
              sum += rows_.mix[(std::int64_t{row} * outputs + k) * channels + c] *
                     load<Real>(jet_.data() + std::int64_t{k} * stride + o);
            store<Real>(g_bar + (std::ptrdiff_t{c} * rows_.n_rows + row) * stride + o, sum);
            if (c == 0) store<Real>(bias + o, load<Real>(bias + o) + sum);
          }
    }
  }

  const DecoderOptions& options_;
  const Layers& layers_;
  const Real* latents_;
  const DecoderQueries& queries_;
  const JetPlan& plan_;
  const std::vector<std::vector<int>>& order_;

  int widest_ = 0;
  RowBlock<Real> rows_;
  std::optional<PlaceSeries> series_;  ///< where products may be rounded
  std::vector<std::array<double, n_axes>> places_;
  std::vector<DecoderScratch<Real>> products_;  ///< [layer]
  std::vector<int> local_, touched_;            ///< of the task: place of each node, or -1; nodes
  int block_points_;
  DecoderScratch<Real> latents_of_nodes_, h_, z_, bar_, again_;
  AlignedVector<Real> jet_;
  std::vector<LayerGradient<Real>> gradient_;
  std::vector<AlignedVector<Real>> nodes_bar_;  ///< [layer]
  std::vector<Real> known_bar_;                 ///< [touched node][field] gradients of known fields
};

}  // namespace quintet::flow
