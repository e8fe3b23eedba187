#include "physics/kinetics/advection/wall_emission.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/basis/legendre.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::kinetics {

namespace {

constexpr int lanes = PhaseBlock::lanes;
const double first_moment = 1 / std::sqrt(3.0);  // int xi phi_0 phi_1 dxi

/// int exp(-v^2/(2 t^2))/t phi_k dxi over a cell, k = 0 ... n_degrees - 1.
std::vector<double> project_gaussian(double centre, double half, double thermal_speed, int n_degrees) {
  const auto& rule = gauss_rule(12);
  std::vector<double> result(n_degrees, 0.0);
  for (std::size_t q = 0; q < rule.node.size(); ++q) {
    const double w = (centre + half * rule.node[q]) / thermal_speed;
    const double value = rule.weight[q] * std::exp(-0.5 * w * w) / thermal_speed;
    for (int k = 0; k < n_degrees; ++k) result[k] += value * legendre(k, rule.node[q]);
  }
  return result;
}

}  // namespace

WallEmission::WallEmission(const Decomposition& decomposition, const PhaseBasis& basis,
                           const PhaseBlock& block, int direction, int side, double thermal_speed,
                           const std::string& species)
    : basis_(basis),
      block_(block),
      direction_(direction),
      side_(side),
      n_faces_(block.n_conf() / block.extent[direction]),
      n_face_modes_(0),
      n_lin_(1 << (basis.cdim() - 1)) {
  for (int a = 0; a < basis.conf().size(); ++a)
    if (basis.conf().mode(a)[direction] == 0) ++n_face_modes_;
  int offset = 0;
  for (int g = 0; g < basis.n_groups(); ++g) {
    offset_.push_back(offset);
    offset += n_group(g);
  }
  offset_.push_back(offset);
  for (int d = 0; d + 1 < basis.cdim(); ++d) one_ *= std::sqrt(2.0);
  const double flux = make_shape(thermal_speed, decomposition.velocity_comm());
  QUINTET_CHECK(
      flux > 0 && std::isfinite(flux),
      "species '{}': particles of thermal speed {:.6g} cannot be emitted: the velocity grid holds none "
      "(flux {:.6g}); widen it or refine it",
      species, thermal_speed, flux);
  for (double& one : shape_) one /= flux;
}

int WallEmission::n_group(int g) const {
  return g < basis_.n_full_groups() ? n_face_modes_ : std::min(n_face_modes_, n_lin_);
}

template <class Function>
void WallEmission::for_cells(const Function& function) const {
  const int cdim = basis_.cdim(), last = basis_.vdim() - 1;
  for (int row = 0; row < block_.n_rows(); ++row) {
    const auto index = block_.row_index(row);
    for (int cell = 0; cell < block_.n_last(); ++cell) {
      const int i = direction_ == last ? cell : index[direction_];
      const int global = block_.begin[cdim + direction_] + i;
      const double v = block_.grid.centre(cdim + direction_, global);
      if (!(side_ * v < 0)) continue;
      const double volume = relative_volumes(block_, row, cell / lanes)[cell % lanes];
      function(row, cell, v, 0.5 * block_.grid.width(cdim + direction_, global), volume);
    }
  }
}

double WallEmission::make_shape(double thermal_speed, const Comm& velocity_comm) {
  const int cdim = basis_.cdim(), vdim = basis_.vdim(), n_degrees = velocity_degree(basis_) + 1;
  shape_.assign(place(basis_.n_groups(), 0, 0), 0.0);
  std::array<std::vector<std::vector<double>>, 3> factor;  // [direction][local cell][degree]
  for (int d = 0; d < vdim; ++d)
    for (int i = 0; i < block_.extent[cdim + d]; ++i)
      factor[d].push_back(project_gaussian(block_.grid.centre(cdim + d, block_.begin[cdim + d] + i),
                                           0.5 * block_.grid.width(cdim + d, block_.begin[cdim + d] + i),
                                           thermal_speed, n_degrees));
  double measure = 1;  // int phi_0 ... dv of a velocity cell of mean width
  for (int d = 0; d < vdim; ++d) measure *= block_.grid.mean_width(cdim + d) / std::sqrt(2.0);
  MultiIndex degree{};
  degree[direction_] = 1;
  const int first_degree = basis_.find_group(degree);
  std::vector<double> flux(1, 0.0);
  for_cells([&](int row, int cell, double v, double half, double volume) {
    const auto index = block_.row_index(row);
    for (int g = 0; g < basis_.n_groups(); ++g) {
      double product = 1;
      for (int d = 0; d < vdim; ++d) {
        const int i = d == vdim - 1 ? cell : index[d];
        product *= factor[d][i][basis_.group(g)[d]];
      }
      shape_[place(g, row, cell)] = product;
    }
    flux[0] -=
        side_ * measure * volume *
        (v * shape_[place(0, row, cell)] + half * first_moment * shape_[place(first_degree, row, cell)]);
  });
  if (velocity_comm.size() > 1) velocity_comm.reduce(std::span<double>(flux), Comm::Reduction::sum);
  return flux[0];
}

void WallEmission::emit(const std::vector<double>& flux, const Array<double>& out) const {
  Kokkos::deep_copy(out, 0.0);
  const auto face_size = out.size() / std::max(n_faces_, 1);
  for (int face = 0; face < n_faces_; ++face) {
    double* const begin = out.data() + std::int64_t{face} * face_size;
    const double* const from = flux.data() + face * n_face_modes_;
    for_cells([&](int row, int i, double, double, double) {
      double* const cell =
          begin + (std::int64_t{row} * block_.n_packs() + i / lanes) * offset_.back() * lanes + i % lanes;
      for (int g = 0; g < basis_.n_groups(); ++g)
        for (int a = 0; a < n_group(g); ++a)
          cell[(offset_[g] + a) * lanes] = from[a] * shape_[place(g, row, i)];
    });
  }
}

}  // namespace quintet::kinetics
