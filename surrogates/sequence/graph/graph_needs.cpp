#include "surrogates/sequence/graph/graph_needs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kernels/gemm.hpp"
#include "physics/kernels/pack.hpp"
#include "surrogates/networks/graph_chain.hpp"

namespace quintet::sequence {

namespace {

constexpr double arrays_of_weights = 6;  // values, gradient, a window's part of it, two means, the best
constexpr double grown = 2;  // what lists that grow number by number may hold beside what they need

int bytes_of_number(const GraphNetwork& network) {
  return network.options.precision == Precision::float32 ? sizeof(float) : sizeof(double);
}
int lanes(const GraphNetwork& network) {
  return network.options.precision == Precision::float32 ? pack_width<float> : pack_width<double>;
}

/// Rows of H that each rank gets from others, and that it gives, in sparse-aware 1D; the most of their sum.
double most_rows_on_the_way(const SparseRows& a) {
  const RowShares& s = a.shares;
  std::vector<int> seen_by(s.n_units(), -1);
  std::vector<double> rows(s.n_ranks(), 0.0);
  for (int r = 0; r < s.n_ranks(); ++r)
    for (auto p = a.row_begin[s.rank_begin[r]]; p < a.row_begin[s.rank_begin[r + 1]]; ++p) {
      const int k = a.column[p];
      const int owner = s.group(k, s.n_ranks());
      if (owner == r || seen_by[k] == r) continue;
      seen_by[k] = r;
      ++rows[r], ++rows[owner];
    }
  return *std::max_element(rows.begin(), rows.end());
}

/// Rows of features that come from others, in numbers of a rank's own (docs/podlstm.md, Layouts).
double panels_that_come(const SpmmLayout& layout) {
  switch (layout.kind) {
    case SpmmKind::one_d:
      return 2;
    case SpmmKind::one_and_a_half_d:
    case SpmmKind::two_d:
      return 4;
    case SpmmKind::three_d:
      return 2 * layout.layers + 4;
    case SpmmKind::sparse_1d:
    case SpmmKind::automatic:
      break;
  }
  return 0;
}

/// Upper bound of the bytes of a rank's part of A, of weights in both orders, and of what comes.
double bytes_of_products(const GraphNetwork& network, const SparseRows& a, const SpmmLayout& layout,
                         int rank) {
  const RowShares& s = a.shares;
  const int i = rank / (layout.columns * layout.layers);
  const int first = s.cut(i, layout.rows), last = s.cut(i + 1, layout.rows);
  const double nonzeros = a.row_begin[last] - a.row_begin[first], rows = last - first;
  const double number = bytes_of_number(network);
  const double stages = stages_of(s, layout, rank).size();
  // In tiles the parts of A of others come, two at a time.
  const double values = layout.columns > 1 ? 1.5 : 1;
  double bytes = grown * (nonzeros * (values * number + sizeof(std::int32_t)) +
                          stages * (rows + 1) * sizeof(std::int64_t));
  const int panel = 3 * lanes(network);
  for (const auto& operation : graph_of(network).operations)
    bytes += number * (double(operation.n_in) * padded(operation.n_out, panel) +
                       double(operation.n_out) * padded(operation.n_in, panel));
  const PanelPart part = panel_part(s, layout, rank);
  const double width = part.n_columns(network.options.features);
  if (layout.kind == SpmmKind::sparse_1d)
    return bytes + grown * most_rows_on_the_way(a) * (width * number + sizeof(std::int32_t));
  return bytes + panels_that_come(layout) * (part.n_rows() + 1) * (width + 1) * number;
}

}  // namespace

double bytes_of_arrays(const GraphNetwork& network, const PanelPart& part, bool trains) {
  constexpr int rows_at_once = 256;  // of a GraphChain
  const auto columns = [&](int f) { return double(padded(part.n_columns(f), lanes(network))); };
  const double number = bytes_of_number(network), rows = part.n_rows(),
               features = columns(network.options.features);
  const double of_a_row = 3.0 * network.n_modes() + 1 + columns(network.n_features()) +
                          (trains ? 3 : 2) * columns(network.shape.out) +
                          ((trains ? 7 : 4) + 3 * network.options.layers) * features;
  const double beside =
      (2 * std::min(part.n_rows(), rows_at_once) + (trains ? network.options.features : 0)) * features;
  return rows * sizeof(double) + number * (rows * of_a_row + beside);
}

OwnedRows whole_matrix(const GraphNetwork& network) {
  const Comm self = Comm::self();
  const SeaEdges edges = sea_edges(*network.nodes, network.options.neighbours, network.options.mesh);
  return networks::graph_convolution_matrix(self, rows_of(self, edges).rows);
}

GraphNeeds graph_needs(const GraphNetwork& network, const SparseRows& matrix, int n_ranks, SpmmKind kind) {
  SparseRows a = matrix;
  a.shares = even_rows(matrix.shares.n_rows(), n_ranks);
  const int features = network.options.features, nodes = a.shares.n_rows();
  const auto costs = of_words(MessageCosts{}, bytes_of_number(network));
  GraphNeeds needs;
  needs.layout = choose_layout(a, features, layouts_of(kind, n_ranks), costs, true).layout;
  const auto product = count_traffic(a, needs.layout, features);
  needs.weights = arrays_of_weights * sizeof(double) * static_cast<double>(graph_of(network).n_parameters);
  needs.forward.resize(n_ranks);
  const auto add = [&](std::vector<SpmmTraffic>& to, const std::vector<SpmmTraffic>& more, int times) {
    for (std::size_t r = 0; r < to.size(); ++r)
      for (int k = 0; k < times; ++k) to[r] += more[r];
  };
  const auto operations = graph_of(network).operations;
  add(needs.forward, product, network.options.layers);
  for (const auto& operation : operations)
    add(needs.forward, count_row_parts(a.shares, needs.layout, operation.n_in), 1);
  needs.both = needs.forward;
  add(needs.both, product, network.options.layers);
  for (const auto& operation : operations)
    add(needs.both, count_row_parts(a.shares, needs.layout, operation.n_out), 1);
  for (int r = 0; r < n_ranks; ++r) {
    const PanelPart part = panel_part(a.shares, needs.layout, r);
    needs.share = std::max(needs.share, double(part.n_rows()) * part.n_columns(features) / features / nodes);
    needs.arrays = std::max(needs.arrays, bytes_of_arrays(network, part));
    needs.forecast = std::max(needs.forecast, bytes_of_arrays(network, part, false));
  }
  // Ranks have as many rows, or one more: the last in each way have the most.
  for (const int r : {0, n_ranks - 1})
    needs.products = std::max(needs.products, bytes_of_products(network, a, needs.layout, r));
  needs.forecast += needs.products + needs.weights / arrays_of_weights;
  return needs;
}

}  // namespace quintet::sequence
