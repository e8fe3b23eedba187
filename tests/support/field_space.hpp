#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/distribution.hpp"

/// Configuration space for tests of field solvers: projection, errors and points by Gauss quadrature.
namespace fields {

using quintet::Comm;
using quintet::Exec;
using quintet::kinetics::Basis;
using quintet::kinetics::ConfField;
using quintet::kinetics::Decomposition;
using quintet::kinetics::Family;
using quintet::kinetics::PhaseBlock;
using quintet::kinetics::PhaseGrid;

using Point = std::array<double, 3>;
using Function = std::function<double(const Point&)>;

struct Gauss {
  std::vector<double> node, weight;
};

/// Gauss-Legendre nodes and weights on [-1, 1], exact to degree 2n - 1 (Newton on P_n).
inline Gauss gauss(int n) {
  Gauss rule;
  for (int i = 0; i < n; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int pass = 0; pass < 100; ++pass) {
      double p = 1, before = 0;
      for (int k = 1; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
        before = p;
        p = next;
      }
      slope = n * (x * p - before) / (x * x - 1);
      x -= p / slope;
      if (std::abs(p / slope) < 1e-15) break;
    }
    rule.node.push_back(x);
    rule.weight.push_back(2 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

inline PhaseGrid make_grid(const std::vector<int>& cells, const std::vector<double>& upper, bool periodic) {
  PhaseGrid grid;
  grid.cdim = cells.size();
  grid.vdim = 1;
  for (std::size_t d = 0; d < cells.size(); ++d) {
    grid.cells[d] = cells[d];
    grid.upper[d] = upper[d];
    grid.periodic[d] = periodic;
  }
  grid.lower[cells.size()] = -1;
  grid.upper[cells.size()] = 1;
  grid.cells[cells.size()] = 4;
  return grid;
}

/// A grid, a basis and this rank's cells.
struct FieldSpace {
  PhaseGrid grid;
  Basis basis;
  Decomposition decomposition;
  PhaseBlock block;

  FieldSpace(const Comm& comm, const PhaseGrid& g, int order, Family family,
             const std::array<int, 6>& ranks = {})
      : grid(g), basis(g.cdim, order, family), decomposition(comm, g, ranks), block(decomposition.block(g)) {}

  [[nodiscard]] ConfField make(int n_components) const {
    return ConfField("test_field", static_cast<std::size_t>(block.n_conf()),
                     static_cast<std::size_t>(n_components), static_cast<std::size_t>(basis.size()));
  }
  [[nodiscard]] double half_width(int d) const { return 0.5 * grid.width(d); }

  /// Calls f(xi, x, weight) at n^dim Gauss points of a cell; the weights sum to 2^dim.
  template <class F>
  void at_points(int cell, int n, const F& f) const {
    const Gauss rule = gauss(n);
    const auto index = block.conf_index(cell);
    int total = 1;
    for (int d = 0; d < grid.cdim; ++d) total *= n;
    for (int number = 0; number < total; ++number) {
      Point xi{}, x{};
      double weight = 1;
      for (int d = 0, rest = number; d < grid.cdim; ++d, rest /= n) {
        const std::size_t i = d, k = rest % n;
        xi[i] = rule.node[k];
        x[i] = grid.centre(d, block.begin[i] + index[i]) + half_width(d) * xi[i];
        weight *= rule.weight[k];
      }
      f(xi, x, weight);
    }
  }
  [[nodiscard]] double value(const ConfField& field, int cell, int component, const Point& xi) const {
    double sum = 0;
    for (int i = 0; i < basis.size(); ++i) sum += field(cell, component, i) * basis.value(i, xi);
    return sum;
  }
  void project(const Function& function, const ConfField& field, int component) const {
    for (int cell = 0; cell < block.n_conf(); ++cell) {
      for (int i = 0; i < basis.size(); ++i) field(cell, component, i) = 0;
      at_points(cell, basis.order() + 4, [&](const Point& xi, const Point& x, double weight) {
        for (int i = 0; i < basis.size(); ++i)
          field(cell, component, i) += weight * function(x) * basis.value(i, xi);
      });
    }
  }
  /// L2 norm of component - function over the whole domain. Collective.
  [[nodiscard]] double error(const ConfField& field, int component, const Function& function) const {
    double sum = 0;
    for (int cell = 0; cell < block.n_conf(); ++cell)
      at_points(cell, basis.order() + 4, [&](const Point& xi, const Point& x, double weight) {
        const double difference = value(field, cell, component, xi) - function(x);
        sum += weight * difference * difference;
      });
    for (int d = 0; d < grid.cdim; ++d) sum *= half_width(d);
    return std::sqrt(decomposition.conf_comm().sum(sum));
  }
};

/// The same numbers for the same global cell, whatever the ranks.
inline void fill_random(const FieldSpace& space, const ConfField& field, unsigned seed) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int cell = 0; cell < space.block.n_conf(); ++cell) {
    const auto index = space.block.conf_index(cell);
    unsigned number = seed;
    for (std::size_t d = 0; d < 3; ++d)
      number =
          number * 1000 + (index[d] + space.block.begin[d] * (d < static_cast<std::size_t>(space.grid.cdim)));
    std::mt19937 random(number);
    for (std::size_t q = 0; q < field.extent(1); ++q)
      for (std::size_t i = 0; i < field.extent(2); ++i) field(cell, q, i) = uniform(random);
  }
}

/// Largest |mine - whole| over this rank's cells, `whole` being a field of all cells on one rank. Collective.
inline double difference(const FieldSpace& space, const ConfField& mine, const FieldSpace& all,
                         const ConfField& whole) {
  double largest = 0;
  for (int cell = 0; cell < space.block.n_conf(); ++cell) {
    auto index = space.block.conf_index(cell);
    for (std::size_t d = 0; d < static_cast<std::size_t>(space.grid.cdim); ++d)
      index[d] += space.block.begin[d];
    const int there = all.block.conf_number(index);
    for (std::size_t q = 0; q < mine.extent(1); ++q)
      for (std::size_t i = 0; i < mine.extent(2); ++i)
        largest = std::max(largest, std::abs(mine(cell, q, i) - whole(there, q, i)));
  }
  return space.decomposition.comm().maximum(largest);
}

}  // namespace fields
