#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/basis/recovery.hpp"
#include "physics/kinetics/collisions/lenard_bernstein.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "tests/support/stretched_cells.hpp"

using namespace quintet;
using namespace quintet::kinetics;

namespace {

struct Case {
  int cdim, vdim, order;
  Family family;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.cdim << "x" << c.vdim << "v_" << name(c.family) << c.order;
}

PhaseGrid small_grid(int cdim, int vdim, double stretch) {
  PhaseGrid grid;
  grid.cdim = cdim;
  grid.vdim = vdim;
  for (int d = 0; d < cdim + vdim; ++d) {
    grid.lower[d] = -1.1 - 0.1 * d;
    grid.upper[d] = 1.3;
    grid.cells[d] = d < cdim ? (d == 0 ? 2 : 1) : d == cdim + vdim - 1 ? 10 : 3;
    grid.periodic[d] = d < cdim;
    if (d >= cdim && stretch != 0) map_velocity(grid, d - cdim, stretch, 0.1);
  }
  return grid;
}

/// The operator written down directly: pointwise in x, by quadrature in v, one cell and mode at a time.
class Twin {
 public:
  Twin(const PhaseBasis& basis, const Distribution& f, const DragDiffusion& coefficients)
      : basis_(basis), f_(f), coefficients_(coefficients), rule_(gauss_rule(basis.order() + 3)) {}

  double operator()(int conf, const std::array<int, 3>& v, int g, int a) const {
    double sum = 0;
    int n_nodes = 1;
    for (int d = 0; d < basis_.cdim(); ++d) n_nodes *= static_cast<int>(rule_.node.size());
    for (int node = 0; node < n_nodes; ++node) {
      std::array<double, 3> x{};
      double weight = 1;
      for (int d = 0, rest = node; d < basis_.cdim(); ++d) {
        const int q = rest % static_cast<int>(rule_.node.size());
        rest /= static_cast<int>(rule_.node.size());
        x[d] = rule_.node[q];
        weight *= rule_.weight[q];
      }
      for (int d = 0; d < basis_.vdim(); ++d) sum += weight * conf_value(a, x) * direction(conf, v, g, d, x);
    }
    return sum;
  }

 private:
  using Point = std::array<double, 3>;
  using Index = std::array<int, 3>;

  double conf_value(int a, const Point& x) const {
    return basis_.conf().value(a, std::span<const double>(x.data(), basis_.cdim()));
  }
  double coefficient(int conf, int c, const Point& x) const {
    double sum = 0;
    for (int a = 0; a < basis_.conf().size(); ++a) sum += coefficients_(conf, c, a) * conf_value(a, x);
    return sum;
  }
  /// f's coefficient of degree k in direction d and the degrees of g in the others; nothing if there is none.
  std::optional<double> mode(int conf, const Index& v, int g, int d, int k, int a) const {
    auto degrees = basis_.group(g);
    degrees[d] = k;
    const int group = basis_.find_group(degrees);
    if (group < 0 || a >= basis_.n_conf(group)) return std::nullopt;
    Index row = v;
    row[basis_.vdim() - 1] = 0;
    return f_.at(conf, f_.block.row_number(row), v[basis_.vdim() - 1], basis_.offset(group) + a);
  }
  /// sum_k,a of weight(k, number of degrees that mode a has) times the modes' values at x.
  template <class Weight>
  double line(int conf, const Index& v, int g, int d, const Point& x, const Weight& weight) const {
    double sum = 0;
    for (int a = 0; a < basis_.conf().size(); ++a) {
      int n = 0;
      while (mode(conf, v, g, d, n, a)) ++n;
      for (int k = 0; k < n; ++k) sum += conf_value(a, x) * weight(k, n) * *mode(conf, v, g, d, k, a);
    }
    return sum;
  }

  /// Least and greatest A v - B_d on a face, as far as bounds of the modes say.
  std::array<double, 2> speed_bounds(int conf, int d, double velocity) const {
    double mean = 0, deviation = 0;
    for (int a = 0; a < basis_.conf().size(); ++a) {
      double greatest = 1;
      for (int e = 0; e < basis_.cdim(); ++e) greatest *= legendre(basis_.conf().mode(a)[e], 1);
      const double c = greatest * (coefficients_(conf, 0, a) * velocity - coefficients_(conf, 1 + d, a));
      if (a == 0)
        mean = c;
      else
        deviation += std::abs(c);
    }
    return {mean - deviation, mean + deviation};
  }

  struct FaceValues {
    double drag, value, slope;  ///< (A v - B) f*; recovered f and df/dv
  };
  /// Between cell `below` and `below` + 1 of direction d.
  FaceValues face(int conf, Index v, int g, int d, int below, const Point& x) const {
    const int axis = basis_.cdim() + d, n_cells = f_.block.grid.cells[axis];
    Index lower = v, upper = v;
    lower[d] = below;
    upper[d] = below + 1;
    const auto top = [](int k, int) { return legendre(k, 1); };
    const auto bottom = [](int k, int) { return legendre(k, -1); };
    if (below < 0) return {0, line(conf, upper, g, d, x, bottom), 0};
    if (below + 1 == n_cells) return {0, line(conf, lower, g, d, x, top), 0};
    const double half_below = 0.5 * f_.block.grid.width(axis, below),
                 half_above = 0.5 * f_.block.grid.width(axis, below + 1);
    std::array<FaceRecovery, max_degree + 2> recovered;
    for (int n = 1; n <= max_degree + 1; ++n) recovered[n] = recovery(n, half_below, half_above);
    double value = 0, slope = 0;
    for (const int cell : {0, 1}) {
      const Index& of = cell == 0 ? lower : upper;
      value += line(conf, of, g, d, x, [&](int k, int n) { return recovered[n].value[cell][k]; });
      slope += line(conf, of, g, d, x, [&](int k, int n) { return recovered[n].slope[cell][k]; });
    }
    const double velocity = f_.block.grid.centre(axis, below) + half_below;
    const double speed = coefficient(conf, 0, x) * velocity - coefficient(conf, 1 + d, x);
    const double minus = line(conf, lower, g, d, x, top), plus = line(conf, upper, g, d, x, bottom);
    const auto [least, greatest] = speed_bounds(conf, d, velocity);
    if (least >= 0) return {speed * plus, value, slope};
    if (greatest <= 0) return {speed * minus, value, slope};
    // A is uniform here.
    return {0.5 * speed * (minus + plus) + 0.5 * std::max(greatest, -least) * (plus - minus), value, slope};
  }

  /// Contribution of direction d at x, tested with velocity function g.
  double direction(int conf, const Index& v, int g, int d, const Point& x) const {
    const int axis = basis_.cdim() + d, k = basis_.group(g)[d];
    const double h = 0.5 * f_.block.grid.width(axis, v[d]), centre = f_.block.grid.centre(axis, v[d]);
    const double a = coefficient(conf, 0, x), b = coefficient(conf, 1 + d, x),
                 diffusion = coefficient(conf, 1 + basis_.vdim(), x);
    const FaceValues lower = face(conf, v, g, d, v[d] - 1, x), upper = face(conf, v, g, d, v[d], x);
    double sum = (legendre(k, 1) * upper.drag - legendre(k, -1) * lower.drag) / h;
    sum += diffusion / (h * h) *
           (legendre(k, 1) * h * upper.slope - legendre(k, -1) * h * lower.slope -
            legendre_slope(k, 1) * upper.value + legendre_slope(k, -1) * lower.value);
    // int phi'' f = [phi' f] - int phi' f'
    const auto value_at = [&](double xi) {
      return line(conf, v, g, d, x, [xi](int l, int) { return legendre(l, xi); });
    };
    sum += diffusion / (h * h) * (legendre_slope(k, 1) * value_at(1) - legendre_slope(k, -1) * value_at(-1));
    for (std::size_t q = 0; q < rule_.node.size(); ++q) {
      const double xi = rule_.node[q], slope = legendre_slope(k, xi) * rule_.weight[q];
      sum -= slope * (a * (centre + h * xi) - b) / h * value_at(xi);
      sum -= slope * diffusion / (h * h) *
             line(conf, v, g, d, x, [xi](int l, int) { return legendre_slope(l, xi); });
    }
    return sum;
  }

  const PhaseBasis& basis_;
  const Distribution& f_;
  const DragDiffusion& coefficients_;
  const GaussRule& rule_;
};

class LenardBernsteinKernel : public testing::TestWithParam<Case> {};

}  // namespace

namespace {

void expect_formula(const PhaseBasis& basis, double stretch) {
  const auto grid = small_grid(basis.cdim(), basis.vdim(), stretch);
  const Decomposition decomposition(Comm::self(), grid, {});
  const PhaseBlock block = decomposition.block(grid);
  Distribution f("f", block, basis.size()), out("out", block, basis.size());
  DragDiffusion coefficients("c", block.n_conf(), basis.vdim() + 2, basis.conf().size());
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int conf = 0; conf < block.n_conf(); ++conf) {
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last)
        for (int m = 0; m < basis.size(); ++m) f.at(conf, row, last, m) = uniform(random);
    coefficients(conf, 0, 0) = 1.7;
    for (int c = 1; c < basis.vdim() + 2; ++c)
      for (int a = 0; a < basis.conf().size(); ++a)
        coefficients(conf, c, a) = (a == 0 ? 0.8 : 0.05) * uniform(random);
  }

  for (const bool uniform_rate : {true, false}) {
    Kokkos::deep_copy(out.data, 1.0);
    LenardBernstein op(decomposition, basis, block, uniform_rate);
    op.start(Exec(), f);
    op.apply(Exec(), f, coefficients, 0.5, out);

    const Twin twin(basis, f, coefficients);
    std::uniform_int_distribution<int> any(0, 1 << 20);
    for (int sample = 0; sample < 24; ++sample) {
      const int conf = any(random) % block.n_conf(), row = any(random) % block.n_rows(),
                last = sample < 10 ? sample : any(random) % block.n_last(),
                g = any(random) % basis.n_groups(), a = any(random) % basis.n_conf(g);
      auto v = block.row_index(row);
      v[basis.vdim() - 1] = last;
      const double expected = 1 + 0.5 * twin(conf, v, g, a);
      EXPECT_NEAR(out.at(conf, row, last, basis.offset(g) + a), expected, 1e-10 * (1 + std::abs(expected)))
          << "cell " << last << " of row " << row << ", group " << g << ", mode " << a;
    }
    // Lanes past the last cell stay as they were.
    const int lanes = PhaseBlock::lanes;
    for (int i = block.n_last(); i < block.n_packs() * lanes; ++i)
      EXPECT_EQ(out.pack(0, 0, i / lanes)[i % lanes], 1.0);
  }
}

}  // namespace

TEST_P(LenardBernsteinKernel, equals_its_formula_evaluated_by_quadrature) {
  const PhaseBasis basis(GetParam().cdim, GetParam().vdim, GetParam().order, GetParam().family);
  for (const double stretch : {0.0, 0.8}) expect_formula(basis, stretch);
}

INSTANTIATE_TEST_SUITE_P(bases, LenardBernsteinKernel,
                         testing::Values(Case{1, 1, 1, Family::serendipity},
                                         Case{1, 1, 2, Family::serendipity},
                                         Case{1, 1, 3, Family::serendipity}, Case{1, 1, 3, Family::tensor},
                                         Case{1, 1, 1, Family::hybrid}, Case{1, 2, 2, Family::serendipity},
                                         Case{1, 2, 3, Family::serendipity},
                                         Case{1, 3, 2, Family::serendipity}, Case{1, 3, 1, Family::hybrid},
                                         Case{2, 2, 2, Family::serendipity}, Case{2, 2, 2, Family::tensor},
                                         Case{2, 3, 2, Family::serendipity}, Case{2, 3, 2, Family::tensor},
                                         Case{3, 3, 1, Family::serendipity}),
                         testing::PrintToStringParamName());
