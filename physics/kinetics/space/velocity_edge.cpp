#include "physics/kinetics/space/velocity_edge.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "io/parallel/comm.hpp"

namespace quintet::kinetics {

namespace {

/// Ends of velocity space: (direction, side) is number 2 direction + side.
constexpr int n_ends = 6;

/// Side of the velocity box at which cell i (of this rank) of velocity direction d lies, by its two bits.
unsigned ends_of(const PhaseBlock& block, int d, int i) {
  const auto e = block.grid.cdim + d;
  const int global = block.begin[e] + i;
  return unsigned(global == 0) | (unsigned(global == block.grid.cells[e] - 1) << 1U);
}

void add(VelocityEndSums& sums, int d, unsigned ends, double value) {
  for (int side = 0; side < 2; ++side)
    if ((ends >> unsigned(side) & 1U) != 0) sums[2 * d + side] += value;
}

/// Sums of |f_0| (times the relative volume) over the outermost velocity cells of one configuration cell.
VelocityEndSums end_sums(const Distribution& f, int conf) {
  const PhaseBlock& block = f.block;
  const int last = block.grid.vdim - 1;
  VelocityEndSums sums{};
  for (int row = 0; row < block.n_rows(); ++row) {
    const auto index = block.row_index(row);
    const auto held = [&](int i) {  // |f_0| times the relative volume of the cell
      return relative_volumes(block, row, i / PhaseBlock::lanes)[i % PhaseBlock::lanes] *
             std::abs(f.at(conf, row, i, 0));
    };
    for (const int i : {0, block.n_last() - 1}) {
      add(sums, last, ends_of(block, last, i), held(i));
      if (block.n_last() == 1) break;
    }
    double whole = -1;  // of the row, summed where it is wanted
    for (int d = 0; d < last; ++d) {
      const unsigned ends = ends_of(block, d, index[d]);
      if (ends == 0) continue;
      if (whole < 0) {
        whole = 0;
        for (int i = 0; i < block.n_last(); ++i) whole += held(i);
      }
      add(sums, d, ends, whole);
    }
  }
  return sums;
}

}  // namespace

std::vector<VelocityEndSums> velocity_end_sums(const Distribution& f) {
  std::vector<VelocityEndSums> sums;
  for (int conf = 0; conf < f.block.n_conf(); ++conf) sums.push_back(end_sums(f, conf));
  return sums;
}

VelocityEndSums ends_in_grid(const PhaseBlock& block, const VelocityEndSums& of_block) {
  VelocityEndSums sums{};
  for (int d = 0; d < block.grid.vdim; ++d)
    for (int side = 0; side < 2; ++side) {
      const int cell = side == 0 ? 0 : block.extent[block.grid.cdim + d] - 1;
      if ((ends_of(block, d, cell) >> unsigned(side) & 1U) != 0) sums[2 * d + side] = of_block[2 * d + side];
    }
  return sums;
}

VelocityEdge fullest_velocity_edge(const Decomposition& decomposition, const PhaseBasis& basis,
                                   const Distribution& f, double particles) {
  return fullest_velocity_edge(decomposition, basis, f.block, velocity_end_sums(f), particles);
}

VelocityEdge fullest_velocity_edge(const Decomposition& decomposition, const PhaseBasis& basis,
                                   const PhaseBlock& block, const std::vector<VelocityEndSums>& of_cells,
                                   double particles) {
  const PhaseGrid& grid = block.grid;
  std::vector<double> sums;
  for (const auto& of : of_cells) sums.insert(sums.end(), of.begin(), of.end());
  decomposition.velocity_comm().reduce(std::span<double>(sums), Comm::Reduction::sum);

  // A cell's mean is f_0 2^(-dim/2); its particles over those that an average configuration cell holds.
  double cells = 1;
  for (int d = 0; d < grid.cdim; ++d) cells *= grid.cells[d];
  const double scale = std::pow(0.5, 0.5 * basis.dim()) * grid.conf_cell_volume() *
                       grid.mean_velocity_cell_volume() * cells / particles;
  const auto greatest = std::max_element(sums.begin(), sums.end()) - sums.begin();
  const auto index = block.conf_index(greatest / n_ends);
  VelocityEdge here{
      scale * sums[greatest], static_cast<int>(greatest % n_ends) / 2, static_cast<int>(greatest % 2), {}};
  for (int d = 0; d < grid.cdim; ++d) here.place[d] = grid.centre(d, block.begin[d] + index[d]);
  const auto all = decomposition.comm().all_gather(here);
  return *std::max_element(all.begin(), all.end(),
                           [](const auto& a, const auto& b) { return a.share < b.share; });
}

}  // namespace quintet::kinetics
