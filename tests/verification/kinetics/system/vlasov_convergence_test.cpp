#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"

/// Order of convergence of the advection, of the full system, and of the energy error in dt.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

Species make_species(int cdim, int vdim, int nx, int nv) {
  Species species;
  species.grid.cdim = cdim;
  species.grid.vdim = vdim;
  for (std::size_t d = 0; d < static_cast<std::size_t>(cdim + vdim); ++d) {
    const bool x = d < static_cast<std::size_t>(cdim);
    species.grid.lower[d] = x ? 0 : -3;
    species.grid.upper[d] = x ? 2 * pi : 3;
    species.grid.cells[d] = x ? nx : nv;
    species.grid.periodic[d] = x;
  }
  return species;
}

/// L2 norm of f - exact over phase space, by Gauss quadrature with order + 3 points.
double l2_error(const PhaseBasis& basis, const Distribution& f, const PointFunction& exact) {
  const auto& rule = gauss_rule(basis.order() + 3);
  const auto& grid = f.block.grid;
  const int n = rule.node.size(), dim = grid.dim();
  int n_nodes = 1;
  for (int d = 0; d < dim; ++d) n_nodes *= n;
  double sum = 0;
  for (int conf = 0; conf < f.block.n_conf(); ++conf)
    for (int row = 0; row < f.block.n_rows(); ++row)
      for (int j = 0; j < f.block.n_last(); ++j)
        for (int node = 0; node < n_nodes; ++node) {
          std::array<double, 6> xi{}, z{};
          double weight = 1;
          for (int d = 0, rest = node; d < dim; ++d, rest /= n) {
            const std::size_t i = d, q = rest % n;
            const int cell = d < grid.cdim ? f.block.conf_index(conf)[i]
                             : d + 1 < dim ? f.block.row_index(row)[i - grid.cdim]
                                           : j;
            xi[i] = rule.node[q];
            z[i] = grid.centre(d, cell) + 0.5 * grid.width(d) * xi[i];
            weight *= 0.5 * grid.width(d) * rule.weight[q];
          }
          double value = 0;
          for (int m = 0; m < basis.size(); ++m) value += f.at(conf, row, j, m) * basis.value(m, xi);
          const double error = value - exact(std::span<const double>(z.data(), dim));
          sum += weight * error * error;
        }
  return std::sqrt(sum);
}

/// Free streaming f(x, v, t) = g(x - v t, v), and rotation by a uniform B as well where vdim = 2.
double streaming_error(int cdim, int vdim, int order, Family family, int n) {
  const Exec exec;
  const PhaseBasis basis(cdim, vdim, order, family);
  SystemOptions options;
  options.field = FieldModel::none;
  options.cfl = 0.3;
  VlasovSystem system(Comm::self(), basis, {make_species(cdim, vdim, n, n)}, options);
  const auto start = [&](std::span<const double> z) {
    double f = 1;
    for (int d = 0; d < cdim; ++d) f += 0.5 * std::sin(z[d] + 0.3);
    for (int d = 0; d < vdim; ++d) {
      const double v = z[cdim + d];
      f *= std::exp(-0.25 * v * v);
    }
    return f;
  };
  project_phase(basis, start, system.f(0), "f", order + 3);
  system.start(exec, 0);
  const double t_end = 0.5;
  while (system.time() < t_end)
    system.advance(exec, std::min(system.stable_dt(exec), t_end - system.time() + 1e-300));
  return l2_error(basis, system.f(0), [&](std::span<const double> z) {
    std::array<double, 6> back{};
    for (std::size_t d = 0; d < z.size(); ++d) back[d] = z[d];
    for (int d = 0; d < cdim; ++d) back[d] -= z[cdim + d] * t_end;
    return start(std::span<const double>(back.data(), z.size()));
  });
}

TEST(VlasovConvergence, free_streaming_converges_with_order_p_plus_1) {
  for (const auto family : {Family::serendipity, Family::tensor})
    for (const int order : {1, 2, 3}) {
      const double coarse = streaming_error(1, 1, order, family, 12),
                   fine = streaming_error(1, 1, order, family, 24);
      EXPECT_GT(std::log2(coarse / fine), order + 0.75) << name(family) << " p" << order;
    }
  EXPECT_GT(std::log2(streaming_error(2, 2, 2, Family::serendipity, 4) /
                      streaming_error(2, 2, 2, Family::serendipity, 8)),
            2.5);
}

/// Landau damping of a strong perturbation: M2 at t = 1 by grid.
double nonlinear_energy(int order, int n, FieldModel model) {
  const Exec exec;
  const PhaseBasis basis(1, 1, order, Family::serendipity);
  auto species = make_species(1, 1, n, 2 * n);
  species.grid.lower[1] = -6;
  species.grid.upper[1] = 6;
  SystemOptions options;
  options.field = model;
  options.cfl = 0.3;
  options.background_charge = 1;
  VlasovSystem system(Comm::self(), basis, {species}, options);
  project_phase(
      basis,
      [](std::span<const double> z) {
        return (1 + 0.5 * std::cos(z[0])) * std::exp(-0.5 * z[1] * z[1]) / std::sqrt(2 * pi);
      },
      system.f(0), "f", order + 3);
  if (model == FieldModel::maxwell)
    project_conf(
        system.f(0).block, basis.conf(), [](std::span<const double> x) { return -0.5 * std::sin(x[0]); },
        system.field(), field_ex, "E");
  system.start(exec, 0);
  while (system.time() < 1)
    system.advance(exec, std::min(system.stable_dt(exec), 1 - system.time() + 1e-300));
  return system.sample(exec).field[field_ex];
}

TEST(VlasovConvergence, the_field_energy_of_the_full_system_converges) {
  for (const auto model : {FieldModel::poisson, FieldModel::maxwell})
    for (const int order : {1, 2}) {
      const double a = nonlinear_energy(order, 12, model), b = nonlinear_energy(order, 24, model),
                   c = nonlinear_energy(order, 48, model);
      EXPECT_GT(std::log2(std::abs(a - b) / std::abs(b - c)), order + 0.8) << "p" << order;
    }
  // Ampere's and Gauss's law give the same field.
  EXPECT_NEAR(nonlinear_energy(2, 32, FieldModel::poisson), nonlinear_energy(2, 32, FieldModel::maxwell),
              1e-5);
}

double energy_drift(double dt, Family family, int order) {
  const Exec exec;
  const PhaseBasis basis(1, 1, order, family);
  auto species = make_species(1, 1, 8, 24);
  species.grid.lower[1] = -6;
  species.grid.upper[1] = 6;
  SystemOptions options;
  options.background_charge = 1;
  VlasovSystem system(Comm::self(), basis, {species}, options);
  project_phase(
      basis,
      [](std::span<const double> z) {
        return (1 + 0.5 * std::cos(z[0])) * std::exp(-0.5 * z[1] * z[1]) / std::sqrt(2 * pi);
      },
      system.f(0), "f");
  project_conf(
      system.f(0).block, basis.conf(), [](std::span<const double> x) { return -0.5 * std::sin(x[0]); },
      system.field(), field_ex, "E");
  system.start(exec, 0);
  const double before = system.sample(exec).energy();
  for (int i = 0; i < std::lround(1 / dt); ++i) system.advance(exec, dt);
  return std::abs(system.sample(exec).energy() - before);
}

TEST(VlasovConvergence, the_energy_error_is_of_third_order_in_dt) {
  for (const auto& [family, order] :
       {std::pair{Family::serendipity, 2}, {Family::hybrid, 1}, {Family::tensor, 2}}) {
    const double coarse = energy_drift(1.0 / 40, family, order), fine = energy_drift(1.0 / 80, family, order);
    EXPECT_LT(coarse, 1e-4);
    EXPECT_NEAR(std::log2(coarse / fine), 3, 0.3) << name(family);
  }
}

}  // namespace
}  // namespace quintet::kinetics
