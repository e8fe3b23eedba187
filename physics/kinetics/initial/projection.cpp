#include "physics/kinetics/initial/projection.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::kinetics {

TensorNodes::TensorNodes(const std::vector<int>& per_direction) : dim(per_direction.size()) {
  weight.assign(1, 1.0);
  xi.assign(1, {});
  for (std::size_t d = 0; d < per_direction.size(); ++d) {
    const GaussRule& rule = gauss_rule(per_direction[d]);
    TensorNodes longer;
    for (std::size_t q = 0; q < weight.size(); ++q)
      for (std::size_t r = 0; r < rule.node.size(); ++r) {
        longer.xi.push_back(xi[q]);
        longer.xi.back()[d] = rule.node[r];
        longer.weight.push_back(weight[q] * rule.weight[r]);
      }
    xi = std::move(longer.xi);
    weight = std::move(longer.weight);
  }
}

std::string place_text(const PhaseGrid& grid, std::span<const double> z) {
  const auto x = z.first(grid.cdim);
  std::string text = fmt::format("x = ({:.6g})", fmt::join(x, ", "));
  if (z.size() > x.size()) text += fmt::format(", v = ({:.6g})", fmt::join(z.subspan(x.size()), ", "));
  return text;
}

double finite_value(const PointFunction& function, const PhaseGrid& grid, std::span<const double> z,
                    const std::string& what) {
  const double value = function(z);
  QUINTET_CHECK(std::isfinite(value), "{} is {} at {}; expected a finite number", what,
                std::isnan(value) ? std::abs(value) : value, place_text(grid, z));
  return value;
}

namespace {

/// weight * mode value at each node, [n_nodes, n_modes]: a projection is the transpose of it times the
/// values.
template <class AnyBasis>
std::vector<double> projection_matrix(const AnyBasis& basis, const TensorNodes& nodes) {
  std::vector<double> matrix;
  for (int q = 0; q < nodes.size(); ++q)
    for (int i = 0; i < basis.size(); ++i) matrix.push_back(nodes.weight[q] * basis.value(i, nodes.at(q)));
  return matrix;
}

/// Coefficients of the function with these values at the nodes.
void apply(const std::vector<double>& matrix, const std::vector<double>& values,
           std::vector<double>& coefficients) {
  const std::size_t n = coefficients.size();
  std::fill(coefficients.begin(), coefficients.end(), 0.0);
  for (std::size_t q = 0; q < values.size(); ++q)
    for (std::size_t i = 0; i < n; ++i) coefficients[i] += matrix[q * n + i] * values[q];
}

/// Values at the nodes of the cell whose global indices are `cell`.
void evaluate(const PhaseGrid& grid, const std::array<int, 6>& cell, const TensorNodes& nodes,
              const PointFunction& function, const std::string& what, std::vector<double>& values) {
  std::array<double, 6> z{};
  for (int q = 0; q < nodes.size(); ++q) {
    for (int d = 0; d < nodes.dim; ++d)
      z[d] = grid.centre(d, cell[d]) + 0.5 * grid.width(d, cell[d]) * nodes.at(q)[d];
    values[q] = finite_value(function, grid, std::span<const double>(z.data(), nodes.dim), what);
  }
}

}  // namespace

std::array<int, 6> global_cell(const PhaseBlock& block, int conf, int row, int last) {
  const PhaseGrid& grid = block.grid;
  std::array<int, 6> cell{};
  const auto x = block.conf_index(conf), v = block.row_index(row);
  for (int d = 0; d < grid.cdim; ++d) cell[d] = x[d];
  for (int d = 0; d + 1 < grid.vdim; ++d) cell[grid.cdim + d] = v[d];
  cell[grid.dim() - 1] = last;
  for (std::size_t d = 0; d < 6; ++d) cell[d] += block.begin[d];
  return cell;
}

int velocity_degree(const PhaseBasis& basis) { return basis.family() == Family::hybrid ? 2 : basis.order(); }

void project_conf(const PhaseBlock& block, const Basis& conf, const PointFunction& function,
                  const ConfField& out, int component, const std::string& what, int n_nodes) {
  const int n = n_nodes > 0 ? n_nodes : conf.order() + 1;
  const TensorNodes nodes(std::vector<int>(conf.dim(), n));
  const auto matrix = projection_matrix(conf, nodes);
  std::vector<double> values(nodes.size());
  std::vector<double> coefficients(conf.size());
  for (int cell = 0; cell < block.n_conf(); ++cell) {
    evaluate(block.grid, global_cell(block, cell, 0, 0), nodes, function, what, values);
    apply(matrix, values, coefficients);
    for (int i = 0; i < conf.size(); ++i) out(cell, component, i) = coefficients[i];
  }
}

namespace {

TensorNodes phase_nodes(const PhaseBasis& basis, int n_nodes) {
  std::vector<int> n(basis.dim(), n_nodes > 0 ? n_nodes : basis.order() + 1);
  if (n_nodes <= 0) std::fill(n.begin() + basis.cdim(), n.end(), velocity_degree(basis) + 1);
  return TensorNodes(n);
}

}  // namespace

double projected_particles(const PhaseBasis& basis, const PointFunction& function, const PhaseBlock& block,
                           const std::string& what, int n_nodes, int stride) {
  const TensorNodes nodes = phase_nodes(basis, n_nodes);
  std::vector<double> values(nodes.size());
  double sum = 0;
  for (int conf = 0; conf < block.n_conf(); conf += stride)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last) {
        const auto cell = global_cell(block, conf, row, last);
        evaluate(block.grid, cell, nodes, function, what, values);
        double volume = 1, mean = 0;
        for (int d = 0; d < basis.dim(); ++d) volume *= 0.5 * block.grid.width(d, cell[d]);
        for (int q = 0; q < nodes.size(); ++q) mean += nodes.weight[q] * values[q];
        sum += volume * mean;
      }
  return sum;
}

void project_phase(const PhaseBasis& basis, const PointFunction& function, const Distribution& out,
                   const std::string& what, int n_nodes) {
  const PhaseBlock& block = out.block;
  const TensorNodes nodes = phase_nodes(basis, n_nodes);
  const auto matrix = projection_matrix(basis, nodes);
  std::vector<double> values(nodes.size());
  std::vector<double> coefficients(basis.size());
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last) {
        evaluate(block.grid, global_cell(block, conf, row, last), nodes, function, what, values);
        apply(matrix, values, coefficients);
        for (int i = 0; i < basis.size(); ++i) out.at(conf, row, last, i) = coefficients[i];
      }
}

}  // namespace quintet::kinetics
