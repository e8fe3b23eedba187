#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "physics/kinetics/initial/projection.hpp"

/// Functions that the projections share.
namespace quintet::kinetics {

/// Products of Gauss nodes on [-1, 1]^dim, the last direction fastest.
struct TensorNodes {
  int dim = 0;
  std::vector<std::array<double, 6>> xi;
  std::vector<double> weight;

  TensorNodes() = default;
  explicit TensorNodes(const std::vector<int>& per_direction);
  [[nodiscard]] int size() const { return weight.size(); }
  [[nodiscard]] std::span<const double> at(int q) const { return xi[q]; }
};

/// Global indices of a local cell of phase space.
[[nodiscard]] std::array<int, 6> global_cell(const PhaseBlock& block, int conf, int row, int last);
/// Highest degree in one velocity direction.
[[nodiscard]] int velocity_degree(const PhaseBasis& basis);
/// "x = (1, 2), v = (3)" for messages.
[[nodiscard]] std::string place_text(const PhaseGrid& grid, std::span<const double> z);
/// function(z); throws InputError with `what` and the place if that is not finite.
[[nodiscard]] double finite_value(const PointFunction& function, const PhaseGrid& grid,
                                  std::span<const double> z, const std::string& what);

}  // namespace quintet::kinetics
