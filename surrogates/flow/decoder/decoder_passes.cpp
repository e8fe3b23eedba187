#include <algorithm>
#include <memory>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include "io/log/error.hpp"
#include "io/tiers/page_arena.hpp"
#include "physics/kernels/execution.hpp"
#include "surrogates/flow/decoder/decoder_layer.hpp"
#include "surrogates/flow/decoder/jet_activation.hpp"
#include "surrogates/flow/decoder/jet_plan.hpp"
#include "surrogates/flow/decoder/row_scatter.hpp"

/// Forward and backward pass. Points of a sample, sorted by cell, are cut into tasks, which threads share; a
/// task's rows run through all layers in blocks that fit the second-level cache.
namespace quintet::flow {

namespace {

constexpr int task_points = 512;  ///< products of nodes are formed once a task
constexpr int block_rows = 256;   ///< of all channels: they and their products fit the second-level cache

/// Numbers that are written before they are read; many of them among torch's large tensors.
template <class Real>
class Scratch {
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
struct Task {
  int sample, first, n_points;
};

std::vector<Task> make_tasks(const DecoderQueries& queries) {
  std::vector<Task> tasks;
  for (int sample = 0; sample < queries.n_samples; ++sample)
    for (int first = 0; first < queries.n_points; first += task_points)
      tasks.push_back({sample, first, std::min(task_points, queries.n_points - first)});
  return tasks;
}

int n_nodes(const NodeGrid& grid) { return grid[0].size() * grid[1].size() * grid[2].size(); }

}  // namespace

template <class Real>
struct DecoderTape<Real>::State {
  bool made_again = false;
  JetPlan plan;
  std::vector<std::vector<int>> order;  ///< [sample][point]
  std::vector<Task> tasks;
  std::vector<Scratch<Real>> a;  ///< [task] pre-activations, block after block, layer after layer
};

template <class Real>
DecoderTape<Real>::DecoderTape(bool made_again) : state(std::make_unique<State>()) {
  state->made_again = made_again;
}
template <class Real>
DecoderTape<Real>::~DecoderTape() = default;
template <class Real>
DecoderTape<Real>::DecoderTape(DecoderTape&&) noexcept = default;
template <class Real>
std::size_t DecoderTape<Real>::bytes() const {
  std::size_t n = 0;
  for (const auto& a : state->a) n += a.size() * sizeof(Real);
  return n;
}

namespace {

/// One thread's way through its tasks.
template <class Real>
class Pass {
 public:
  using Layers = std::vector<DecoderLayer<Real>>;
  Pass(const DecoderOptions& options, const Layers& layers, const Real* latents,
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
  }

  /// @param a room for the pre-activations of the task, or null
  void forward(const Task& task, Real* jets, Real* a) {
    touch(task);
    for (std::size_t l = 0; l < layers_.size(); ++l) form_products(l);
    for_blocks(task, [&](const int* points, int n_points) {
      rows_.prepare(plan_, queries_, options_.blend, task.sample, points, n_points);
      place_nodes();
      a = advance(a, layers_.size());
      Real* h = h_.get(room());
      if (options_.adds_known_fields) add_known_fields(h);
      blend(task.sample, points, n_points, h, jets);
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
  void backward(const Task& task, const Real* jets_bar, const Real* a, std::vector<int>& touched,
                std::vector<Real>& latents_bar) {
    touch(task);
    for (std::size_t l = 0; l < (a != nullptr ? 1 : layers_.size()); ++l) form_products(l);
    start_nodes();
    for_blocks(task, [&](const int* points, int n_points) {
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
  Real* advance(Real* a, std::size_t n_layers) {
    const bool keeps = a != nullptr;
    Real* h = h_.get(room());
    for (std::size_t l = 0; l < n_layers; ++l) {
      const auto& layer = layers_[l];
      const bool keep = keeps && l > 0 && l + 1 < layers_.size();
      Real* z = l == 0 ? nullptr : keep ? a : z_.get(room());
      if (l > 0) multiply_hidden(l, h, z);
      activate_forward(layer, plan_, rows_, arrays(l, z, h), keeps);
      if (keep) a += kept(layer);
    }
    return a;
  }
  [[nodiscard]] std::size_t room() const {
    return std::int64_t{plan_.n_channels()} * block_points_ * n_corners * widest_;
  }

  template <class Body>
  void for_blocks(const Task& task, Body&& body) {
    const int* points = order_[task.sample].data() + task.first;
    for (int first = 0; first < task.n_points; first += block_points_)
      body(points + first, std::min(block_points_, task.n_points - first));
  }

  /// The nodes that the task's points are seen from, and their latents one after the other.
  void touch(const Task& task) {
    const int n_latent = options_.n_latent;
    for_blocks(task, [&](const int* points, int n_points) {
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
  std::vector<Scratch<Real>> products_;  ///< [layer]
  std::vector<int> local_, touched_;     ///< of the task: place of each node, or -1; nodes
  int block_points_;
  Scratch<Real> latents_of_nodes_, h_, z_, bar_, again_;
  AlignedVector<Real> jet_;
  std::vector<LayerGradient<Real>> gradient_;
  std::vector<AlignedVector<Real>> nodes_bar_;  ///< [layer]
  std::vector<Real> known_bar_;                 ///< [touched node][field] gradients of known fields
};

/// Call body(thread, task) for all tasks; a thread's come one after the other.
template <class Body>
void for_tasks(int n_threads, std::size_t n_tasks, const Body& body) {
  Kokkos::parallel_for("decoder", Kokkos::RangePolicy<Exec>(0, n_threads), [&](int thread) {
    const std::size_t first = n_tasks * thread / n_threads, last = n_tasks * (thread + 1) / n_threads;
    for (std::size_t task = first; task < last; ++task) body(thread, task);
  });
  Exec().fence();
}
/// Pre-activations of the hidden layers after the first, of so many points.
template <class Real>
std::size_t kept_numbers(const std::vector<DecoderLayer<Real>>& layers, const JetPlan& plan,
                         std::size_t n_points) {
  std::size_t row = 0;
  for (std::size_t l = 1; l + 1 < layers.size(); ++l) row += static_cast<std::size_t>(layers[l].stride);
  return row * plan.n_channels() * n_corners * n_points;
}
int n_threads_for(std::size_t n_tasks) { return std::max(1, std::min<int>(Exec().concurrency(), n_tasks)); }

}  // namespace

template <class Real>
void Decoder<Real>::forward(const Real* latents, const DecoderQueries& queries, Real* jets,
                            Tape* tape) const {
  JetPlan plan = make_plan(queries);
  check_queries(queries, plan, state_->options.activation);
  if (queries.bf16 && (tape != nullptr || !state_->has_bf16))
    throw InternalError(
        "a decoder is asked for products in bfloat16 that it has no weights or no way back for");
  std::vector<std::vector<int>> order(queries.n_samples);
  for (int sample = 0; sample < queries.n_samples; ++sample) order[sample] = order_by_cell(queries, sample);
  const auto tasks = make_tasks(queries);
  const bool keeps = tape != nullptr && !tape->state->made_again;
  if (tape != nullptr) tape->state->a.resize(tasks.size());
  for (std::size_t i = 0; keeps && i < tasks.size(); ++i)
    tape->state->a[i].get(kept_numbers(state_->layers, plan, tasks[i].n_points));
  const int n_threads = n_threads_for(tasks.size());
  std::vector<Pass<Real>> passes;
  for (int thread = 0; thread < n_threads; ++thread)
    passes.emplace_back(state_->options, state_->layers, latents, queries, plan, order);
  for_tasks(n_threads, tasks.size(), [&](int thread, std::size_t task) {
    if (queries.interrupt && queries.interrupt()) return;
    passes[thread].forward(tasks[task], jets, keeps ? tape->state->a[task].get(0) : nullptr);
  });
  give_up_if_asked(queries.interrupt);
  if (tape == nullptr) return;
  tape->state->plan = std::move(plan);
  tape->state->order = std::move(order);
  tape->state->tasks = tasks;
}

template <class Real>
std::size_t Decoder<Real>::tape_bytes(const DecoderQueries& queries) const {
  const std::size_t n_points = std::int64_t{queries.n_samples} * queries.n_points;
  return sizeof(Real) * kept_numbers(state_->layers, make_plan(queries), n_points);
}

template <class Real>
void Decoder<Real>::backward(const Real* latents, const DecoderQueries& queries, const Tape& tape,
                             const Real* jets_bar, Real* gradient, Real* latents_bar) const {
  const auto& kept = *tape.state;
  if (kept.order.size() != static_cast<std::size_t>(queries.n_samples))
    throw InternalError("a decoder's backward pass without its forward pass");
  const int n_threads = n_threads_for(kept.tasks.size());
  std::vector<Pass<Real>> passes;
  for (int thread = 0; thread < n_threads; ++thread) {
    passes.emplace_back(state_->options, state_->layers, latents, queries, kept.plan, kept.order);
    passes.back().start_gradient();
  }
  std::vector<std::vector<int>> touched(kept.tasks.size());
  std::vector<std::vector<Real>> bars(kept.tasks.size());
  for_tasks(n_threads, kept.tasks.size(), [&](int thread, std::size_t task) {
    passes[thread].backward(kept.tasks[task], jets_bar, kept.a[task].data(), touched[task], bars[task]);
  });
  for (const auto& pass : passes) pass.add_gradient(gradient);
  if (latents_bar == nullptr) return;
  const std::int64_t nodes = n_nodes(queries.grids.front());
  std::vector<RowPiece<Real>> pieces;
  for (std::size_t task = 0; task < kept.tasks.size(); ++task)
    pieces.push_back({kept.tasks[task].sample * nodes, touched[task], bars[task].data()});
  add_rows<Real>(pieces, state_->options.n_latent, latents_bar);
}

template class DecoderTape<float>;
template class DecoderTape<double>;
template void Decoder<float>::forward(const float*, const DecoderQueries&, float*, Tape*) const;
template void Decoder<double>::forward(const double*, const DecoderQueries&, double*, Tape*) const;
template std::size_t Decoder<float>::tape_bytes(const DecoderQueries&) const;
template std::size_t Decoder<double>::tape_bytes(const DecoderQueries&) const;
template void Decoder<float>::backward(const float*, const DecoderQueries&, const Tape&, const float*, float*,
                                       float*) const;
template void Decoder<double>::backward(const double*, const DecoderQueries&, const Tape&, const double*,
                                        double*, double*) const;

}  // namespace quintet::flow
