#include "surrogates/networks/graph_chain.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

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

/// This rank's rows of [n, f].
AlignedVector<double> own(const PanelPart& part, const std::vector<double>& whole, int f) {
  return {whole.begin() + std::ptrdiff_t{part.first} * f, whole.begin() + std::ptrdiff_t{part.last} * f};
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
/// Values, and gradients of sum c y, on all ranks of a layout.
Passes run(const Comm& comm, int n, SpmmKind kind, const std::vector<double>& parameters,
           const std::vector<double>& x, const std::vector<double>& c) {
  const OwnedRows a = rows_of(comm, n, one_way_graph(n));
  GraphChain chain(comm, a.rows, sample_blocks(), kind);
  EXPECT_FALSE(chain.symmetric());
  chain.refresh(parameters.data());
  GraphTape tape;
  Passes result;
  result.gradient.assign(n_parameters, 0.0);
  const auto own_x = own(chain.part(), x, chain.n_in());
  AlignedVector<double> x_bar;
  const AlignedVector<double> y = chain.forward(own_x, tape);
  chain.gradient(own_x, own(chain.part(), c, chain.n_out()), tape, result.gradient.data(), &x_bar);
  // One of several copies of a row tells of it.
  const auto all = [&](const AlignedVector<double>& part) {
    return comm.all_gather(std::span<const double>(part.data(), chain.part().counts ? part.size() : 0));
  };
  result.y = all(y);
  result.x_bar = all(x_bar);
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

TEST(GraphChain, passes_are_the_same_on_any_number_of_ranks_in_each_layout) {
  constexpr int n = 11;
  const auto parameters = noise(n_parameters, 1, 0.5), x = noise(n * 5, 2), c = noise(n * 3, 3);
  const Passes one = run(Comm::self(), n, SpmmKind::automatic, parameters, x, c);
  on_any_number_of_ranks([&](const Comm& comm) {
    std::vector<SpmmKind> kinds{SpmmKind::automatic, SpmmKind::one_d, SpmmKind::sparse_1d};
    if (comm.size() == 4) kinds.push_back(SpmmKind::one_and_a_half_d);
    for (const auto kind : kinds) {
      const Passes many = run(comm, n, kind, parameters, x, c);
      for (const auto part : {&Passes::y, &Passes::gradient, &Passes::x_bar}) {
        EXPECT_EQ((many.*part).size(), (one.*part).size());
        for (std::size_t i = 0; i < std::min((many.*part).size(), (one.*part).size()); ++i)
          EXPECT_NEAR((many.*part)[i], (one.*part)[i], 1e-13 * (1 + std::abs((one.*part)[i])));
      }
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
      GraphChain chain(
          comm, a.rows,
          blocks_of({n_in, hidden, classes}, {Activation::tanh, Activation::linear}, {true, true}));
      EXPECT_EQ(chain.symmetric(), !one.at("directed").as_boolean());
      const PanelPart& part = chain.part();
      auto parameters = numbers(one.at("parameters"));
      const auto x = own(part, numbers(one.at("x")), n_in);
      const auto label = numbers(one.at("label")), trained = numbers(one.at("trained"));
      const auto share = 1 / static_cast<double>(trained.size());
      GraphTape tape;
      for (const double expected : numbers(one.at("losses"))) {
        chain.refresh(parameters.data());
        const auto y = chain.forward(x, tape);
        AlignedVector<double> y_bar(y.size(), 0.0);
        double loss = 0;  // the mean of -log softmax at the labels
        for (const double node : trained) {
          const int i = static_cast<int>(node) - part.first;
          if (i < 0 || i >= part.n_rows()) continue;
          const double* const row = y.data() + std::ptrdiff_t{i} * classes;
          double sum = 0;
          for (int c = 0; c < classes; ++c) sum += std::exp(row[c]);
          const int right = label[node];
          loss += share * (std::log(sum) - row[right]) * (part.counts ? 1 : 0);
          for (int c = 0; c < classes; ++c)
            y_bar[std::int64_t{i} * classes + c] = share * (std::exp(row[c]) / sum - (c == right ? 1 : 0));
        }
        EXPECT_NEAR(comm.sum(loss), expected, 1e-10);
        std::vector<double> gradient(parameters.size(), 0.0);
        chain.gradient(x, y_bar, tape, gradient.data());
        for (std::size_t i = 0; i < parameters.size(); ++i)
          parameters[i] -= given.at("rate").as_number() * gradient[i];
      }
    }
  });
}

TEST(GraphChain, says_what_it_is_and_what_it_does_not_take) {
  const Comm comm = Comm::world();
  const OwnedRows a = rows_of(comm, 11, one_way_graph(11));
  GraphChain chain(comm, a.rows, sample_blocks());
  const auto description = chain.describe();
  ASSERT_EQ(description.blocks.size(), 4U);
  EXPECT_EQ(description.blocks[0].kind, "graph dense tanh");
  EXPECT_EQ(description.blocks[2].kind, "dense silu");
  EXPECT_EQ(description.total().parameters, n_parameters);
  EXPECT_FALSE(chain.reason().empty());

  EXPECT_THROW(GraphChain(comm, a.rows, sample_blocks(), SpmmKind::two_d), InputError);
  auto other = sample_blocks();
  other[1].layer.n_in = 8;
  EXPECT_THROW(GraphChain(comm, a.rows, other), InternalError);
  other = sample_blocks();
  other[1].layer.skip = "x";
  EXPECT_THROW(GraphChain(comm, a.rows, other), InternalError);
  GraphTape tape;
  AlignedVector<double> x(std::int64_t{chain.part().n_rows()} * 5 + 1);
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
