#include "surrogates/networks/graph_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/kernels/gemm.hpp"

namespace quintet::networks {

namespace {

constexpr int w = pack_width<double>;
constexpr int rows_at_once = 256;  // their numbers stay in the second-level cache

/// Layouts in which a rank has whole rows of H.
std::vector<SpmmLayout> layouts_with_whole_rows(SpmmKind kind, int n_ranks) {
  QUINTET_CHECK(
      kind != SpmmKind::two_d && kind != SpmmKind::three_d,
      "a graph network's rows are multiplied by weights, so that each has to be whole on a rank: expected "
      "auto, 1d, sparse_1d or 1.5d, not {}",
      kind == SpmmKind::two_d ? "2d" : "3d");
  auto layouts = layouts_of(kind, n_ranks);
  std::erase_if(layouts, [](const SpmmLayout& layout) { return layout.columns > 1; });
  return layouts;
}

/// Rows [n, columns] from rows of `stride` numbers, which are lost where they are of whole packs; and back,
/// padded with 0.
void narrow(AlignedVector<double>& from, int stride, int columns, AlignedVector<double>& to) {
  if (stride == columns) return std::swap(from, to);
  const std::size_t n = from.size() / stride;
  to.resize(n * columns);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(from.data() + i * stride, columns, to.data() + i * columns);
}
void widen(const AlignedVector<double>& from, int columns, int stride, AlignedVector<double>& to) {
  const std::size_t n = from.size() / columns;
  to.assign(n * stride, 0.0);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(from.data() + i * columns, columns, to.data() + i * stride);
}

/// to += from.
void add_rows(const AlignedVector<double>& from, AlignedVector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

/// C [n, b.stride()] = A [n, b.k()] B, rows of A `lda` apart.
void product_of(const AlignedVector<double>& a, int lda, int n, const PackedMatrix<double>& b,
                AlignedVector<double>& c) {
  c.resize(std::int64_t{n} * b.stride());
  if (n > 0) multiply<double>(a.data(), lda, n, b, c.data(), b.stride());
}

}  // namespace

GraphChain::GraphChain(const Comm& comm, const SparseRows& a, std::vector<GraphBlock> blocks, SpmmKind kind,
                       const MessageCosts& costs)
    : comm_(comm) {
  QUINTET_ASSERT(!blocks.empty(), "a graph network has blocks");
  int widest = 1;
  for (auto& block : blocks) {
    GraphLayer layer;
    layer.spec = std::move(block.layer);
    const LayerSpec& spec = layer.spec;
    const bool skip_fits = spec.skip.empty() || (spec.skip == spec.input && spec.n_in == spec.n_out);
    if (!skip_fits || spec.place.has_timestep || spec.n_in < 1 || spec.n_out < 1)
      throw InternalError(fmt::format(
          "graph network: layer {} has a skip past others, a time step or no numbers", spec.name));
    if (!layers_.empty() &&
        (layers_.back().spec.n_out != spec.n_in || layers_.back().spec.name != spec.input))
      throw InternalError(
          fmt::format("graph network: layer {} takes {} numbers of {}, the one before it is {} of {}",
                      spec.name, spec.n_in, spec.input, layers_.back().spec.name, layers_.back().spec.n_out));
    layer.n_in = spec.n_in;
    layer.stride = padded(spec.n_out, w);
    layer.bias.assign(layer.stride, 0.0);
    layer.on_graph = block.on_graph;
    layer.gathers_first = spec.n_in <= spec.n_out;
    if (layer.on_graph) widest = std::max(widest, std::min(spec.n_in, spec.n_out));
    layers_.push_back(std::move(layer));
  }
  const SpmmChoice choice = choose_layout(comm, a, widest, layouts_with_whole_rows(kind, comm.size()), costs);
  reason_ = choice.reason;
  product_ = std::make_unique<SparseProduct>(comm, a, choice.layout);
  transposed_ = transpose(comm, a);
  if (equal(comm, a, transposed_.rows)) {
    transposed_ = {};
    return;
  }
  back_ = std::make_unique<SparseProduct>(comm, transposed_.rows, choice.layout);
}

void GraphChain::refresh(const double* parameters) {
  for (auto& layer : layers_) {
    const LayerSpec& spec = layer.spec;
    layer.weight.assign(parameters + spec.place.weight, spec.n_in, spec.n_out);
    layer.transposed.assign(parameters + spec.place.weight, spec.n_out, spec.n_in, true);
    std::copy_n(parameters + spec.place.bias, spec.n_out, layer.bias.begin());
  }
}

const AlignedVector<double>& GraphChain::forward(const AlignedVector<double>& x, GraphTape& tape) {
  const int n = part().n_rows();
  QUINTET_CHECK(x.size() == static_cast<std::size_t>(n) * n_in(),
                "{} numbers for {} nodes with {} features: expected as many as their product", x.size(), n,
                n_in());
  tape.layers.resize(layers_.size());
  const AlignedVector<double>* h = &x;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const GraphLayer& layer = layers_[l];
    auto& t = tape.layers[l];
    const int n_out = layer.spec.n_out;
    const AlignedVector<double>& before = *h;
    if (layer.on_graph && layer.gathers_first) {
      (*product_)(*h, t.gathered, layer.n_in);
      h = &t.gathered;
    }
    const bool gathers_last = layer.on_graph && !layer.gathers_first;
    if (gathers_last) {
      product_of(*h, layer.n_in, n, layer.weight, tape.padded);
      narrow(tape.padded, layer.stride, n_out, t.gathered);
      (*product_)(t.gathered, tape.product, n_out);
      widen(tape.product, n_out, layer.stride, tape.padded);
    }
    tape.padded.resize(std::int64_t{n} * layer.stride);
    t.slope.resize(tape.padded.size());
    const bool skips_here = layer.has_skip() && layer.stride == n_out;  // without a sweep of its own
    for (int first = 0; first < n; first += rows_at_once) {
      const int rows = std::min(rows_at_once, n - first);
      double* const z = tape.padded.data() + std::int64_t{first} * layer.stride;
      double* const slopes = t.slope.data() + std::int64_t{first} * layer.stride;
      if (!gathers_last)
        multiply<double>(h->data() + std::int64_t{first} * layer.n_in, layer.n_in, rows, layer.weight, z,
                         layer.stride);
      const double* const skip = skips_here ? before.data() + std::int64_t{first} * layer.stride : nullptr;
      layer.activate<false>(z, 0, rows,
                            [&](std::size_t at, int, Pack<double> phi, Pack<double> slope, Pack<double>) {
                              store<double>(z + at, skip ? phi + load<double>(skip + at) : phi);
                              store<double>(slopes + at, slope);
                            });
    }
    narrow(tape.padded, layer.stride, n_out, t.y);
    if (layer.has_skip() && !skips_here) add_rows(before, t.y);
    h = &t.y;
  }
  return tape.layers.back().y;
}

void GraphChain::gradient(const AlignedVector<double>& x, const AlignedVector<double>& y_bar, GraphTape& tape,
                          double* gradient, AlignedVector<double>* x_bar) {
  const int n = part().n_rows();
  QUINTET_CHECK(y_bar.size() == tape.layers.back().y.size(),
                "{} numbers of a gradient for {} nodes with {} outputs: expected as many as their product",
                y_bar.size(), n, n_out());
  std::vector<double> sums;  // of all layers, W and b, from the last layer on
  tape.bar = y_bar;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const GraphLayer& layer = layers_[l];
    auto& t = tape.layers[l];
    const AlignedVector<double>& h = l == 0 ? x : tape.layers[l - 1].y;
    const int n_in = layer.n_in, n_out = layer.spec.n_out, stride = layer.stride;
    const bool is_first = l == 0;

    tape.padded.resize(std::int64_t{n} * stride);
    std::vector<double> bias(n_out, 0.0);
    const auto take_slopes = [&](int first, int last) {
      for (int i = first; i < last; ++i) {
        const double* const bar = tape.bar.data() + std::int64_t{i} * n_out;
        const double* const slope = t.slope.data() + std::int64_t{i} * stride;
        double* const z_bar = tape.padded.data() + std::int64_t{i} * stride;
        for (int o = 0; o < n_out; ++o) {
          z_bar[o] = bar[o] * slope[o];
          bias[o] += z_bar[o];
        }
        std::fill(z_bar + n_out, z_bar + stride, 0.0);
      }
    };
    const bool gathers_last = layer.on_graph && !layer.gathers_first, goes_on = !is_first || x_bar != nullptr;
    if (gathers_last) {
      take_slopes(0, n);
      narrow(tape.padded, stride, n_out, tape.bar);
      back(tape.bar, tape.product, n_out);
      widen(tape.product, n_out, stride, tape.padded);
    }
    const AlignedVector<double>& in = layer.on_graph && layer.gathers_first ? t.gathered : h;
    const int stride_before = layer.transposed.stride();
    tape.weight_bar.assign(std::int64_t{n_in} * stride, 0.0);
    if (goes_on) tape.bar_before.resize(std::int64_t{n} * stride_before);
    for (int first = 0; first < n; first += rows_at_once) {
      const int rows = std::min(rows_at_once, n - first);
      const std::size_t row = first;
      if (!gathers_last) take_slopes(first, first + rows);
      const double* const z_bar = tape.padded.data() + row * stride;
      add_transposed_products<double>({{in.data() + row * n_in, n_in, z_bar, stride}}, rows, n_in, stride,
                                      tape.weight_bar.data(), stride);
      if (goes_on)
        multiply<double>(z_bar, stride, rows, layer.transposed, tape.bar_before.data() + row * stride_before,
                         stride_before);
    }
    for (int i = 0; i < n_in; ++i)
      for (int o = 0; o < n_out; ++o) sums.push_back(tape.weight_bar[std::int64_t{i} * stride + o]);
    sums.insert(sums.end(), bias.begin(), bias.end());

    if (!goes_on) break;
    if (layer.has_skip()) std::swap(tape.bar, tape.bar_skip);
    AlignedVector<double>& to = is_first ? *x_bar : tape.bar;
    if (layer.on_graph && layer.gathers_first) {
      narrow(tape.bar_before, layer.transposed.stride(), n_in, tape.product);
      back(tape.product, to, n_in);
    } else {
      narrow(tape.bar_before, layer.transposed.stride(), n_in, to);
    }
    if (layer.has_skip()) add_rows(tape.bar_skip, to);
  }
  if (!part().counts) std::fill(sums.begin(), sums.end(), 0.0);
  comm_.reduce(std::span<double>(sums), Comm::Reduction::sum);
  const double* from = sums.data();
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const LayerSpec& spec = layers_[l].spec;
    const auto take = [&](std::size_t place, std::size_t size) {
      for (std::size_t i = 0; i < size; ++i) gradient[place + i] += from[i];
      from += size;
    };
    take(spec.place.weight, std::int64_t{spec.n_in} * spec.n_out);
    take(spec.place.bias, spec.n_out);
  }
}

ChainDescription GraphChain::describe() const {
  ChainDescription description;
  description.input = layers_.front().spec.input;
  description.n_in = n_in();
  for (const auto& layer : layers_) {
    auto block = describe_layer(layer.spec, layer.n_in, sizeof(double), w, Keep::adjoint);
    if (layer.on_graph) {
      block.kind = "graph " + block.kind;
      block.kept_bytes += sizeof(double) * std::min(layer.n_in, layer.spec.n_out);
    }
    description.blocks.push_back(std::move(block));
  }
  return description;
}

OwnedRows graph_convolution_matrix(const Comm& comm, const SparseRows& a) {
  const RowShares& shares = a.shares;
  QUINTET_CHECK(shares.n_units() == shares.n_rows(),
                "a graph of {} nodes in {} blocks: expected single nodes", shares.n_rows(), shares.n_units());
  const int first = shares.rank_begin[comm.rank()];
  OwnedRows result;
  SparseRows& rows = result.rows;
  rows.shares = shares;
  std::vector<double> sums;
  for (int r = 0; r < std::ssize(a.row_begin) - 1; ++r) {
    const int i = first + r;
    bool has_loop = false;
    double sum = 0;
    const auto add = [&](int k, double value) {
      rows.column.push_back(k);
      result.value.push_back(value);
      sum += value;
      has_loop = has_loop || k == i;
    };
    for (auto p = a.row_begin[r]; p < a.row_begin[r + 1]; ++p) {
      const std::size_t at = p;
      if (a.column[at] > i && !has_loop) add(i, 1);
      add(a.column[at], a.value[a.offset.empty() ? p : a.offset[at]]);
    }
    if (!has_loop) add(i, 1);
    rows.row_begin.push_back(rows.column.size());
    sums.push_back(sum > 0 ? 1 / std::sqrt(sum) : 0.0);
  }
  const auto factor = comm.all_gather(std::span<const double>(sums));
  for (int r = 0; r < std::ssize(rows.row_begin) - 1; ++r)
    for (auto p = rows.row_begin[r]; p < rows.row_begin[r + 1]; ++p) {
      const std::size_t at = p;
      result.value[at] *= factor[first + r] * factor[rows.column[at]];
    }
  rows.value = result.value.data();
  return result;
}

}  // namespace quintet::networks
