#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "physics/electronic/density/density_errors.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/functions/occupation.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

/// Estimated errors of energy, D and mu beside what dense diagonalisation says, over unlike systems.
namespace quintet::electronic {
namespace {

using namespace reference;

struct Pair {
  Dense k, s;
};

/// A ring of molecules of water's kind: 6 functions, 4 full levels, couplings and overlaps that fall with
/// distance.
Pair molecules() {
  const int n = 40;
  Pair pair{ring(n, {6}, 0.12, 0.7).a, ring(n, {6}, 0.12, 0.9).a};
  for (int i = 0; i < pair.k.n; ++i) {
    pair.s(i, i) = 1;
    pair.k(i, i) = (i % 6 < 4 ? -0.5 : 0.4) + 0.1 * noise(i, i);
  }
  return pair;
}

/// A ring with hopping t1 and t2 in turn and overlaps s1 and s2 (hartree).
Pair chain(int n, double t1, double t2, double s1, double s2) {
  Pair pair{Dense(n), Dense(n)};
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    pair.k(i, j) = pair.k(j, i) = i % 2 == 0 ? t1 : t2;
    pair.s(i, j) = pair.s(j, i) = i % 2 == 0 ? s1 : s2;
    pair.s(i, i) = 1;
  }
  return pair;
}

/// A graph without any order: each site is bound to its partner, and to others anywhere.
Pair random_graph(int n) {
  Pair pair{Dense(n), Dense(n)};
  for (int i = 0; i < n; ++i) {
    pair.s(i, i) = 1;
    pair.k(i, i) = 0.02 * noise(i, i);
    const auto bond = [&](int j, double t, double s) {
      if (i == j) return;
      pair.k(i, j) = pair.k(j, i) = t;
      pair.s(i, j) = pair.s(j, i) = s;
    };
    if (i % 2 == 0) bond(i + 1, -0.3, 0.12);
    bond(static_cast<int>((0.5 + 0.5 * noise(i, 7)) * (n - 1)), 0.05 * noise(i, 8), 0.015 * noise(i, 9));
  }
  return pair;
}

/// Silicon in a minimal basis: s and p of nearest neighbours (Harrison's scaling, Vogl, Hjalmarson and Dow
/// 1983), 8 atoms a cubic cell, `cells` of them along one axis, periodic; overlaps are a sixth of the
/// hopping's shape.
Pair silicon(int cells) {
  constexpr double ev = 1 / 27.211386245988;
  constexpr double e_s = -4.2 * ev, e_p = 1.715 * ev, ss = -8.3 / 4 * ev, sp = 5.7292 / 4 * 1.7320508 * ev,
                   pp_x = 1.715 / 4 * ev, pp_y = 4.575 / 4 * ev;
  const double site[8][3] = {{0, 0, 0},       {0, .5, .5},     {.5, 0, .5},     {.5, .5, 0},
                             {.25, .25, .25}, {.25, .75, .75}, {.75, .25, .75}, {.75, .75, .25}};
  const int n_atoms = 8 * cells;
  Pair pair{Dense(4 * n_atoms), Dense(4 * n_atoms)};
  const auto place = [&](int atom, int axis) { return site[atom % 8][axis] + (axis == 0 ? atom / 8 : 0); };
  for (int a = 0; a < n_atoms; ++a) {
    for (int o = 0; o < 4; ++o) {
      pair.k(4 * a + o, 4 * a + o) = o == 0 ? e_s : e_p;
      pair.s(4 * a + o, 4 * a + o) = 1;
    }
    for (int b = 0; b < n_atoms; ++b) {
      double d[3];
      for (int axis = 0; axis < 3; ++axis) {
        const double length = axis == 0 ? cells : 1;
        d[axis] = place(b, axis) - place(a, axis);
        d[axis] -= length * std::round(d[axis] / length);
      }
      if (std::abs(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - 3.0 / 16) > 1e-6) continue;
      for (int o = 0; o < 4; ++o)
        for (int q = 0; q < 4; ++q) {
          double t = 0;
          if (o == 0 && q == 0)
            t = ss;
          else if (o == 0)
            t = sp * 4 * d[q - 1] / 1.7320508;
          else if (q == 0)
            t = -sp * 4 * d[o - 1] / 1.7320508;
          else
            t = o == q ? pp_x : pp_y * 16 * d[o - 1] * d[q - 1];
          pair.k(4 * a + o, 4 * b + q) += t;
          pair.s(4 * a + o, 4 * b + q) += -0.25 * t;
        }
    }
  }
  return pair;
}

struct Case {
  const char* name;
  Pair pair;
  int block;
  double threshold, filling, temperature;
};

double distance(const Dense& a, const Dense& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.value.size(); ++i) squares += std::pow(a.value[i] - b.value[i], 2);
  return std::sqrt(squares);
}

/// mu at which the levels hold n pairs.
double mu_of(const std::vector<double>& level, double n, double temperature) {
  double low = level.front() - 1, high = level.back() + 1;
  for (int step = 0; step < 200; ++step) {
    const double mu = 0.5 * (low + high);
    const Occupation f{mu, temperature, 0};
    double sum = 0;
    for (const double e : level) sum += f(e);
    (sum < n ? low : high) = mu;
  }
  return 0.5 * (low + high);
}

class Estimates : public ::testing::TestWithParam<Case> {};

TEST_P(Estimates, are_no_less_than_a_third_of_the_truth) {
  const Case& c = GetParam();
  const int n = c.pair.k.n;
  const Dense z = function_of(diagonalise(c.pair.s), [](double x) { return 1 / std::sqrt(x); });
  const Eigen eigen = diagonalise(z * c.pair.k * z);
  const double n_pairs = std::round(c.filling * n);
  const double mu = mu_of(eigen.value, n_pairs, std::max(c.temperature, 1e-4));
  const Dense exact = z * function_of(eigen, Occupation{mu, c.temperature, 0}) * z;
  const double energy = trace(exact * c.pair.k);
  const Comm comm = Comm::world();
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(n, c.block));
  const BlockMatrix k = distribute(comm, c.pair.k, blocking), s = distribute(comm, c.pair.s, blocking);
  const Orthogonalised basis = orthogonalise(k, s, c.threshold);
  SubmatrixOptions options;
  options.threshold = c.threshold;
  options.n_pairs = n_pairs;
  options.temperature = c.temperature;
  options.estimate_error = true;

  const auto sign = evaluate_submatrices(basis.a, options);

  for (const auto pattern : {DensityPattern::of_k_and_s, DensityPattern::whole}) {
    const auto density = density_matrix(sign, basis, k, s, c.threshold, nullptr, pattern);
    const DensityErrors errors = errors_of(sign, density);
    const double d_error = distance(collect(density.d), exact), e_error = std::abs(density.tr_dk - energy),
                 mu_error = c.temperature > 0 ? std::abs(sign.mu - mu) : 0;
    if (comm.is_root())
      std::printf("%-18s %-9s %5.0e  D %.1e (truth %.1e)  energy %.1e (%.1e)  mu %.1e (%.1e)  rest %.1e\n",
                  c.name, pattern == DensityPattern::whole ? "whole" : "of K, S", c.threshold, errors.density,
                  d_error, errors.energy, e_error, errors.mu, mu_error, density.rest);
    constexpr double rounding = 1e-11;
    EXPECT_GT(errors.density, d_error / 3 - rounding);
    EXPECT_GT(errors.energy, e_error / 3 - rounding);
    EXPECT_GT(errors.mu, mu_error / 3 - rounding);
    EXPECT_LT(errors.density, 5 * d_error + rounding);
    EXPECT_LT(errors.energy, 100 * e_error + 1e-3 * c.threshold * n_pairs);
    if (c.temperature > 0) {
      EXPECT_LT(errors.mu, 100 * mu_error + c.threshold);
    }
    if (pattern == DensityPattern::whole) {
      EXPECT_LT(density.rest, 0.1 * d_error + rounding)
          << "products that were left out are all that it lacks";
    }
  }
}

constexpr double ev = 1 / 27.211386245988;

INSTANTIATE_TEST_SUITE_P(
    Systems, Estimates,
    ::testing::Values(Case{"molecules_coarse", molecules(), 6, 1e-2, 4.0 / 6, 0},
                      Case{"molecules", molecules(), 6, 1e-3, 4.0 / 6, 0},
                      Case{"molecules_fine", molecules(), 6, 1e-5, 4.0 / 6, 0},
                      Case{"insulator", chain(240, -0.2, -0.08, 0.1, 0.04), 4, 1e-3, 0.5, 0},
                      Case{"insulator_fine", chain(240, -0.2, -0.08, 0.1, 0.04), 4, 1e-6, 0.5, 0},
                      Case{"small_gap", chain(240, -3.2 * ev, -2.6 * ev, 0.1, 0.08), 20, 1e-4, 0.5, 0},
                      Case{"graph", random_graph(240), 2, 1e-3, 0.5, 0},
                      Case{"graph_fine", random_graph(240), 2, 1e-5, 0.5, 0},
                      Case{"silicon", silicon(8), 8, 1e-7, 0.5, 0},
                      Case{"silicon_fine", silicon(8), 8, 1e-5, 0.5, 0},
                      Case{"metal", chain(240, -2.5 * ev, -2.5 * ev, 0.1, 0.1), 12, 1e-4, 0.45, 0.01},
                      Case{"metal_cold", chain(240, -2.5 * ev, -2.5 * ev, 0.1, 0.1), 8, 1e-4, 0.45, 0.003}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace quintet::electronic
