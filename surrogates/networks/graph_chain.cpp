#include "surrogates/networks/graph_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/kernels/gemm.hpp"

namespace quintet::networks {

namespace {

constexpr int rows_at_once = 256;  // their numbers stay in the second-level cache

/// Rows [n, columns] from rows of `stride` numbers, which are lost where they are of whole packs; and back,
/// padded with 0. Memory for wider rows stays where it is. A rank that has no column has empty rows.
template <class Real>
void narrow(AlignedVector<Real>& from, int stride, int columns, AlignedVector<Real>& to) {
  if (stride == columns && from.capacity() == from.size()) return std::swap(from, to);
  const std::size_t n = stride > 0 ? from.size() / stride : 0;
  to.resize(n * columns);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(from.data() + i * stride, columns, to.data() + i * columns);
}
template <class Real>
void widen(const AlignedVector<Real>& from, int columns, int stride, AlignedVector<Real>& to) {
  const std::size_t n = columns > 0 ? from.size() / columns : 0;
  to.assign(n * stride, Real(0));
  for (std::size_t i = 0; i < n; ++i) std::copy_n(from.data() + i * columns, columns, to.data() + i * stride);
}

/// to += from.
template <class Real>
void add_rows(const AlignedVector<Real>& from, AlignedVector<Real>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

/// Whether gradients of weights go to their sums in float64 after each block of rows, or once in the end.
template <class Real>
constexpr bool sums_blocks = sizeof(Real) < sizeof(double);

/// sums [k, width] += weight_bar [k, stride], its first n columns, which becomes 0.
template <class Real>
void take_weight_bar(AlignedVector<Real>& weight_bar, int stride, int n, double* sums, int width) {
  const std::size_t k = stride > 0 ? weight_bar.size() / stride : 0;
  for (std::size_t i = 0; i < k; ++i)
    for (int o = 0; o < n; ++o) sums[i * width + o] += weight_bar[i * stride + o];
  std::fill(weight_bar.begin(), weight_bar.end(), Real(0));
}

/// B = rows and columns of W [?, width] that parts have, or its transpose.
template <class Real>
void assign(PackedMatrix<Real>& b, const double* w, int width, const PanelPart& rows, int n_rows,
            const PanelPart& columns, bool transposed) {
  const int first_row = rows.first_column(n_rows), last_row = rows.last_column(n_rows);
  const int first = columns.first_column(width), n = columns.n_columns(width);
  if (first_row == last_row || n == 0) return;
  std::vector<Real> block;
  block.reserve(std::int64_t{last_row - first_row} * n);
  for (int i = first_row; i < last_row; ++i) {
    const double* const from = w + std::int64_t{i} * width + first;
    block.insert(block.end(), from, from + n);
  }
  if (transposed)
    b.assign(block.data(), n, last_row - first_row, true);
  else
    b.assign(block.data(), last_row - first_row, n);
}

}  // namespace

template <class Real>
GraphChain<Real>::GraphChain(const Comm& comm, const SparseRows& a, std::vector<GraphBlock> blocks,
                             SpmmKind kind, const MessageCosts& costs) {
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
    layer.on_graph = block.on_graph;
    layer.gathers_first = spec.n_in <= spec.n_out;
    if (layer.on_graph) widest = std::max(widest, std::min(spec.n_in, spec.n_out));
    layers_.push_back(std::move(layer));
  }
  const MessageCosts of_numbers = of_words(costs, sizeof(Real));
  const SpmmChoice choice = choose_layout(comm, a, widest, layouts_of(kind, comm.size()), of_numbers, true);
  reason_ = choice.reason;
  product_ = std::make_unique<SparseProduct<Real>>(comm, a, choice.layout);
  parts_ = std::make_unique<RowParts<Real>>(comm, choice.layout, part());
  for (auto& layer : layers_) {
    layer.n_in = part().n_columns(layer.spec.n_in), layer.n_out = part().n_columns(layer.spec.n_out);
    layer.stride = padded(layer.n_out, pack_width<Real>);
    layer.bias.assign(layer.stride, Real(0));
    layer.weights.resize(part().groups), layer.transposes.resize(part().groups);
  }
  transposed_ = transpose(comm, a);
  if (equal(comm, a, transposed_.rows)) {
    transposed_ = {};
    return;
  }
  back_ = std::make_unique<SparseProduct<Real>>(comm, transposed_.rows, choice.layout);
}

template <class Real>
void GraphChain<Real>::refresh(const double* parameters) {
  for (auto& layer : layers_) {
    const LayerSpec& spec = layer.spec;
    const double* const weight = parameters + spec.place.weight;
    for (int j = 0; j < part().groups; ++j) {
      assign(layer.weights[j], weight, spec.n_out, part().beside(j), spec.n_in, part(), false);
      assign(layer.transposes[j], weight, spec.n_out, part(), spec.n_in, part().beside(j), true);
    }
    std::copy_n(parameters + spec.place.bias + part().first_column(spec.n_out), layer.n_out,
                layer.bias.begin());
  }
}

template <class Real>
void GraphChain<Real>::gather(SparseProduct<Real>& product, const AlignedVector<Real>& from,
                              AlignedVector<Real>& to, int f) {
  product(from, to, f);
  received_ += product.received();
}

/// tape.padded [rows, stride] = H W, this rank's columns of it.
template <class Real>
void GraphChain<Real>::times_weights(const GraphLayer& layer, const AlignedVector<Real>& h, Tape& tape) {
  const int n = part().n_rows(), n_in = layer.spec.n_in;
  const std::int64_t stride = layer.stride;
  tape.padded.resize(n * stride);
  bool begun = false;
  parts_->visit(h, n_in, [&](int group, const Real* rows) {
    const std::int64_t k = part().beside(group).n_columns(n_in);
    for (int first = 0; first < n && stride > 0; first += rows_at_once) {
      const int some = std::min(rows_at_once, n - first);
      Real* const to = tape.padded.data() + first * stride;
      if (begun) tape.some_rows.resize(some * stride);
      multiply<Real>(rows + first * k, layer.weights[group].k(), some, layer.weights[group],
                     begun ? tape.some_rows.data() : to, layer.stride);
      for (std::int64_t i = 0; begun && i < some * stride; ++i) to[i] += tape.some_rows[i];
    }
    begun = true;
  });
  received_ += parts_->received();
}

/// H' = phi(z + b) + skip, and phi'; z is tape.padded, or the product of `in` with W where that is given,
/// block by block while its rows are at hand.
template <class Real>
void GraphChain<Real>::activate(const GraphLayer& layer, const AlignedVector<Real>& before,
                                const AlignedVector<Real>* in, Tape& tape, LayerTape& to) {
  const int n = part().n_rows(), stride = layer.stride;
  tape.padded.resize(std::int64_t{n} * stride);
  to.slope.resize(tape.padded.size());
  const bool skips_here = layer.has_skip() && stride == layer.n_out;  // without a sweep of its own
  for (int first = 0; first < n; first += rows_at_once) {
    const int rows = std::min(rows_at_once, n - first);
    Real* const z = tape.padded.data() + std::int64_t{first} * stride;
    Real* const slopes = to.slope.data() + std::int64_t{first} * stride;
    if (in != nullptr)
      multiply<Real>(in->data() + std::int64_t{first} * layer.n_in, layer.n_in, rows, layer.weights.front(),
                     z, stride);
    const Real* const skip = skips_here ? before.data() + std::int64_t{first} * stride : nullptr;
    layer.template activate<false>(z, 0, rows,
                                   [&](std::size_t at, int, Pack<Real> phi, Pack<Real> slope, Pack<Real>) {
                                     store<Real>(z + at, skip ? phi + load<Real>(skip + at) : phi);
                                     store<Real>(slopes + at, slope);
                                   });
  }
  narrow(tape.padded, stride, layer.n_out, to.y);
  if (layer.has_skip() && !skips_here) add_rows(before, to.y);
}

template <class Real>
const AlignedVector<Real>& GraphChain<Real>::forward(const AlignedVector<Real>& x, Tape& tape) {
  const int n = part().n_rows(), columns = part().n_columns(n_in());
  QUINTET_CHECK(x.size() == static_cast<std::size_t>(n) * columns,
                "{} numbers for {} nodes with {} features: expected as many as their product", x.size(), n,
                columns);
  tape.layers.resize(layers_.size());
  received_ = {};
  const AlignedVector<Real>* h = &x;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const GraphLayer& layer = layers_[l];
    auto& t = tape.layers[l];
    const AlignedVector<Real>& before = *h;
    if (layer.on_graph && layer.gathers_first) {
      gather(*product_, *h, t.gathered, layer.spec.n_in);
      h = &t.gathered;
    }
    const bool in_blocks = !layer.gathers_last() && !parts_->are_cut();
    if (!in_blocks) times_weights(layer, *h, tape);
    if (layer.gathers_last()) {
      narrow(tape.padded, layer.stride, layer.n_out, t.gathered);
      gather(*product_, t.gathered, tape.product, layer.spec.n_out);
      widen(tape.product, layer.n_out, layer.stride, tape.padded);
    }
    activate(layer, before, in_blocks ? h : nullptr, tape, t);
    h = &t.y;
  }
  return tape.layers.back().y;
}

/// tape.padded [rows, stride] = Z_bar = H'_bar phi' of some rows; b_bar += its sum.
template <class Real>
void GraphChain<Real>::take_slopes(const GraphLayer& layer, const LayerTape& t, Tape& tape, int first,
                                   int last, double* bias) const {
  const int n_out = layer.n_out, stride = layer.stride;
  for (int i = first; i < last; ++i) {
    const Real* const bar = tape.bar.data() + std::int64_t{i} * n_out;
    const Real* const slope = t.slope.data() + std::int64_t{i} * stride;
    Real* const z_bar = tape.padded.data() + std::int64_t{i} * stride;
    for (int o = 0; o < n_out; ++o) {
      z_bar[o] = bar[o] * slope[o];
      bias[o] += z_bar[o];
    }
    std::fill(z_bar + n_out, z_bar + stride, Real(0));
  }
}

/// W_bar = in^T Z_bar and, where the way goes on, bar_before = Z_bar W^T, of rows that are whole.
template <class Real>
void GraphChain<Real>::whole_gradients(const GraphLayer& layer, const LayerTape& t,
                                       const AlignedVector<Real>& in, Tape& tape, bool goes_on,
                                       double* sums) {
  const int n = part().n_rows(), n_in = layer.n_in, n_out = layer.n_out, stride = layer.stride;
  const auto& transposed = layer.transposes.front();
  tape.weight_bar.assign(std::int64_t{n_in} * stride, Real(0));
  if (goes_on) tape.bar_before.resize(std::int64_t{n} * transposed.stride());
  for (int first = 0; first < n; first += rows_at_once) {
    const int rows = std::min(rows_at_once, n - first);
    const std::size_t row = first;
    if (!layer.gathers_last())
      take_slopes(layer, t, tape, first, first + rows, sums + std::int64_t{n_in} * n_out);
    const Real* const z_bar = tape.padded.data() + row * stride;
    add_transposed_products<Real>({{in.data() + row * n_in, n_in, z_bar, stride}}, rows, n_in, stride,
                                  tape.weight_bar.data(), stride);
    if (sums_blocks<Real>) take_weight_bar(tape.weight_bar, stride, n_out, sums, n_out);
    if (goes_on)
      multiply<Real>(z_bar, stride, rows, transposed, tape.bar_before.data() + row * transposed.stride(),
                     transposed.stride());
  }
  if (!sums_blocks<Real>) take_weight_bar(tape.weight_bar, stride, n_out, sums, n_out);
}

/// The same of rows of which others have parts: tape.product [rows, n_out] is this rank's part of Z_bar. Each
/// part gives columns of W_bar, in this rank's rows of W, and a term of bar_before.
template <class Real>
void GraphChain<Real>::cut_gradients(const GraphLayer& layer, const AlignedVector<Real>& in, Tape& tape,
                                     bool goes_on, double* sums) {
  const int n = part().n_rows(), n_in = layer.n_in, width = layer.spec.n_out;
  const std::int64_t before = padded(n_in, pack_width<Real>), first_in = part().first_column(layer.spec.n_in);
  if (goes_on) tape.bar_before.resize(n * before);
  bool begun = false;
  parts_->visit(tape.product, width, [&](int group, const Real* z_bar) {
    const PanelPart theirs = part().beside(group);
    const int k = theirs.n_columns(width), stride = padded(k, pack_width<Real>);
    tape.weight_bar.assign(std::int64_t{n_in} * stride, Real(0));
    tape.some_rows.assign(std::int64_t{std::min(rows_at_once, n)} * stride, Real(0));
    if (begun) tape.padded.resize(std::min(rows_at_once, n) * before);
    double* const to_sums = sums + first_in * width + theirs.first_column(width);
    for (int first = 0; first < n && n_in > 0; first += rows_at_once) {
      const int rows = std::min(rows_at_once, n - first);
      for (int i = 0; i < rows; ++i)
        std::copy_n(z_bar + std::int64_t{first + i} * k, k, tape.some_rows.data() + std::int64_t{i} * stride);
      add_transposed_products<Real>(
          {{in.data() + std::int64_t{first} * n_in, n_in, tape.some_rows.data(), stride}}, rows, n_in, stride,
          tape.weight_bar.data(), stride);
      if (sums_blocks<Real>) take_weight_bar(tape.weight_bar, stride, k, to_sums, width);
      if (!goes_on) continue;
      Real* const to = tape.bar_before.data() + first * before;
      multiply<Real>(tape.some_rows.data(), stride, rows, layer.transposes[group],
                     begun ? tape.padded.data() : to, static_cast<int>(before));
      for (std::int64_t i = 0; begun && i < rows * before; ++i) to[i] += tape.padded[i];
    }
    if (!sums_blocks<Real>) take_weight_bar(tape.weight_bar, stride, k, to_sums, width);
    begun = true;
  });
  received_ += parts_->received();
}

template <class Real>
void GraphChain<Real>::gradient(const AlignedVector<Real>& x, const AlignedVector<Real>& y_bar, Tape& tape,
                                double* gradient, AlignedVector<Real>* x_bar) {
  const int n = part().n_rows();
  QUINTET_CHECK(y_bar.size() == tape.layers.back().y.size(),
                "{} numbers of a gradient for {} nodes with {} outputs: expected as many as their product",
                y_bar.size(), n, part().n_columns(n_out()));
  std::vector<double> all;  // of all layers, W and b, from the last layer on; others' columns are 0
  tape.bar = y_bar;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const GraphLayer& layer = layers_[l];
    const LayerSpec& spec = layer.spec;
    auto& t = tape.layers[l];
    const AlignedVector<Real>& h = l == 0 ? x : tape.layers[l - 1].y;
    const std::size_t n_weights = std::int64_t{spec.n_in} * spec.n_out, at = all.size();
    all.resize(at + n_weights + spec.n_out, 0.0);
    double* const sums = all.data() + at;
    double* const bias = sums + n_weights + part().first_column(spec.n_out);
    const bool is_first = l == 0, goes_on = !is_first || x_bar != nullptr;

    tape.padded.resize(std::int64_t{n} * layer.stride);
    if (layer.gathers_last() || parts_->are_cut()) take_slopes(layer, t, tape, 0, n, bias);
    if (layer.gathers_last()) {
      narrow(tape.padded, layer.stride, layer.n_out, tape.bar);
      back(tape.bar, tape.product, spec.n_out);
    }
    const AlignedVector<Real>& in = layer.on_graph && layer.gathers_first ? t.gathered : h;
    if (parts_->are_cut()) {
      if (!layer.gathers_last()) narrow(tape.padded, layer.stride, layer.n_out, tape.product);
      cut_gradients(layer, in, tape, goes_on, sums);
    } else {
      if (layer.gathers_last()) widen(tape.product, layer.n_out, layer.stride, tape.padded);
      whole_gradients(layer, t, in, tape, goes_on, sums);
    }

    if (!goes_on) break;
    if (layer.has_skip()) std::swap(tape.bar, tape.bar_skip);
    AlignedVector<Real>& to = is_first ? *x_bar : tape.bar;
    const int stride_before = padded(layer.n_in, pack_width<Real>);
    if (layer.on_graph && layer.gathers_first) {
      narrow(tape.bar_before, stride_before, layer.n_in, tape.product);
      back(tape.product, to, spec.n_in);
    } else {
      narrow(tape.bar_before, stride_before, layer.n_in, to);
    }
    if (layer.has_skip()) add_rows(tape.bar_skip, to);
  }
  if (part().counts) add_to_places(all, gradient);
}

/// gradient += sums, which begin with the last layer's.
template <class Real>
void GraphChain<Real>::add_to_places(const std::vector<double>& sums, double* gradient) const {
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

template <class Real>
std::size_t GraphTape<Real>::bytes() const {
  std::size_t numbers = padded.capacity() + product.capacity() + bar.capacity() + bar_before.capacity() +
                        bar_skip.capacity() + weight_bar.capacity() + some_rows.capacity();
  for (const auto& layer : layers)
    numbers += layer.gathered.capacity() + layer.y.capacity() + layer.slope.capacity();
  return numbers * sizeof(Real);
}

template <class Real>
std::size_t GraphChain<Real>::bytes() const {
  std::size_t sum = product_->bytes() + (back_ ? back_->bytes() : 0) + parts_->bytes();
  for (const auto& layer : layers_)
    for (int j = 0; j < part().groups; ++j)
      sum += layer.weights[j].memory().size_bytes() + layer.transposes[j].memory().size_bytes();
  return sum;
}

template <class Real>
ChainDescription GraphChain<Real>::describe() const {
  ChainDescription description;
  description.input = layers_.front().spec.input;
  description.n_in = n_in();
  for (const auto& layer : layers_) {
    auto block = describe_layer(layer.spec, layer.spec.n_in, sizeof(Real), pack_width<Real>, Keep::adjoint);
    if (layer.on_graph) {
      block.kind = "graph " + block.kind;
      block.kept_bytes += sizeof(Real) * std::min(layer.spec.n_in, layer.spec.n_out);
    }
    description.blocks.push_back(std::move(block));
  }
  return description;
}

template struct GraphTape<float>;
template struct GraphTape<double>;
template class GraphChain<float>;
template class GraphChain<double>;

}  // namespace quintet::networks
