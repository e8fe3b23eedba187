/// write_gkyl_samples DIR: .gkyl files of several bases, and beside each the values that a reader must find
/// by interpolation, as raw doubles: `NAME.values`, row-major over n = p + 1 points a cell and direction (the
/// centres of n equal parts of a cell), summed from the expansion itself. `NAME` one a line on standard
/// output.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kinetics/files/gkyl_writer.hpp"
#include "tests/unit/kinetics/files/files_support.hpp"

namespace quintet::kinetics {
namespace {

/// Calls visit(cell indices, place within the cell) for all points of a grid, row-major.
template <class Visit>
void visit_points(const PhaseGrid& grid, int dim, int n, const Visit& visit) {
  std::array<int, 6> cell{}, point{};
  std::array<double, 6> xi{};
  const auto total = [&](int d) { return grid.cells[d] * n; };
  for (;;) {
    for (int d = 0; d < dim; ++d) {
      cell[d] = point[d] / n;
      xi[d] = -1 + (2.0 * (point[d] % n) + 1) / n;
    }
    visit(cell, xi);
    int d = dim - 1;
    while (d >= 0 && ++point[d] == total(d)) point[d--] = 0;
    if (d < 0) return;
  }
}

void write_values(const std::string& path, const std::vector<double>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), 8 * values.size());
}

void sample(const std::string& folder, const std::string& name, const PhaseBasis& basis, int n) {
  auto grid = testing::odd_grid(basis.cdim(), basis.vdim());
  for (int d = 0; d < grid.dim(); ++d) grid.cells[d] = d % 2 == 0 ? 2 : 3;
  const Decomposition decomposition(Comm::self(), grid, {});
  const auto f = testing::numbered(decomposition, grid, basis);
  const auto field = testing::numbered_field(f.block, 8, basis.conf().size());
  const GkylWriter writer(decomposition, basis, folder + "/" + name);
  writer.write("elc", 0, 1.25, f);
  writer.write("field", 0, 1.25, grid, field);

  std::vector<double> values;
  visit_points(grid, grid.dim(), n, [&](const auto& cell, const auto& xi) {
    const int conf = f.block.conf_number({cell[0], cell[1], cell[2]});
    std::array<int, 3> row{};
    for (int d = 0; d < grid.vdim - 1; ++d) row[d] = cell[grid.cdim + d];
    double sum = 0;
    for (int i = 0; i < basis.size(); ++i)
      sum += f.at(conf, f.block.row_number(row), cell[grid.dim() - 1], i) * basis.value(i, xi);
    values.push_back(sum);
  });
  write_values(folder + "/" + name + "-elc_0.values", values);
  values.clear();
  visit_points(grid, grid.cdim, basis.order() + 1, [&](const auto& cell, const auto& xi) {
    const int conf = f.block.conf_number({cell[0], cell[1], cell[2]});
    for (int c = 0; c < 8; ++c) {
      double sum = 0;
      for (int i = 0; i < basis.conf().size(); ++i) sum += field(conf, c, i) * basis.conf().value(i, xi);
      values.push_back(sum);
    }
  });
  write_values(folder + "/" + name + "-field_0.values", values);
  std::printf("%s\n", name.c_str());
}

void series(const std::string& folder) {
  const PhaseBasis basis(1, 1, 1, Family::serendipity);
  const Decomposition decomposition(Comm::self(), testing::odd_grid(1, 1), {});
  GkylWriter writer(decomposition, basis, folder + "/series");
  for (int i = 0; i < 10; ++i) {
    writer.append("field-energy", 0.5 * i, std::array{1.0 * i, std::exp(-0.1 * i)});
    if (i % 4 == 3) writer.flush();
  }
  writer.flush();
}

}  // namespace
}  // namespace quintet::kinetics

int main(int argc, char** argv) {
  using namespace quintet::kinetics;
  const quintet::Runtime runtime(argc, argv, 1, {});
  const std::string folder = argc > 1 ? argv[1] : ".";
  sample(folder, "ser_p2_1x1v", {1, 1, 2, Family::serendipity}, 3);
  sample(folder, "ser_p3_1x1v", {1, 1, 3, Family::serendipity}, 4);
  sample(folder, "tensor_p3_1x1v", {1, 1, 3, Family::tensor}, 4);
  sample(folder, "hybrid_1x1v", {1, 1, 1, Family::hybrid}, 3);
  sample(folder, "ser_p2_1x2v", {1, 2, 2, Family::serendipity}, 3);
  sample(folder, "tensor_p2_1x2v", {1, 2, 2, Family::tensor}, 3);
  sample(folder, "hybrid_1x2v", {1, 2, 1, Family::hybrid}, 3);
  sample(folder, "ser_p1_2x2v", {2, 2, 1, Family::serendipity}, 2);
  if (argc > 2) {  // slow to interpolate
    sample(folder, "ser_p3_1x2v", {1, 2, 3, Family::serendipity}, 4);
    sample(folder, "tensor_p3_1x2v", {1, 2, 3, Family::tensor}, 4);
    sample(folder, "hybrid_2x2v", {2, 2, 1, Family::hybrid}, 3);
    sample(folder, "ser_p2_1x3v", {1, 3, 2, Family::serendipity}, 3);
    sample(folder, "ser_p2_2x2v", {2, 2, 2, Family::serendipity}, 3);
    sample(folder, "tensor_p2_2x2v", {2, 2, 2, Family::tensor}, 3);
    sample(folder, "tensor_p1_2x3v", {2, 3, 1, Family::tensor}, 2);
    sample(folder, "ser_p1_3x3v", {3, 3, 1, Family::serendipity}, 2);
    sample(folder, "ser_p2_2x3v", {2, 3, 2, Family::serendipity}, 3);
    sample(folder, "hybrid_2x3v", {2, 3, 1, Family::hybrid}, 3);
  }
  series(folder);
}
