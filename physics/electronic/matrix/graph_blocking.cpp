#include <algorithm>
#include <cmath>
#include <cstddef>
#include <queue>
#include <unordered_map>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

namespace {

/// The coupling of two units, first < second.
struct Edge {
  std::int32_t first, second;
  double weight;
};

/// Edges of equal ends become one of the largest weight.
void merge(std::vector<Edge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  std::size_t n = 0;
  for (const auto& e : edges) {
    if (n > 0 && edges[n - 1].first == e.first && edges[n - 1].second == e.second)
      edges[n - 1].weight = std::max(edges[n - 1].weight, e.weight);
    else
      edges[n++] = e;
  }
  edges.resize(n);
}

/// All couplings on rank 0, sorted. Collective.
std::vector<Edge> gather_edges(const Comm& comm, const Blocking& units, std::span<const Triplet> elements) {
  const auto row_of = blocked_rows(units), unit_of = block_of_rows(units);
  std::vector<Edge> edges;
  together(comm, [&] {
    for (const auto& e : elements) {
      QUINTET_CHECK(e.row >= 0 && e.row < units.n_rows() && e.column >= 0 && e.column < units.n_rows(),
                    "element (row {}, column {}) lies outside a matrix of {} rows", std::int64_t{e.row} + 1,
                    std::int64_t{e.column} + 1, units.n_rows());
      const auto [a, b] = std::minmax(unit_of[row_of[e.row]], unit_of[row_of[e.column]]);
      if (a == b || e.value == 0) continue;
      edges.push_back({a, b, std::abs(e.value)});
    }
  });
  merge(edges);
  auto all = comm.gather(std::span<const Edge>(edges));
  merge(all);
  return all;
}

/// Who is bound to a unit, and how strongly.
class Graph {
 public:
  Graph(int n_units, const std::vector<Edge>& edges) : begin_(n_units + 1, 0), ends_(2 * edges.size()) {
    for (const auto& e : edges) ++begin_[e.first + 1], ++begin_[e.second + 1];
    for (std::size_t u = 1; u < begin_.size(); ++u) begin_[u] += begin_[u - 1];
    auto next = begin_;
    for (const auto& e : edges) {
      ends_[next[e.first]++] = {e.second, e.weight};
      ends_[next[e.second]++] = {e.first, e.weight};
    }
  }
  struct End {
    std::int32_t unit;
    double weight;
  };
  [[nodiscard]] std::span<const End> neighbours(int unit) const {
    return std::span(ends_).subspan(begin_[unit], begin_[unit + 1] - begin_[unit]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<End> ends_;
};

/// Grows blocks until all units are in one.
class Growth {
 public:
  Growth(const Graph& graph, const Blocking& units, int rows_per_block)
      : graph_(graph), units_(units), limit_(rows_per_block), taken_(units.n_blocks(), false) {}

  [[nodiscard]] std::vector<std::vector<int>> blocks() {
    std::vector<std::vector<int>> result;
    for (int seed = next_seed(); seed >= 0; seed = next_seed()) result.push_back(grow(seed));
    return result;
  }

 private:
  /// The free unit most strongly bound to the units taken, else the first free one, else -1.
  int next_seed() {
    while (!frontier_.empty()) {
      const int unit = -frontier_.top().second;
      frontier_.pop();
      if (!taken_[unit]) return unit;
    }
    while (first_free_ < units_.n_blocks() && taken_[first_free_]) ++first_free_;
    return first_free_ < units_.n_blocks() ? first_free_ : -1;
  }

  std::vector<int> grow(int seed) {
    std::vector<int> block;
    std::unordered_map<int, double> bound;  // free neighbours of the block
    int rows = 0;
    for (int unit = seed; unit >= 0; unit = strongest(bound, limit_ - rows)) {
      block.push_back(unit);
      rows += units_.size(unit);
      taken_[unit] = true;
      bound.erase(unit);
      for (const auto& [other, weight] : graph_.neighbours(unit))
        if (!taken_[other]) bound[other] += weight;
    }
    for (const auto& [unit, weight] : bound) frontier_.push({weight, -unit});
    std::sort(block.begin(), block.end());
    return block;
  }

  /// The unit with the largest sum of couplings that has at most `room` rows; of equals the first.
  [[nodiscard]] int strongest(const std::unordered_map<int, double>& bound, int room) const {
    int best = -1;
    double largest = 0;
    for (const auto& [unit, weight] : bound)
      if (units_.size(unit) <= room && (weight > largest || (weight == largest && unit < best))) {
        best = unit;
        largest = weight;
      }
    return best;
  }

  const Graph& graph_;
  const Blocking& units_;
  int limit_;
  std::vector<bool> taken_;
  std::priority_queue<std::pair<double, int>> frontier_;  // (coupling, -unit)
  int first_free_ = 0;
};

}  // namespace

Blocking graph_blocking(const Comm& comm, const Blocking& units, std::span<const Triplet> elements,
                        int rows_per_block) {
  check_blocking(units);
  for (int u = 0; u < units.n_blocks(); ++u)
    QUINTET_CHECK(units.size(u) <= rows_per_block, "unit {} has {} orbitals, more than a block's {}", u + 1,
                  units.size(u), rows_per_block);
  const auto edges = gather_edges(comm, units, elements);
  Blocking result;
  if (comm.is_root()) {
    const Graph graph(units.n_blocks(), edges);
    for (const auto& block : Growth(graph, units, rows_per_block).blocks()) {
      for (const int unit : block)
        for (int i = units.begin[unit]; i < units.begin[unit + 1]; ++i)
          result.order.push_back(units.order.empty() ? i : units.order[i]);
      result.begin.push_back(result.order.size());
    }
  }
  result.begin.resize(comm.broadcast(static_cast<int>(result.begin.size())));
  result.order.resize(units.n_rows());
  comm.broadcast(std::span<int>(result.begin));
  comm.broadcast(std::span<int>(result.order));
  return result;
}

}  // namespace quintet::electronic
