#include "surrogates/networks/graph_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/unit/networks/chain_cases.hpp"

namespace quintet::networks {
namespace {

/// A_ik of a whole graph, by (i, k).
using Edges = std::map<std::pair<int, int>, double>;

/// A rank's rows of it.
OwnedRows rows_of(const Comm& comm, int n, const Edges& edges) {
  OwnedRows result;
  SparseRows& rows = result.rows;
  rows.shares = even_rows(n, comm.size());
  for (int i = rows.shares.rank_begin[comm.rank()]; i < rows.shares.rank_begin[comm.rank() + 1]; ++i) {
    for (int k = 0; k < n; ++k) {
      const auto found = edges.find({i, k});
      if (found == edges.end()) continue;
      rows.column.push_back(k);
      result.value.push_back(found->second);
    }
    rows.row_begin.push_back(rows.column.size());
  }
  rows.value = result.value.data();
  return result;
}

Edges one_way_graph(int n) {
  Edges edges;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      if ((i * 5 + k * 3) % 7 == 0 && i != 4) edges[{i, k}] = 0.4 * std::sin(1.0 + i + 3 * k);
  return edges;
}

/// This rank's part of [n, f].
template <class Real = double>
AlignedVector<Real> own(const PanelPart& part, const std::vector<double>& whole, int f) {
  AlignedVector<Real> x;
  for (std::ptrdiff_t i = part.first; i < part.last; ++i)
    x.insert(x.end(), whole.begin() + i * f + part.first_column(f),
             whole.begin() + i * f + part.last_column(f));
  return x;
}

/// [n, f] of all parts; one of several copies tells of it.
template <class Real>
std::vector<double> all_parts(const Comm& comm, const PanelPart& part, const AlignedVector<Real>& x, int n,
                              int f) {
  std::vector<double> all(std::size_t(n) * f, 0.0);
  const int columns = part.n_columns(f);
  EXPECT_EQ(std::ssize(x), std::int64_t{part.n_rows()} * columns);
  for (std::ptrdiff_t i = 0; i < part.n_rows() && part.counts; ++i)
    std::copy_n(x.begin() + i * columns, columns, all.begin() + (part.first + i) * f + part.first_column(f));
  comm.reduce(std::span<double>(all), Comm::Reduction::sum);
  return all;
}

/// Layers one after the other, with places; `on_graph` by turns as given.
std::vector<GraphBlock> blocks_of(const std::vector<int>& widths, const std::vector<Activation>& activations,
                                  const std::vector<bool>& on_graph) {
  Case all{"", widths[0], {}, false, {}};
  for (std::size_t l = 0; l + 1 < widths.size(); ++l)
    all.layers.push_back(layer("l" + std::to_string(l), l == 0 ? "x" : "l" + std::to_string(l - 1), "",
                               widths[l], widths[l + 1], activations[l]));
  all.place();
  std::vector<GraphBlock> blocks;
  for (std::size_t l = 0; l < all.layers.size(); ++l) blocks.push_back({all.layers[l], on_graph[l]});
  return blocks;
}

/// Convolutions whose rows grow and shrink, one that skips itself, and a dense layer between them.
std::vector<GraphBlock> sample_blocks() {
  auto blocks =
      blocks_of({5, 5, 9, 6, 3}, {Activation::tanh, Activation::tanh, Activation::silu, Activation::sigmoid},
                {true, true, false, true});
  blocks[0].layer.skip = "x";
  return blocks;
}
constexpr std::size_t n_parameters = 5 * 5 + 5 + 5 * 9 + 9 + 9 * 6 + 6 + 6 * 3 + 3;

void on_any_number_of_ranks(const std::function<void(const Comm&)>& action) {
  const Comm world = Comm::world();
  for (int p = 1; p <= world.size(); ++p) {
    const Comm some = world.split(world.rank() < p ? 0 : 1, world.rank());
    if (world.rank() < p) action(some);
  }
}

struct Passes {
  std::vector<double> y, gradient, x_bar;  ///< of all nodes
};
/// Products of the sample's blocks with A, and with W, by the columns of the panel that travels.
SpmmTraffic expected_traffic(const Comm& comm, const SparseRows& a, const SpmmLayout& layout) {
  SpmmTraffic sum;
  const OwnedRows there = transpose(comm, a);
  for (const int f : {5, 5, 3}) {
    sum += count_traffic(comm, a, layout, f)[comm.rank()];
    sum += count_traffic(comm, there.rows, layout, f)[comm.rank()];
  }
  for (const int f : {5, 5, 9, 6, 5, 9, 6, 3}) sum += count_row_parts(a.shares, layout, f)[comm.rank()];
  return sum;
}

/// Values, and gradients of sum c y, on all ranks of a layout.
template <class Real = double>
Passes run(const Comm& comm, int n, SpmmKind kind, const std::vector<double>& parameters,
           const std::vector<double>& x, const std::vector<double>& c, const MessageCosts& costs = {}) {
  const OwnedRows a = rows_of(comm, n, one_way_graph(n));
  GraphChain<Real> chain(comm, a.rows, sample_blocks(), kind, costs);
  if (kind != SpmmKind::automatic) {
    EXPECT_EQ(chain.layout().kind, kind);
  }
  EXPECT_FALSE(chain.symmetric());
  chain.refresh(parameters.data());
  GraphTape<Real> tape;
  Passes result;
  result.gradient.assign(n_parameters, 0.0);
  const auto own_x = own<Real>(chain.part(), x, chain.n_in());
  AlignedVector<Real> x_bar;
  comm.barrier();
  comm.reset_counters();
  const AlignedVector<Real> y = chain.forward(own_x, tape);
  chain.gradient(own_x, own<Real>(chain.part(), c, chain.n_out()), tape, result.gradient.data(), &x_bar);
  const SpmmTraffic& got = chain.received();
  EXPECT_EQ(comm.counter(Comm::Call::point_to_point).received,
            sizeof(Real) * (got.dense_words + got.nonzeros));
  EXPECT_EQ(comm.counter(Comm::Call::reduce).messages, 0);  // sums over ranks are the caller's
  EXPECT_EQ(got, expected_traffic(comm, a.rows, chain.layout())) << chain.layout().name();
  comm.reduce(std::span<double>(result.gradient), Comm::Reduction::sum);
  result.y = all_parts(comm, chain.part(), y, n, chain.n_out());
  result.x_bar = all_parts(comm, chain.part(), x_bar, n, chain.n_in());
  return result;
}

TEST(GraphChain, gradients_of_all_inputs_are_those_of_differences) {
  if (Comm::world().rank() > 0) return;
  constexpr int n = 11;
  auto parameters = noise(n_parameters, 1, 0.5), x = noise(n * 5, 2), c = noise(n * 3, 3);
  const Passes exact = run(Comm::self(), n, SpmmKind::automatic, parameters, x, c);
  const auto sum = [&] {
    const auto y = run(Comm::self(), n, SpmmKind::automatic, parameters, x, c).y;
    double total = 0;
    for (std::size_t i = 0; i < y.size(); ++i) total += c[i] * y[i];
    return total;
  };
  constexpr double h = 1e-5;
  const auto expect_slopes = [&](std::vector<double>& input, const std::vector<double>& slope) {
    ASSERT_EQ(slope.size(), input.size());
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double at = input[i];
      input[i] = at + h;
      const double above = sum();
      input[i] = at - h;
      const double difference = (above - sum()) / (2 * h);
      input[i] = at;
      EXPECT_NEAR(slope[i], difference, 1e-8 * (1 + std::abs(difference))) << i;
    }
  };
  expect_slopes(parameters, exact.gradient);
  expect_slopes(x, exact.x_bar);
}

double worst_error(const Passes& many, const Passes& one, int n) {
  double worst = 0;
  for (const auto part : {&Passes::y, &Passes::gradient, &Passes::x_bar}) {
    EXPECT_EQ((many.*part).size(), (one.*part).size());
    for (std::size_t i = 0; i < std::min((many.*part).size(), (one.*part).size()); ++i)
      worst = std::max(worst, std::abs((many.*part)[i] - (one.*part)[i]) / (n + std::abs((one.*part)[i])));
  }
  return worst;
}

TEST(GraphChain, passes_are_the_same_on_any_number_of_ranks_in_each_layout) {
  for (const int n : {11, 601}) {  // 601: blocks of rows that are full, and one that is not
    const auto parameters = noise(n_parameters, 1, 0.5), x = noise(n * 5, 2), c = noise(n * 3, 3);
    const Passes one = run(Comm::self(), n, SpmmKind::automatic, parameters, x, c);
    on_any_number_of_ranks([&](const Comm& comm) {
      if (n > 11 && comm.size() != 4 && comm.size() != 8) return;
      std::vector<SpmmKind> kinds{SpmmKind::automatic};
      for (const auto& layout : layouts_of(SpmmKind::automatic, comm.size())) kinds.push_back(layout.kind);
      kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
      for (const auto kind : kinds)
        for (const double message : {1.0, 0.0}) {  // grids that differ
          if (n > 11 && message == 0) continue;
          const MessageCosts costs{message, 1 - message, "of a test"};
          const Passes many = run(comm, n, kind, parameters, x, c, costs);
          const auto what =
              fmt::format("{} nodes, {} ranks, kind {}", n, comm.size(), static_cast<int>(kind));
          EXPECT_LT(worst_error(many, one, n), 1e-14) << what;
          const Passes single = run<float>(comm, n, kind, parameters, x, c, costs);
          EXPECT_LT(worst_error(single, one, n), 5e-7) << what;
        }
    });
  }
}

/// Of one convolution of f to f features on a full graph, forward and back to the weights.
TEST(GraphChain, words_are_those_of_the_formulas) {
  constexpr int n = 24, f = 4, nonzeros = n * n;
  Edges full;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) full[{i, k}] = 0.01 * (1 + i + k);
  const auto received = [&](const Comm& comm, SpmmKind kind) {
    const OwnedRows a = rows_of(comm, n, full);
    GraphChain<double> chain(comm, a.rows, blocks_of({f, f}, {Activation::tanh}, {true}), kind);
    const auto parameters = noise(f * f + f, 1);
    chain.refresh(parameters.data());
    GraphTape<double> tape;
    const auto x = own(chain.part(), noise(n * f, 2), f);
    std::vector<double> gradient(f * f + f, 0.0);
    const AlignedVector<double> y = chain.forward(x, tape);
    chain.gradient(x, y, tape, gradient.data());
    return chain.received();
  };
  on_any_number_of_ranks([&](const Comm& comm) {
    const int p = comm.size();
    if (p == 1) {
      EXPECT_EQ(received(comm, SpmmKind::automatic), SpmmTraffic{});
    }
    if (p != 4 && p != 8) return;
    for (const auto kind : {SpmmKind::one_d, SpmmKind::sparse_1d})
      EXPECT_EQ(received(comm, kind), (SpmmTraffic{(n - n / p) * f, 0, p - 1}));
    if (p == 4) {
      // Two copies of two groups: each multiplies half of the columns; rows i of it that are not its own
      // come.
      const bool own_half = comm.rank() / 2 == comm.rank() % 2;
      EXPECT_EQ(received(comm, SpmmKind::one_and_a_half_d),
                (SpmmTraffic{(own_half ? 0 : n / 2 * f) + n / 2 * f, 0, (own_half ? 0 : 1) + 2}));
      // (n - n_i) f_j + 2 n_i (f - f_j) with n_i = n/2 and f_j = f/2.
      EXPECT_EQ(received(comm, SpmmKind::two_d),
                (SpmmTraffic{n / 2 * f / 2 + 2 * (n / 2 * f / 2), nonzeros / 4, 2 + 2}));
    } else {
      // 2 (q - 1) n f/q^3 of the product, as many of the parts of rows; (q - 1) nnz/q^3.
      EXPECT_EQ(received(comm, SpmmKind::three_d),
                (SpmmTraffic{2 * (n * f / 8) + 2 * (n * f / 8), nonzeros / 8, 3 + 2}));
    }
  });
}

/// Losses of two-layer networks with the same weights in PyTorch Geometric 2.8
/// (tests/data/networks/make_graph_convolution.py).
TEST(GraphChain, losses_in_training_are_those_of_pytorch_geometric) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const Tree given = read_yaml(std::string(source != nullptr ? source : ".") +
                               "/tests/data/networks/graph_convolution.json");
  const auto whole = [](const Tree& from, const char* key) {
    return static_cast<int>(from.at(key).as_integer());
  };
  const auto numbers = [](const Tree& list) {
    std::vector<double> values;
    for (const Tree& x : list.items()) values.push_back(x.as_number());
    return values;
  };
  const int n = whole(given, "nodes"), n_in = whole(given, "features"), hidden = whole(given, "hidden"),
            classes = whole(given, "classes");
  on_any_number_of_ranks([&](const Comm& comm) {
    for (const Tree& one : given.at("cases").items()) {
      Edges edges;
      for (std::size_t e = 0; e < one.at("from").items().size(); ++e)
        edges[{static_cast<int>(one.at("to").items()[e].as_integer()),
               static_cast<int>(one.at("from").items()[e].as_integer())}] =
            one.at("weight").items()[e].as_number();
      const OwnedRows graph = rows_of(comm, n, edges);
      const OwnedRows a = graph_convolution_matrix(comm, graph.rows);
      GraphChain<double> chain(
          comm, a.rows,
          blocks_of({n_in, hidden, classes}, {Activation::tanh, Activation::linear}, {true, true}));
      EXPECT_EQ(chain.symmetric(), !one.at("directed").as_boolean());
      const PanelPart& part = chain.part();
      auto parameters = numbers(one.at("parameters"));
      const auto x = own(part, numbers(one.at("x")), n_in);
      const auto label = numbers(one.at("label")), trained = numbers(one.at("trained"));
      const auto share = 1 / static_cast<double>(trained.size());
      GraphTape<double> tape;
      for (const double expected : numbers(one.at("losses"))) {
        chain.refresh(parameters.data());
        const auto y = all_parts(comm, part, chain.forward(x, tape), n, classes);
        std::vector<double> y_bar(y.size(), 0.0);
        double loss = 0;  // the mean of -log softmax at the labels
        for (const double node : trained) {
          const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(node) * classes;
          double sum = 0;
          for (int c = 0; c < classes; ++c) sum += std::exp(y[first + c]);
          const int right = label[node];
          loss += share * (std::log(sum) - y[first + right]);
          for (int c = 0; c < classes; ++c)
            y_bar[first + c] = share * (std::exp(y[first + c]) / sum - (c == right ? 1 : 0));
        }
        EXPECT_NEAR(loss, expected, 1e-10);
        std::vector<double> gradient(parameters.size(), 0.0);
        chain.gradient(x, own(part, y_bar, classes), tape, gradient.data());
        comm.reduce(std::span<double>(gradient), Comm::Reduction::sum);
        for (std::size_t i = 0; i < parameters.size(); ++i)
          parameters[i] -= given.at("rate").as_number() * gradient[i];
      }
    }
  });
}

TEST(GraphChain, says_what_it_is_and_what_it_does_not_take) {
  const Comm comm = Comm::world();
  const OwnedRows a = rows_of(comm, 11, one_way_graph(11));
  GraphChain<double> chain(comm, a.rows, sample_blocks());
  const auto description = chain.describe();
  ASSERT_EQ(description.blocks.size(), 4U);
  EXPECT_EQ(description.blocks[0].kind, "graph dense tanh");
  EXPECT_EQ(description.blocks[2].kind, "dense silu");
  EXPECT_EQ(description.total().parameters, n_parameters);
  EXPECT_FALSE(chain.reason().empty());

  EXPECT_THROW(GraphChain<double>(Comm::self(), rows_of(Comm::self(), 11, one_way_graph(11)).rows,
                                  sample_blocks(), SpmmKind::two_d),
               InputError);
  auto other = sample_blocks();
  other[1].layer.n_in = 8;
  EXPECT_THROW(GraphChain<double>(comm, a.rows, other), InternalError);
  other = sample_blocks();
  other[1].layer.skip = "x";
  EXPECT_THROW(GraphChain<double>(comm, a.rows, other), InternalError);
  GraphTape<double> tape;
  AlignedVector<double> x(std::int64_t{chain.part().n_rows()} * chain.part().n_columns(5) + 1);
  EXPECT_THROW(chain.forward(x, tape), InputError);
}

TEST(GraphConvolutionMatrix, keeps_loops_and_leaves_rows_without_weight_zero) {
  if (Comm::world().rank() > 0) return;
  const OwnedRows graph = rows_of(Comm::self(), 3, {{{0, 1}, 3.0}, {{1, 1}, 4.0}, {{2, 0}, -5.0}});
  const OwnedRows a = graph_convolution_matrix(Comm::self(), graph.rows);
  EXPECT_EQ(a.rows.row_begin, (std::vector<std::int64_t>{0, 2, 3, 5}));
  EXPECT_EQ(a.rows.column, (std::vector<std::int32_t>{0, 1, 1, 0, 2}));
  const std::vector<double> expected{1.0 / 4, 3 / std::sqrt(16.0), 1, 0, 0};
  for (std::size_t p = 0; p < expected.size(); ++p) EXPECT_NEAR(a.value[p], expected[p], 1e-15) << p;
}

}  // namespace
}  // namespace quintet::networks
