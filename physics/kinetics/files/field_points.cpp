#include "physics/kinetics/files/field_points.hpp"

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/basis/legendre.hpp"
#include "physics/kinetics/files/distribution_io.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::kinetics {

namespace {

/// Centre of part i of n of [-1, 1].
double part_centre(int i, int n) { return -1 + (2.0 * i + 1) / n; }

/// Values at the points of all local cells: [n_conf, 1, n^cdim], within a cell x slowest.
ConfField cell_points(const PhaseBlock& block, const Basis& conf, const ConfField& field, int component,
                      int n) {
  int n_points = 1;
  for (int d = 0; d < conf.dim(); ++d) n_points *= n;
  std::vector<double> table;  // [points, modes]
  for (int point = 0; point < n_points; ++point) {
    std::array<double, 6> xi{};
    for (int d = conf.dim() - 1, rest = point; d >= 0; --d, rest /= n) xi[d] = part_centre(rest % n, n);
    for (int mode = 0; mode < conf.size(); ++mode) table.push_back(conf.value(mode, xi));
  }
  ConfField points("kinetics::cell_points", block.n_conf(), 1, n_points);
  for (int cell = 0; cell < block.n_conf(); ++cell)
    for (int point = 0; point < n_points; ++point)
      for (int mode = 0; mode < conf.size(); ++mode)
        points(cell, 0, point) += table[point * conf.size() + mode] * field(cell, component, mode);
  return points;
}

/// Place of a point in [(n N_z), (n N_y), n N_x], x fastest, from cell and point numbers with x slowest.
std::size_t place_x_fastest(const PhaseGrid& grid, int n, std::size_t cell, std::size_t point) {
  std::array<std::size_t, 3> index{};
  for (int d = grid.cdim - 1; d >= 0; --d) {
    index[d] = cell % grid.cells[d] * n + point % n;
    cell /= grid.cells[d];
    point /= n;
  }
  std::size_t place = 0;
  for (int d = grid.cdim - 1; d >= 0; --d) place = place * (grid.cells[d] * n) + index[d];
  return place;
}

/// A mode that is constant in all directions but a and b, and its values at the points of a cell, [points_b,
/// points_a], times what the integrals over the other directions make of it in cells of mean width.
struct PictureMode {
  int number;
  std::vector<double> values;
};

std::vector<PictureMode> picture_modes(const PhaseBasis& basis, const PhaseGrid& grid, int a, int b,
                                       int points_a, int points_b) {
  double factor = 1;
  for (int d = 0; d < basis.dim(); ++d)
    if (d != a && d != b)
      factor *= std::sqrt(0.5) * (d < grid.cdim ? 1.0 / grid.cells[d] : grid.mean_width(d));
  std::vector<PictureMode> result;
  for (int number = 0; number < basis.size(); ++number) {
    const auto& mode = basis.mode(number);
    bool constant = true;
    for (int d = 0; d < basis.dim(); ++d) constant = constant && (d == a || d == b || mode[d] == 0);
    if (!constant) continue;
    PictureMode one{number, {}};
    for (int j = 0; j < points_b; ++j)
      for (int i = 0; i < points_a; ++i)
        one.values.push_back(factor * legendre(mode[a], part_centre(i, points_a)) *
                             legendre(mode[b], part_centre(j, points_b)));
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace

std::vector<double> point_coordinates(const PhaseGrid& grid, int d, int n) {
  std::vector<double> result;
  for (int i = 0; i < grid.cells[d] * n; ++i)
    result.push_back(grid.centre(d, i / n) + 0.5 * grid.width(d, i / n) * part_centre(i % n, n));
  return result;
}

std::vector<double> field_points(const Decomposition& decomposition, const PhaseGrid& grid, const Basis& conf,
                                 const ConfField& field, int component, int n) {
  Exec().fence();
  const auto block = decomposition.block(grid);
  const auto points = cell_points(block, conf, field, component, n);
  const auto exchange = conf_rows(decomposition, grid, points, RowExchange::Owner::root);
  const auto rows = exchange.collect(give_modes(block, points));
  std::vector<double> result(rows.size());
  const std::size_t n_points = points.extent(2);
  for (std::size_t k = 0; k < rows.size(); ++k)
    result[place_x_fastest(grid, n, k / n_points, k % n_points)] = rows[k];
  return result;
}

PhasePicture phase_picture(const Decomposition& decomposition, const PhaseBasis& basis, const Distribution& f,
                           int a, int b, int points_a, int points_b) {
  Exec().fence();
  const auto& block = f.block;
  const auto& grid = block.grid;
  PhasePicture picture{grid.cells[a] * points_a, grid.cells[b] * points_b, {}};
  picture.values.resize(std::int64_t{picture.n_a} * picture.n_b);
  const auto modes = picture_modes(basis, grid, a, b, points_a, points_b);
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last) {
        const auto cell = global_cell(block, conf, row, last);
        double width = 1;  // of the directions integrated over, relative to the mean
        for (int d = grid.cdim; d < grid.dim(); ++d)
          if (d != a && d != b) width *= grid.relative_width(d, cell[d]);
        double* const corner =
            &picture.values[std::int64_t{cell[b] * points_b} * picture.n_a + cell[a] * points_a];
        for (const auto& mode : modes)
          for (int j = 0; j < points_b; ++j)
            for (int i = 0; i < points_a; ++i)
              corner[std::int64_t{j} * picture.n_a + i] +=
                  width * f.at(conf, row, last, mode.number) * mode.values[j * points_a + i];
      }
  decomposition.comm().reduce(std::span(picture.values), Comm::Reduction::sum);
  return picture;
}

}  // namespace quintet::kinetics
