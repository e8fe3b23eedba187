#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/kinetics/basis/dense_lu.hpp"
#include "physics/kinetics/initial/maxwellian_factors.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

// With s_m = 1, v_d, v_d^2 (shifted and scaled), M the Maxwellian at the nodes and P the Gauss projection,
// the corrected one is P[M (1 + sum_m a_m(x) s_m(v))]. Its moment with s_m and the conf mode w_b is linear in
// the coefficients of a_m:
//
//     sum_q weight_q w_b(x_q) n_q [ R_m0(q) + sum_n R_mn(q) a_n(x_q) ]
//
// where R_mn(q), the moment with s_m of the projection of M s_n at the node x_q, is a product of sums along
// each velocity direction alone. So neither the matrix nor the moments need a loop over the velocity cells.

namespace quintet::kinetics {

namespace {

/// A number and where it is, to find the least over all ranks.
struct Place {
  double value;
  std::array<double, 3> x;
};

/// The place of the least value on any rank, on all. Collective.
Place least(const Comm& comm, const Place& mine) {
  const auto all = comm.all_gather(mine);
  return *std::min_element(all.begin(), all.end(),
                           [](const Place& a, const Place& b) { return a.value < b.value; });
}

class MaxwellianProjection {
 public:
  MaxwellianProjection(const Decomposition& decomposition, const PhaseBasis& basis,
                       const MaxwellianProfile& profile, const Distribution& out, const std::string& what,
                       int n_nodes)
      : decomposition_(decomposition),
        basis_(basis),
        profile_(profile),
        out_(out),
        block_(out.block),
        grid_(out.block.grid),
        what_(what),
        n_nodes_(n_nodes),
        nodes_(std::vector<int>(basis.cdim(), n_nodes > 0 ? n_nodes : basis.order() + 1)),
        factors_(nodes_.weight.size(), MaxwellianFactors(out.block, velocity_degree(basis) + 1)) {
    for (int q = 0; q < nodes_.size(); ++q)
      for (int a = 0; a < basis.conf().size(); ++a) mode_.push_back(basis.conf().value(a, nodes_.at(q)));
    functions_.vdim = basis.vdim();
  }

  void run(bool exact) {
    read_profile();
    check_box();
    if (!exact) {
      for (int conf = 0; conf < block_.n_conf(); ++conf) {
        compute_factors(conf, false);
        add(conf, std::vector<double>(nodes_.size() * functions_.size(), 0.0));
      }
      return;
    }
    sum_moments();
    solve_all();
    std::vector<double> largest(2 * block_.n_conf());
    for (int conf = 0; conf < block_.n_conf(); ++conf) {
      compute_factors(conf, true);
      const auto [mean, correction] = add(conf, corrections_[conf]);
      largest[2 * conf] = mean;
      largest[2 * conf + 1] = correction;
    }
    report(largest);
  }

 private:
  [[nodiscard]] const MaxwellianState& state(int conf, int q) const {
    return states_[conf * nodes_.size() + q];
  }
  [[nodiscard]] double mode(int q, int a) const { return mode_[q * basis_.conf().size() + a]; }

  [[nodiscard]] std::array<double, 3> position(int conf, int q) const {
    const auto cell = global_cell(block_, conf, 0, 0);
    std::array<double, 3> x{};
    for (int d = 0; d < grid_.cdim; ++d)
      x[d] = grid_.centre(d, cell[d]) + 0.5 * grid_.width(d) * nodes_.at(q)[d];
    return x;
  }
  [[nodiscard]] std::string place(const std::array<double, 3>& x) const {
    return place_text(grid_, std::span(x).first(grid_.cdim));
  }

  [[nodiscard]] MaxwellianState evaluate(const std::array<double, 3>& position) const {
    const std::span<const double> x = std::span(position).first(grid_.cdim);
    MaxwellianState result;
    result.density = finite_value(profile_.density, grid_, x, what_ + ".density");
    QUINTET_CHECK(result.density >= 0, "{}.density is {:.6g} at {}; expected 0 or more", what_,
                  result.density, place(position));
    for (int d = 0; d < grid_.vdim; ++d) {
      if (profile_.drift[d]) result.drift[d] = finite_value(profile_.drift[d], grid_, x, what_ + ".drift");
      result.thermal_speed[d] = finite_value(profile_.thermal_speed[d], grid_, x, what_ + ".thermal_speed");
      QUINTET_CHECK(result.thermal_speed[d] > 0, "{}.thermal_speed is {:.6g} at {}; expected more than 0",
                    what_, result.thermal_speed[d], place(position));
    }
    return result;
  }

  void read_profile() {
    together(decomposition_.comm(), [&] {
      for (int conf = 0; conf < block_.n_conf(); ++conf)
        for (int q = 0; q < nodes_.size(); ++q) states_.push_back(evaluate(position(conf, q)));
    });
  }

  /// Share of the density inside the velocity box.
  [[nodiscard]] double held(const MaxwellianState& state) const {
    double product = 1;
    for (int d = 0; d < grid_.vdim; ++d) {
      const double scale = std::numbers::sqrt2 * state.thermal_speed[d], drift = state.drift[d];
      product *= 0.5 * (std::erf((grid_.upper[grid_.cdim + d] - drift) / scale) -
                        std::erf((grid_.lower[grid_.cdim + d] - drift) / scale));
    }
    return product;
  }

  void check_box() const {
    Place worst{1, {}};
    for (int conf = 0; conf < block_.n_conf(); ++conf)
      for (int q = 0; q < nodes_.size(); ++q)
        if (const double share = held(state(conf, q)); state(conf, q).density > 0 && share < worst.value)
          worst = {share, position(conf, q)};
    worst = least(decomposition_.comm(), worst);
    QUINTET_CHECK(
        worst.value >= 0.5,
        "{}: the velocity box holds {:.3g} % of the Maxwellian at {}; expected nearly all: widen the box or "
        "check drift and thermal speed",
        what_, 100 * worst.value, place(worst.x));
    if (worst.value < 0.99)
      log::warning("{}: the velocity box holds {:.3g} % of the Maxwellian at {}; widen it", what_,
                   100 * worst.value, place(worst.x));
  }

  /// Reference drift and thermal speed of a configuration cell, and the greatest density.
  double set_reference(int conf) {
    double density = 0;
    for (int q = 0; q < nodes_.size(); ++q) density = std::max(density, state(conf, q).density);
    const double n = nodes_.size();
    functions_.drift = {};
    functions_.thermal_speed = {};
    for (int q = 0; q < nodes_.size(); ++q)
      for (int d = 0; d < grid_.vdim; ++d) {
        functions_.drift[d] += state(conf, q).drift[d] / n;
        functions_.thermal_speed[d] += state(conf, q).thermal_speed[d] / n;
      }
    return density;
  }

  /// Where the cells are coarse for the Maxwellian, moments that are to be exact need more nodes.
  [[nodiscard]] int velocity_nodes(int conf, bool exact) const {
    const int usual = n_nodes_ > 0 ? n_nodes_ : velocity_degree(basis_) + 1;
    return exact ? std::max<int>(usual, std::min(32.0, std::ceil(1.5 * widest(conf)))) : usual;
  }
  /// Width of the velocity cells in thermal speeds, the greatest in a configuration cell.
  [[nodiscard]] double widest(int conf) const {
    double ratio = 0;
    for (int q = 0; q < nodes_.size(); ++q)
      for (int d = 0; d < grid_.vdim; ++d)
        ratio = std::max(ratio, grid_.greatest_width(grid_.cdim + d) / state(conf, q).thermal_speed[d]);
    return ratio;
  }

  void compute_factors(int conf, bool exact) {
    set_reference(conf);
    const int n = velocity_nodes(conf, exact);
    for (int q = 0; q < nodes_.size(); ++q) factors_[q].compute(state(conf, q), functions_, n);
  }

  /// R of all configuration cells, summed over the ranks that share velocity space.
  void sum_moments() {
    const int n = functions_.size();
    for (int conf = 0; conf < block_.n_conf(); ++conf) {
      compute_factors(conf, true);
      for (const auto& factors : factors_)
        for (int most_degree = 1; most_degree <= 2; ++most_degree)
          for (int i = 0; i < n * n; ++i)
            moments_.push_back(factors.moment(i / n, i % n, functions_, most_degree));
    }
    decomposition_.velocity_comm().reduce(std::span(moments_), Comm::Reduction::sum);
  }
  /// R_mk(q) for conf mode b.
  [[nodiscard]] double moment(int conf, int q, int b, int m, int k) const {
    const int n = functions_.size(), kind = keeps_squares(b) ? 1 : 0;
    return moments_[(((conf * nodes_.size() + q) * 2 + kind) * n + m) * n + k];
  }
  /// Whether the basis holds conf mode b times v_d^2 (if it holds it at all).
  [[nodiscard]] bool keeps_squares(int b) const {
    const int square = basis_.find_group({2});
    return square < 0 || b < basis_.n_conf(square);
  }

  void solve_all() {
    together(decomposition_.comm(), [&] {
      for (int conf = 0; conf < block_.n_conf(); ++conf) corrections_.push_back(solve(conf));
    });
  }

  /// a_m(x_q), [n_nodes, n_functions].
  [[nodiscard]] std::vector<double> solve(int conf) {
    const int n_modes = basis_.conf().size(), n_functions = functions_.size(), n = n_modes * n_functions;
    std::vector<double> nodal(nodes_.size() * n_functions);
    const double greatest = set_reference(conf);
    if (greatest == 0) return nodal;
    std::vector<double> matrix(n * n), right(n);
    assemble(conf, greatest, matrix, right);
    const auto solution = refined_solution(matrix, right);
    QUINTET_CHECK(!solution.empty(),
                  "{}: velocity cells as wide as {:.3g} thermal speeds cannot hold the moments of the "
                  "Maxwellian at {}; "
                  "take smaller cells, a higher order or a tensor basis",
                  what_, widest(conf), place(position(conf, 0)));
    for (int q = 0; q < nodes_.size(); ++q)
      for (int m = 0; m < n_functions; ++m)
        for (int a = 0; a < n_modes; ++a)
          nodal[q * n_functions + m] +=
              solution[m * n_modes + a] * mode(q, a) * trial_density(conf, q, greatest);
    return nodal;
  }

  /// Weight of the correction at a node: where there is next to no density, a trace of the cell's, so that
  /// the equations keep their rank.
  [[nodiscard]] double trial_density(int conf, int q, double greatest) const {
    return std::max(state(conf, q).density, 1e-6 * greatest);
  }

  void assemble(int conf, double greatest, std::vector<double>& matrix, std::vector<double>& right) const {
    const int n_modes = basis_.conf().size(), n = n_modes * functions_.size();
    for (int q = 0; q < nodes_.size(); ++q)
      for (int i = 0; i < n; ++i) {
        const int m = i / n_modes, b = i % n_modes;
        const double test = nodes_.weight[q] * mode(q, b);
        right[i] +=
            test * state(conf, q).density * (functions_.mean(m, state(conf, q)) - moment(conf, q, b, m, 0));
        for (int j = 0; j < n; ++j)
          matrix[i * n + j] += test * mode(q, j % n_modes) * trial_density(conf, q, greatest) *
                               moment(conf, q, b, m, j / n_modes);
      }
  }

  /// The solution after two rounds of iterative refinement; empty if there is none.
  [[nodiscard]] static std::vector<double> refined_solution(const std::vector<double>& matrix,
                                                            const std::vector<double>& right) {
    const int n = right.size();
    auto lu = matrix;
    std::vector<int> pivot(right.size());
    std::vector<double> solution(right.size()), residual = right;
    if (!lu_factorise(lu.data(), pivot.data(), n, 1e-12)) return {};
    for (int round = 0; round < 3; ++round) {
      lu_solve(lu.data(), pivot.data(), residual.data(), n);
      for (std::size_t i = 0; i < right.size(); ++i) solution[i] += residual[i];
      for (int i = 0; i < n; ++i) {
        residual[i] = right[i];
        for (int j = 0; j < n; ++j) residual[i] -= matrix[i * n + j] * solution[j];
      }
    }
    return solution;
  }

  /// Values of velocity group g at node q in the velocity cell j: of the Maxwellian and of its correction.
  [[nodiscard]] std::pair<double, double> group_values(int q, int g, const std::array<int, 3>& j,
                                                       const double* correction) const {
    const auto& degrees = basis_.group(g);
    const auto& factors = factors_[q];
    double plain = 1;
    for (int d = 0; d < grid_.vdim; ++d) plain *= factors.at(d, j[d], 0, degrees[d]);
    double sum = correction[0] * plain;
    for (int d = 0; d < grid_.vdim; ++d) {
      const int l = degrees[d];
      double product = correction[1 + d] * factors.at(d, j[d], 1, l) +
                       correction[1 + grid_.vdim + d] * factors.at(d, j[d], 2, l);
      for (int other = 0; other < grid_.vdim; ++other)
        if (other != d) product *= factors.at(other, j[other], 0, degrees[other]);
      sum += product;
    }
    return {plain, sum};
  }

  /// Add one configuration cell; the greatest cell mean of the Maxwellian and of its correction.
  std::pair<double, double> add(int conf, const std::vector<double>& correction) {
    std::pair<double, double> greatest{0, 0};
    for (int row = 0; row < block_.n_rows(); ++row)
      for (int last = 0; last < block_.n_last(); ++last) {
        const auto [mean, change] = add_cell(conf, row, last, correction);
        greatest = {std::max(greatest.first, std::abs(mean)), std::max(greatest.second, std::abs(change))};
      }
    return greatest;
  }

  std::pair<double, double> add_cell(int conf, int row, int last, const std::vector<double>& correction) {
    auto j = block_.row_index(row);
    j[grid_.vdim - 1] = last;
    double* cell = out_.pack(conf, row, last / PhaseBlock::lanes) + last % PhaseBlock::lanes;
    std::pair<double, double> mean{0, 0};
    for (int q = 0; q < nodes_.size(); ++q)
      for (int g = 0; g < basis_.n_groups(); ++g) {
        const double density = state(conf, q).density;
        const auto [plain, change] = group_values(q, g, j, &correction[q * functions_.size()]);
        const double value = density * plain + change;
        for (int a = 0; a < basis_.n_conf(g); ++a)
          cell[(basis_.offset(g) + a) * PhaseBlock::lanes] += nodes_.weight[q] * mode(q, a) * value;
        if (g == 0) {
          mean.first += nodes_.weight[q] * density * plain;
          mean.second += nodes_.weight[q] * change;
        }
      }
    return mean;
  }

  /// Warn where the correction is large. `largest`: mean and correction a configuration cell.
  void report(std::vector<double>& largest) const {
    decomposition_.velocity_comm().reduce(std::span(largest), Comm::Reduction::maximum);
    Place worst{0, {}};
    for (int conf = 0; conf < block_.n_conf(); ++conf) {
      const double mean = largest[2 * conf], correction = largest[2 * conf + 1];
      if (mean > 0 && -correction / mean < worst.value) worst = {-correction / mean, position(conf, 0)};
    }
    worst = least(decomposition_.comm(), worst);
    if (worst.value < -0.2)
      log::warning(
          "{}: exact moments change the Maxwellian by up to {:.3g} % of its greatest cell mean near {}: the "
          "velocity "
          "cells are coarse for it, or the box is small",
          what_, -100 * worst.value, place(worst.x));
  }

  const Decomposition& decomposition_;
  const PhaseBasis& basis_;
  const MaxwellianProfile& profile_;
  const Distribution& out_;
  const PhaseBlock& block_;
  const PhaseGrid& grid_;
  const std::string& what_;
  int n_nodes_;
  TensorNodes nodes_;                             ///< of x
  std::vector<double> mode_;                      ///< conf modes at the nodes
  std::vector<MaxwellianState> states_;           ///< [n_conf, n_nodes]
  MomentFunctions functions_;                     ///< of the current configuration cell
  std::vector<MaxwellianFactors> factors_;        ///< of its nodes
  std::vector<double> moments_;                   ///< R [n_conf, n_nodes, 2, n_functions, n_functions]
  std::vector<std::vector<double>> corrections_;  ///< n a_m(x_q), [n_conf][n_nodes, n_functions]
};

}  // namespace

void add_maxwellian(const Decomposition& decomposition, const PhaseBasis& basis,
                    const MaxwellianProfile& profile, bool exact_moments, const Distribution& out,
                    const std::string& what, int n_nodes) {
  MaxwellianProjection(decomposition, basis, profile, out, what, n_nodes).run(exact_moments);
}

}  // namespace quintet::kinetics
