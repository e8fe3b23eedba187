#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "physics/kinetics/basis/legendre.hpp"
#include "vlasov_operator_case.hpp"

/// The operator against a plain twin that integrates everything by Gauss quadrature of sufficient order.
namespace quintet::kinetics {
namespace {

/// Gauss-Legendre nodes and weights by Newton.
void gauss(int n, std::vector<double>& x, std::vector<double>& w) {
  for (int i = 0; i < n; ++i) {
    double z = std::cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 0;
    for (int it = 0; it < 50; ++it) {
      const double p = legendre(n, z) / std::sqrt(n + 0.5);
      slope = legendre_slope(n, z) / std::sqrt(n + 0.5);
      z -= p / slope;
    }
    x.push_back(z);
    w.push_back(2 / ((1 - z * z) * slope * slope));
  }
}

class Twin {
 public:
  Twin(const OperatorCase& c, Flux flux) : c_(c), flux_(flux), dim_(c.block.grid.dim()) {
    gauss((3 * std::max(c.basis.order(), c.basis.family() == Family::hybrid ? 2 : 1) + 3) / 2, x_, w_);
  }

  /// R(f) of one cell given by its indices in all directions.
  [[nodiscard]] std::vector<double> rate(const std::array<int, 6>& cell) const {
    std::vector<double> result(c_.basis.size(), 0.0);
    over_nodes(dim_, [&](std::array<double, 6> xi, double weight) {
      const double f = evaluate(cell, xi);
      for (int d = 0; d < dim_; ++d) {
        const double flux = speed(cell, xi, d) * f * weight * 2 / c_.block.grid.width(d);
        for (int m = 0; m < c_.basis.size(); ++m) result[m] += flux * slope(m, xi, d);
      }
    });
    for (int d = 0; d < dim_; ++d)
      for (const int side : {-1, 1}) face(cell, d, side, result);
    return result;
  }

 private:
  void over_nodes(int dim, const std::function<void(std::array<double, 6>, double)>& body) const {
    const int n = x_.size();
    int total = 1;
    for (int d = 0; d < dim; ++d) total *= n;
    for (int number = 0; number < total; ++number) {
      std::array<double, 6> xi{};
      double weight = 1;
      for (int d = 0, rest = number; d < dim; ++d, rest /= n) {
        xi[d] = x_[rest % n];
        weight *= w_[rest % n];
      }
      body(xi, weight);
    }
  }
  [[nodiscard]] double slope(int m, const std::array<double, 6>& xi, int direction) const {
    double product = 1;
    for (int d = 0; d < dim_; ++d) {
      const int k = c_.basis.mode(m)[d];
      product *= d == direction ? legendre_slope(k, xi[d]) : legendre(k, xi[d]);
    }
    return product;
  }
  [[nodiscard]] int conf_of(const std::array<int, 6>& cell) const {
    return c_.block.conf_number({cell[0], cell[1], cell[2]});
  }
  [[nodiscard]] double evaluate(const std::array<int, 6>& cell, const std::array<double, 6>& xi) const {
    const int cdim = c_.basis.cdim();
    std::array<int, 3> row{};
    for (int d = cdim; d < dim_ - 1; ++d) row[d - cdim] = cell[d];
    double sum = 0;
    for (int m = 0; m < c_.basis.size(); ++m)
      sum += c_.f.at(conf_of(cell), c_.block.row_number(row), cell[dim_ - 1], m) * c_.basis.value(m, xi);
    return sum;
  }
  /// v_d in x, (A + v x B)_d in v.
  [[nodiscard]] double speed(const std::array<int, 6>& cell, const std::array<double, 6>& xi,
                             int direction) const {
    const int cdim = c_.basis.cdim();
    double v[3] = {};
    for (int d = cdim; d < dim_; ++d) {
      const std::size_t i = d;
      v[d - cdim] = c_.block.grid.centre(d, cell[i]) + 0.5 * c_.block.grid.width(d) * xi[i];
    }
    if (direction < cdim) return v[direction];
    double field[6] = {};
    for (int k = 0; k < 6; ++k)
      for (int m = 0; m < c_.basis.conf().size(); ++m)
        field[k] += c_.acceleration(conf_of(cell), k, m) * c_.basis.conf().value(m, xi);
    const int d = direction - cdim, e = (d + 1) % 3, g = (d + 2) % 3;
    return field[d] + v[e] * field[3 + g] - v[g] * field[3 + e];
  }
  void face(const std::array<int, 6>& cell, int d, int side, std::vector<double>& result) const {
    const std::size_t at = d;
    auto other = cell;
    other[at] += side;
    const int n = c_.block.grid.cells[at];
    if (d >= c_.basis.cdim() && (other[at] < 0 || other[at] >= n)) return;  // zero flux
    other[at] = (other[at] + n) % n;
    over_nodes(dim_ - 1, [&](std::array<double, 6> nodes, double weight) {
      std::array<double, 6> xi{};
      for (int e = 0, k = 0; e < dim_; ++e)
        if (e != d) xi[e] = nodes[k++];
      auto there = xi;
      xi[at] = side;
      there[at] = -side;
      const double own = evaluate(cell, xi), beyond = evaluate(other, there), a = speed(cell, xi, d);
      const double left = side > 0 ? own : beyond, right = side > 0 ? beyond : own;
      const double flux = flux_ == Flux::central ? 0.5 * a * (left + right) : a > 0 ? a * left : a * right;
      for (int m = 0; m < c_.basis.size(); ++m)
        result[m] -= side * flux * weight * 2 / c_.block.grid.width(d) * c_.basis.value(m, xi);
    });
  }

  const OperatorCase& c_;
  Flux flux_;
  int dim_;
  std::vector<double> x_, w_;
};

struct Setting {
  int cdim, vdim, order;
  Family family;
};

void compare(const Setting& s, Flux flux, int every) {
  SCOPED_TRACE(std::to_string(s.cdim) + "x" + std::to_string(s.vdim) + "v " + name(s.family) + " p" +
               std::to_string(s.order));
  const auto c = make_operator_case(s.cdim, s.vdim, s.order, s.family, flux == Flux::upwind);
  const Twin twin(c, flux);
  const auto vlasov = VlasovOperator::make(c.basis, c.block, flux, {});
  Distribution out("out", c.block, c.basis.size());

  vlasov->apply(Exec(), {.keep = 0, .advance = 1, .dt = 1}, c.f, {}, c.acceleration, out, {});

  int number = 0;
  double greatest = 0, error = 0;
  for (int conf = 0; conf < c.block.n_conf(); ++conf)
    for (int row = 0; row < c.block.n_rows(); ++row)
      for (int j = 0; j < c.block.n_last(); ++j) {
        if (number++ % every != 0) continue;
        std::array<int, 6> cell{};
        const auto x = c.block.conf_index(conf), v = c.block.row_index(row);
        for (int d = 0; d < s.cdim; ++d) cell[d] = x[d];
        for (int d = 0; d + 1 < s.vdim; ++d) cell[s.cdim + d] = v[d];
        cell[s.cdim + s.vdim - 1] = j;
        const auto expected = twin.rate(cell);
        for (int m = 0; m < c.basis.size(); ++m) {
          const double rate = out.at(conf, row, j, m) - c.f.at(conf, row, j, m);
          greatest = std::max(greatest, std::abs(expected[m]));
          error = std::max(error, std::abs(rate - expected[m]));
        }
      }
  EXPECT_GT(greatest, 1);
  EXPECT_LT(error, 2e-13 * greatest);
}

TEST(VlasovOperator, central_flux_equals_quadrature_in_one_dimension) {
  for (const int vdim : {1, 2})
    for (const int order : {1, 2, 3})
      for (const auto family : {Family::serendipity, Family::tensor})
        compare({1, vdim, order, family}, Flux::central, vdim == 1 ? 1 : 7);
  compare({1, 1, 1, Family::hybrid}, Flux::central, 1);
  compare({1, 2, 1, Family::hybrid}, Flux::central, 7);
}

TEST(VlasovOperator, central_flux_equals_quadrature_in_four_dimensions) {
  for (const int cdim : {1, 2})
    for (const auto& [order, family] : {std::pair{1, Family::serendipity},
                                        {2, Family::serendipity},
                                        {2, Family::tensor},
                                        {1, Family::hybrid}})
      compare({cdim, 4 - cdim, order, family}, Flux::central, 41);
}

TEST(VlasovOperator, central_flux_equals_quadrature_in_five_and_six_dimensions) {
  for (const auto& [order, family] :
       {std::pair{1, Family::serendipity}, {2, Family::serendipity}, {1, Family::hybrid}})
    compare({2, 3, order, family}, Flux::central, 131);
  compare({3, 3, 1, Family::serendipity}, Flux::central, 211);
}

TEST(VlasovOperator, upwind_flux_equals_quadrature_where_the_acceleration_keeps_its_sign) {
  for (const int order : {1, 2, 3}) compare({1, 1, order, Family::serendipity}, Flux::upwind, 1);
  compare({1, 2, 2, Family::serendipity}, Flux::upwind, 7);
  compare({1, 3, 2, Family::serendipity}, Flux::upwind, 41);
  compare({2, 2, 2, Family::tensor}, Flux::upwind, 41);
  compare({2, 3, 2, Family::serendipity}, Flux::upwind, 301);
}

}  // namespace
}  // namespace quintet::kinetics
