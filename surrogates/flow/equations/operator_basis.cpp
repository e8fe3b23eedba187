#include "surrogates/flow/equations/operator_basis.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "io/log/error.hpp"

namespace quintet::flow {

namespace {

constexpr int n_columns = n_second + n_axes;
using Row = std::array<double, n_columns>;

/// Second derivatives first.
Row row_of(const DifferentialOperator& operation) {
  Row row{};
  std::copy(operation.second.begin(), operation.second.end(), row.begin());
  std::copy(operation.first.begin(), operation.first.end(), row.begin() + n_second);
  return row;
}

DifferentialOperator operator_of(const Row& row) {
  DifferentialOperator operation;
  std::copy_n(row.begin(), n_second, operation.second.begin());
  std::copy_n(row.begin() + n_second, n_axes, operation.first.begin());
  return operation;
}

/// Rows in reduced echelon form, and the column in which each has its 1.
struct Echelon {
  std::vector<Row> rows;
  std::vector<int> pivots;
};

Echelon eliminate(std::vector<Row> rows) {
  constexpr double tolerance = 1e-8;
  // What the terms of each entry were before they cancelled: an entry far below that is 0.
  std::vector<Row> sizes = rows;
  for (auto& row : sizes)
    for (double& entry : row) entry = std::abs(entry);
  Echelon echelon;
  std::size_t done = 0;
  for (int column = 0; column < n_columns && done < rows.size(); ++column) {
    std::size_t best = done;
    double best_share = 0;
    for (std::size_t i = done; i < rows.size(); ++i) {
      const double share = sizes[i][column] == 0 ? 0 : std::abs(rows[i][column]) / sizes[i][column];
      if (share > best_share * (1 + tolerance)) {
        best = i;
        best_share = share;
      }
    }
    for (std::size_t i = done; i < rows.size() && best_share <= tolerance; ++i) rows[i][column] = 0;
    if (best_share <= tolerance) continue;
    std::swap(rows[done], rows[best]);
    std::swap(sizes[done], sizes[best]);
    const double pivot = rows[done][column];
    for (double& entry : rows[done]) entry /= pivot;
    for (double& entry : sizes[done]) entry /= std::abs(pivot);
    rows[done][column] = 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double factor = rows[i][column];
      if (i == done || factor == 0) continue;
      for (int c = 0; c < n_columns; ++c) {
        rows[i][c] -= factor * rows[done][c];
        sizes[i][c] += std::abs(factor) * sizes[done][c];
        if (std::abs(rows[i][c]) <= tolerance * sizes[i][c]) rows[i][c] = 0;
      }
      rows[i][column] = 0;
    }
    echelon.pivots.push_back(column);
    ++done;
  }
  rows.resize(done);
  echelon.rows = std::move(rows);
  return echelon;
}

std::vector<Row> rows_of(const std::vector<DifferentialOperator>& wanted) {
  std::vector<Row> rows;
  for (const auto& operation : wanted) rows.push_back(row_of(operation));
  return rows;
}

/// First-order operators first, the others behind; each in the order of its pivots.
std::vector<std::size_t> channel_order(const Echelon& echelon) {
  std::vector<std::size_t> order(echelon.pivots.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return echelon.pivots[i] >= n_second; });
  return order;
}

/// In echelon form a wanted row's weights are its entries at the pivots.
std::vector<std::vector<double>> weights_of(const std::vector<Row>& wanted, const Echelon& echelon,
                                            const std::vector<std::size_t>& order) {
  std::vector<std::vector<double>> weights;
  for (const Row& row : wanted) {
    std::vector<double> of_row;
    for (const std::size_t i : order) of_row.push_back(row[echelon.pivots[i]]);
    weights.push_back(std::move(of_row));
  }
  return weights;
}

}  // namespace

OperatorBasis find_operator_basis(std::span<const std::vector<DifferentialOperator>> wanted) {
  std::vector<Echelon> echelons;
  for (const auto& of_sample : wanted) echelons.push_back(eliminate(rows_of(of_sample)));
  const bool alike = std::all_of(echelons.begin(), echelons.end(),
                                 [&](const auto& one) { return one.pivots == echelons.front().pivots; });
  if (!alike) {
    std::vector<Row> all;
    for (const auto& echelon : echelons) all.insert(all.end(), echelon.rows.begin(), echelon.rows.end());
    const Echelon common = eliminate(all);
    std::fill(echelons.begin(), echelons.end(), common);
  }
  OperatorBasis basis;
  for (std::size_t sample = 0; sample < wanted.size(); ++sample) {
    const auto order = channel_order(echelons[sample]);
    auto& operators = basis.operators.emplace_back();
    for (const std::size_t i : order) operators.push_back(operator_of(echelons[sample].rows[i]));
    basis.weights.push_back(weights_of(rows_of(wanted[sample]), echelons[sample], order));
  }
  return basis;
}

std::string operator_text(const DifferentialOperator& operation,
                          const std::array<std::string, n_axes>& axes) {
  std::string text;
  const auto add = [&](double factor, const std::string& name) {
    if (factor == 0) return;
    const double size = std::abs(factor);
    text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    text += size == 1 ? name : fmt::format("{:.6g} {}", size, name);
  };
  for (int pair = 0; pair < n_second; ++pair)
    add(operation.second[pair], "d" + axes[second_axes[pair][0]] + axes[second_axes[pair][1]]);
  for (int axis = 0; axis < n_axes; ++axis) add(operation.first[axis], "d" + axes[axis]);
  return text.empty() ? "0" : text;
}

}  // namespace quintet::flow
