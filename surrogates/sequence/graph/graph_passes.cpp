#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kernels/aligned.hpp"
#include "surrogates/networks/graph_chain.hpp"
#include "surrogates/sequence/graph/graph_network.hpp"
#include "surrogates/sequence/reference/dense_algebra.hpp"

/// Passes of a graph network, and the way from coefficients to nodes and back.
namespace quintet::sequence {

namespace {

constexpr double least_share = 1e-6;  // of what boxes leave of one mode beside another

/// sum_i weight_i P_im P_in, [M, M].
std::vector<double> gram_of(const SeaNodes& nodes, const std::vector<double>& weight) {
  const std::size_t m = nodes.n_modes;
  std::vector<double> gram(m * m, 0.0);
  for (std::size_t i = 0; i < weight.size(); ++i)
    for (std::size_t a = 0; a < m; ++a)
      for (std::size_t b = 0; b < m; ++b)
        gram[a * m + b] += weight[i] * nodes.modes[i * m + a] * nodes.modes[i * m + b];
  return gram;
}

/// sqrt(sum_m scale_m^2 <P_m^2>), means by area.
double size_of(const std::vector<double>& gram, const std::vector<double>& scale, double area) {
  double square = 0;
  for (std::size_t m = 0; m < scale.size(); ++m)
    square += scale[m] * scale[m] * gram[m * scale.size() + m] / area;
  return std::sqrt(square);
}

std::vector<networks::GraphBlock> blocks_of(const Graph& graph) {
  std::vector<networks::GraphBlock> blocks;
  for (std::size_t k = 0; k < graph.operations.size(); ++k) {
    const Operation& operation = graph.operations[k];
    networks::GraphBlock block;
    const bool is_head = k + 1 == graph.operations.size();
    block.on_graph = k > 0 && !is_head;
    auto& layer = block.layer;
    layer.name = operation.name;
    layer.input = k == 0 ? "x" : graph.operations[k - 1].name;
    if (block.on_graph) layer.skip = layer.input;
    layer.n_in = operation.n_in, layer.n_out = operation.n_out;
    layer.activation = is_head ? Activation::linear : Activation::silu;
    layer.place.weight = operation.first;
    layer.place.bias = operation.first + std::int64_t{operation.n_in} * operation.n_out;
    blocks.push_back(std::move(block));
  }
  return blocks;
}

template <class Real>
class PassesIn final : public GraphPasses {
 public:
  PassesIn(const Comm& comm, std::shared_ptr<const GraphNetwork> network, SpmmKind spmm);

  [[nodiscard]] std::size_t n_parameters() const override { return n_parameters_; }
  [[nodiscard]] const std::string& reason() const override { return chain_->reason(); }
  [[nodiscard]] const SpmmLayout& layout() const override { return chain_->layout(); }
  [[nodiscard]] const PanelPart& part() const override { return chain_->part(); }
  [[nodiscard]] const SpmmTraffic& received() const override { return chain_->received(); }
  [[nodiscard]] std::size_t n_edges() const override { return n_edges_; }
  [[nodiscard]] Memory bytes() const override;
  void refresh(const double* parameters) override { chain_->refresh(parameters); }
  [[nodiscard]] std::vector<double> forward(std::span<const double> windows) override;
  [[nodiscard]] double loss_and_gradient(const double* window, const double* target, double share,
                                         double* gradient) override;

 private:
  void take(const double* window);

  Comm comm_;
  std::shared_ptr<const GraphNetwork> network_;
  std::size_t n_parameters_ = 0, n_edges_ = 0;
  std::unique_ptr<networks::GraphChain<Real>> chain_;
  networks::GraphTape<Real> tape_;
  std::vector<Real> lift_, constant_, target_;  ///< [own, M] P scale/v, [own], [own, M] P scale/u
  std::vector<Real> back_;                      ///< [M, own] of the projection
  std::vector<double> area_;                    ///< [own] of a sum of 1; 0 where another rank counts
  AlignedVector<Real> x_, y_bar_;
};

template <class Real>
PassesIn<Real>::PassesIn(const Comm& comm, std::shared_ptr<const GraphNetwork> network, SpmmKind spmm)
    : comm_(comm), network_(std::move(network)) {
  const SeaNodes& nodes = *network_->nodes;
  const GraphOptions& options = network_->options;
  {
    const SeaEdges edges = sea_edges(nodes, options.neighbours, options.mesh);
    n_edges_ = edges.column.size();
    const OwnedRows ones = rows_of(comm, edges);
    const OwnedRows matrix = networks::graph_convolution_matrix(comm, ones.rows);
    const Graph graph = graph_of(*network_);
    n_parameters_ = graph.n_parameters;
    chain_ = std::make_unique<networks::GraphChain<Real>>(comm, matrix.rows, blocks_of(graph), spmm);
  }
  const double area = std::accumulate(nodes.area.begin(), nodes.area.end(), 0.0);
  const auto by_area = gram_of(nodes, nodes.area);
  const double v = size_of(by_area, network_->input_scale, area),
               u = size_of(by_area, network_->output_scale, area);
  const auto& part = chain_->part();
  const std::size_t m = nodes.n_modes, n = part.n_rows();
  const auto points = on_sphere(nodes);
  const int width = network_->n_features();  // of which this rank has some columns
  const int first = part.first_column(width), last = part.last_column(width);
  x_.resize(n * part.n_columns(width));
  std::vector<double> weighted(m * n);
  for (auto* of_modes : {&lift_, &target_}) of_modes->reserve(n * m);
  constant_.reserve(n), area_.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t node = i + part.first;
    double constant = 0;
    for (std::size_t k = 0; k < m; ++k) {
      const double mode = nodes.modes[node * m + k];
      lift_.push_back(mode * network_->input_scale[k] / v);
      target_.push_back(mode * network_->output_scale[k] / u);
      constant += mode * network_->input_offset[k] / v;
      weighted[k * n + i] = part.counts ? nodes.weight[node] * mode : 0.0;
    }
    constant_.push_back(constant);
    area_.push_back(part.counts ? nodes.area[node] / area : 0.0);
    for (int c = std::max(first, width - 3); c < last; ++c)
      x_[i * part.n_columns(width) + (c - first)] = points[3 * node + (c - width + 3)];
  }
  const auto gram = gram_of(nodes, nodes.weight);
  const auto sizes = symmetric_eigen(gram, nodes.n_modes).values;
  const auto back = solve_positive(gram, weighted, nodes.n_modes, static_cast<int>(n));
  QUINTET_CHECK(back.has_value() && sizes.front() > least_share * sizes.back(),
                "the graph's {} nodes cannot tell {} modes apart; take smaller boxes (network.graph.coarsen) "
                "or fewer modes",
                nodes.size(), nodes.n_modes);
  back_.resize(m * n);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t i = 0; i < n; ++i)
      back_[k * n + i] = (*back)[k * n + i] * (u / network_->output_scale[k]);
}

template <class Real>
GraphPasses::Memory PassesIn<Real>::bytes() const {
  const std::size_t numbers = lift_.capacity() + constant_.capacity() + target_.capacity() +
                              back_.capacity() + x_.capacity() + y_bar_.capacity();
  return {numbers * sizeof(Real) + area_.capacity() * sizeof(double) + tape_.bytes(), chain_->bytes()};
}

template <class Real>
void PassesIn<Real>::take(const double* window) {
  const int m = network_->n_modes(), in = network_->shape.in, width = network_->n_features(),
            step = network_->n_inputs();
  const PanelPart& part = chain_->part();
  const int first = part.first_column(width), last = part.last_column(width), columns = last - first;
  const int last_step = std::min(in, last), last_season = std::min(in + 2 * network_->seasons, last);
  const double* const season = window + std::ptrdiff_t{in - 1} * step + m;
  for (int i = 0; i < n_own(); ++i) {
    Real* const x = x_.data() + std::ptrdiff_t{i} * columns;
    const Real* const lift = lift_.data() + std::ptrdiff_t{i} * m;
    for (int s = first; s < last_step; ++s) {
      double sum = constant_[i];
      for (int k = 0; k < m; ++k) sum += lift[k] * window[std::ptrdiff_t{s} * step + k];
      x[s - first] = sum;
    }
    for (int c = std::max(in, first); c < last_season; ++c) x[c - first] = season[c - in];
  }
}

template <class Real>
std::vector<double> PassesIn<Real>::forward(std::span<const double> windows) {
  const std::size_t m = network_->n_modes(), out = network_->shape.out, rows = n_own();
  const PanelPart& part = chain_->part();
  const std::size_t first = part.first_column(network_->shape.out),
                    columns = part.n_columns(network_->shape.out);
  const std::size_t width = std::int64_t{network_->shape.in} * network_->n_inputs();
  if (windows.size() % width != 0)
    throw InternalError(fmt::format("{} numbers are no windows of {}", windows.size(), width));
  std::vector<double> outputs(windows.size() / width * out * m, 0.0);
  for (std::size_t w = 0; w < windows.size() / width; ++w) {
    take(windows.data() + w * width);
    const auto& y = chain_->forward(x_, tape_);
    for (std::size_t l = 0; l < columns; ++l)
      for (std::size_t k = 0; k < m; ++k) {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) sum += double{back_[k * rows + i]} * y[i * columns + l];
        outputs[(w * out + first + l) * m + k] = sum;
      }
  }
  comm_.reduce(std::span<double>(outputs), Comm::Reduction::sum);
  return outputs;
}

template <class Real>
double PassesIn<Real>::loss_and_gradient(const double* window, const double* target, double share,
                                         double* gradient) {
  take(window);
  const int m = network_->n_modes(), out = network_->shape.out;
  const auto& y = chain_->forward(x_, tape_);
  y_bar_.resize(y.size());
  double loss = 0;
  const PanelPart& part = chain_->part();
  const int first = part.first_column(out), columns = part.n_columns(out);
  const bool counts = part.counts;
  const auto& nodes = *network_->nodes;
  const double whole = counts ? 0 : std::accumulate(nodes.area.begin(), nodes.area.end(), 0.0);
  for (int i = 0; i < n_own(); ++i) {
    const Real* const lift = target_.data() + std::ptrdiff_t{i} * m;
    // Copies of a row go through the same passes, though one of them alone is summed.
    const double area = (counts ? area_[i] : nodes.area[part.first + i] / whole) / out;
    for (int l = 0; l < columns; ++l) {
      const std::size_t at = std::int64_t{i} * columns + l;
      double error = y[at];
      for (int k = 0; k < m; ++k) error -= lift[k] * target[std::ptrdiff_t{first + l} * m + k];
      if (counts) loss += area * error * error;
      y_bar_[at] = 2 * share * area * error;
    }
  }
  chain_->gradient(x_, y_bar_, tape_, gradient);
  return loss;
}

}  // namespace

std::unique_ptr<GraphPasses> graph_passes(const Comm& comm, std::shared_ptr<const GraphNetwork> network,
                                          SpmmKind spmm) {
  switch (network->options.precision) {
    case Precision::float32:
      return std::make_unique<PassesIn<float>>(comm, std::move(network), spmm);
    case Precision::float64:
      return std::make_unique<PassesIn<double>>(comm, std::move(network), spmm);
    case Precision::bf16:
      break;
  }
  throw InternalError("a graph network in bf16");
}

}  // namespace quintet::sequence
