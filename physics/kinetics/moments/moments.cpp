#include "physics/kinetics/moments/moments.hpp"

#include <array>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kinetics/moments/moment_sweep.hpp"

namespace quintet::kinetics {

namespace {

constexpr int lanes = PhaseBlock::lanes;

/// v_0^q_0 v_1^q_1 v_2^q_2.
std::array<Functional, 3> monomial(const std::array<int, 3>& q) {
  const auto power = [](int n) { return static_cast<Functional>(static_cast<int>(Functional::v0) + n); };
  return {power(q[0]), power(q[1]), power(q[2])};
}

/// v_i v_j ... for the directions named.
std::array<Functional, 3> product(std::initializer_list<int> directions) {
  std::array<int, 3> q{};
  for (const int d : directions) ++q[d];
  return monomial(q);
}

std::vector<FunctionalSum> components(Moment moment, int vdim) {
  std::vector<FunctionalSum> result;
  switch (moment) {
    case Moment::m0:
      return {{product({})}};
    case Moment::m1:
      for (int i = 0; i < vdim; ++i) result.push_back({product({i})});
      return result;
    case Moment::m2:
      result.emplace_back();
      for (int j = 0; j < vdim; ++j) result[0].push_back(product({j, j}));
      return result;
    case Moment::m3:
      for (int i = 0; i < vdim; ++i) {
        result.emplace_back();
        for (int j = 0; j < vdim; ++j) result.back().push_back(product({j, j, i}));
      }
      return result;
    case Moment::m2_tensor:
      for (int i = 0; i < vdim; ++i)
        for (int j = i; j < vdim; ++j) result.push_back({product({i, j})});
      return result;
  }
  throw InternalError("a moment without components");
}

/// Sums over one configuration cell, of modes: f_0 of each cell, f^2.
PhaseIntegrals cell_integrals(const Distribution& f, int conf) {
  PhaseIntegrals result;
  result.least_conf = conf;
  result.least_mean = HUGE_VAL;
  result.greatest_mean = -HUGE_VAL;
  for (int row = 0; row < f.block.n_rows(); ++row)
    for (int p = 0; p < f.block.n_packs(); ++p) {
      const double* cells = f.pack(conf, row, p);
      const auto volume = relative_volumes(f.block, row, p);
      Pack<double> square{};
      for (int m = 0; m < f.n_modes; ++m) square += load(cells + m * lanes) * load(cells + m * lanes);
      result.l2 += horizontal_sum<double>(load(volume.data()) * square);
      for (int lane = 0; lane < lanes && p * lanes + lane < f.block.n_last(); ++lane) {
        const double mean = cells[lane];
        result.particles += volume[lane] * mean;
        result.greatest_mean = std::fmax(result.greatest_mean, mean);
        if (mean < result.least_mean || std::isnan(mean)) {
          result.least_mean = mean;
          result.least_row = row;
          result.least_last = p * lanes + lane;
        }
      }
    }
  return result;
}

}  // namespace

int n_components(Moment moment, int vdim) {
  switch (moment) {
    case Moment::m0:
    case Moment::m2:
      return 1;
    case Moment::m1:
    case Moment::m3:
      return vdim;
    case Moment::m2_tensor:
      return vdim * (vdim + 1) / 2;
  }
  throw InternalError("a moment without components");
}

void moments(const Exec& exec, const PhaseBasis& basis, const Distribution& f, Moment moment,
             const ConfField& out, int first) {
  MomentSweep(basis, f.block, components(moment, basis.vdim())).run(exec, f, out, first);
}

PhaseIntegrals phase_integrals(const Exec& exec, const PhaseBasis& basis, const Distribution& f) {
  const int n_conf = f.block.n_conf();
  std::vector<PhaseIntegrals> cells(n_conf);
  Kokkos::parallel_for("kinetics::phase_integrals", Kokkos::RangePolicy<Exec>(exec, 0, n_conf),
                       [&cells, &f](int conf) { cells[conf] = cell_integrals(f, conf); });
  exec.fence();
  PhaseIntegrals total = cells[0];
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const bool lower = cells[i].least_mean < total.least_mean || std::isnan(cells[i].least_mean);
    PhaseIntegrals sum = lower ? cells[i] : total;
    sum.particles = total.particles + cells[i].particles;
    sum.l2 = total.l2 + cells[i].l2;
    sum.greatest_mean = std::fmax(total.greatest_mean, cells[i].greatest_mean);
    total = sum;
  }
  // phi_0 = 1/sqrt 2 in each direction; a cell is (dz/2)^dim times the unit cell.
  const double mean = std::pow(0.5, 0.5 * basis.dim());
  const double volume = f.block.grid.conf_cell_volume() * f.block.grid.mean_velocity_cell_volume();
  total.particles *= mean * volume;
  total.l2 *= volume * std::pow(0.5, basis.dim());
  total.least_mean *= mean;
  total.greatest_mean *= mean;
  return total;
}

}  // namespace quintet::kinetics
