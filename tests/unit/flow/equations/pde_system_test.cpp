#include "surrogates/flow/equations/pde_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "surrogates/flow/equations/operator_basis.hpp"

namespace quintet::flow {
namespace {

const EquationNames convection{{"p", "b", "u", "w"}, {"t", "z", "x"}, {"P", "R"}};

std::vector<EquationText> boussinesq() {
  return {{"continuity", "dx(u) + dz(w)", "equations.continuity"},
          {"buoyancy", "dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b)+dzz(b))", "equations.buoyancy"},
          {"u", "dt(u) + u*dx(u) + w*dz(u) + dx(p) = R*(dxx(u)+dzz(u))", "equations.u"},
          {"w", "dt(w) + u*dx(w) + w*dz(w) + dz(p) - b - R*(dxx(w)+dzz(w))", "equations.w"}};
}

/// A polynomial of degree 2 in (t, z, x) with its derivatives, as a field.
struct Quadratic {
  double c;
  std::array<double, 3> a;
  std::array<double, 6> h;  ///< of x_i x_j, in the order of second_axes
  [[nodiscard]] double value(const double* x) const {
    double sum = c;
    for (int i = 0; i < 3; ++i) sum += a[i] * x[i];
    for (int k = 0; k < 6; ++k) sum += h[k] * x[second_axes[k][0]] * x[second_axes[k][1]];
    return sum;
  }
  [[nodiscard]] double first(int i, const double* x) const {
    double sum = a[i];
    for (int k = 0; k < 6; ++k) {
      if (second_axes[k][0] == i) sum += h[k] * x[second_axes[k][1]];
      if (second_axes[k][1] == i) sum += h[k] * x[second_axes[k][0]];
    }
    return sum;
  }
  [[nodiscard]] double second(int k) const { return h[k] * (second_axes[k][0] == second_axes[k][1] ? 2 : 1); }
  [[nodiscard]] double apply(const DifferentialOperator& op, const double* x) const {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += op.first[i] * first(i, x);
    for (int k = 0; k < 6; ++k) sum += op.second[k] * second(k);
    return sum;
  }
};

/// Jets of random polynomials at random points.
struct Case {
  std::vector<Quadratic> fields;
  std::vector<double> coordinates, jets;
  int n;

  Case(const Residuals& residuals, int sample, int n_points) : n(n_points) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> number(-1, 1);
    const auto draw = [&](auto& values) {
      for (double& v : values) v = number(random);
    };
    for (int f = 0; f < residuals.n_fields(); ++f) {
      Quadratic field{number(random), {}, {}};
      draw(field.a);
      draw(field.h);
      fields.push_back(field);
    }
    coordinates.resize(3 * std::int64_t{n});
    draw(coordinates);
    for (int p = 0; p < n; ++p) {
      const double* x = &coordinates[3 * p];
      for (const auto& field : fields) jets.push_back(field.value(x));
      for (const auto& op : residuals.operators(sample))
        for (const auto& field : fields) jets.push_back(field.apply(op, x));
    }
  }
};

using ByHand = std::function<double(const std::vector<Quadratic>&, const double*)>;

void expect_residual(const std::string& text, const EquationNames& names,
                     const std::vector<double>& constants, const ByHand& by_hand) {
  const PdeSystem system({{"one", text, "one"}}, names);
  const Residuals residuals = system.residuals(std::vector<std::vector<double>>{constants});
  const Case points(residuals, 0, 71);  // two blocks and a rest
  std::vector<double> found(71);
  residuals.evaluate(0, 71, points.jets.data(), points.coordinates.data(), found.data());
  for (int p = 0; p < 71; ++p) {
    const double expected = by_hand(points.fields, &points.coordinates[3 * p]);
    EXPECT_NEAR(found[p], expected, 1e-12 * (1 + std::abs(expected))) << text << " point " << p;
  }
}

TEST(PdeSystem, residuals_are_those_written_by_hand) {
  const EquationNames names{{"f", "g"}, {"t", "z", "x"}, {"a"}};
  const double a = 0.37;
  const std::vector<double> constants{a};
  constexpr int t = 0, z = 1, x = 2, xx = 2, tz = 3, zx = 5;
  expect_residual("f", names, constants, [](auto& f, auto* r) { return f[0].value(r); });
  expect_residual("dt(f) - a*dxx(g) + 2", names, constants,
                  [&](auto& f, auto* r) { return f[0].first(t, r) - a * f[1].second(xx) + 2; });
  expect_residual("f*dx(g)/(1 + g^2) = sin(z)*dzx(f)", names, constants, [&](auto& f, auto* r) {
    const double g = f[1].value(r);
    return f[0].value(r) * f[1].first(x, r) / (1 + g * g) - std::sin(r[z]) * f[0].second(zx);
  });
  expect_residual("-dx(f)^2 - -a", names, constants,
                  [&](auto& f, auto* r) { return -f[0].first(x, r) * f[0].first(x, r) + a; });
  expect_residual("(a*(2*dt(f) + f*f) - dtz(g)/a)/4", names, constants, [&](auto& f, auto* r) {
    const double value = f[0].value(r);
    return (a * (2 * f[0].first(t, r) + value * value) - f[1].second(tz) / a) / 4;
  });
  expect_residual("max(f, g, 0.1) + atan2(f, 3) + (2 + x)^(1 + a)", names, constants, [&](auto& f, auto* r) {
    const double u = f[0].value(r), v = f[1].value(r);
    return std::max({u, v, 0.1}) + std::atan2(u, 3) + std::pow(2 + r[x], 1 + a);
  });
}

TEST(PdeSystem, derivatives_follow_the_rules_of_calculus) {
  const EquationNames names{{"f", "g"}, {"t", "z", "x"}, {"a"}};
  const std::vector<double> constants{0.37};
  constexpr int z = 1, x = 2, zz = 1, xx = 2, zx = 5;
  expect_residual("dx(f*g)", names, constants, [&](auto& f, auto* r) {
    return f[0].first(x, r) * f[1].value(r) + f[0].value(r) * f[1].first(x, r);
  });
  expect_residual("dxx(x^2*f)", names, constants, [&](auto& f, auto* r) {
    return 2 * f[0].value(r) + 4 * r[x] * f[0].first(x, r) + r[x] * r[x] * f[0].second(xx);
  });
  expect_residual("dz(dx(f))", names, constants, [&](auto& f, auto*) { return f[0].second(zx); });
  expect_residual("dx(f/(2 + g^2))", names, constants, [&](auto& f, auto* r) {
    const double g = f[1].value(r), d = 2 + g * g;
    return f[0].first(x, r) / d - f[0].value(r) * 2 * g * f[1].first(x, r) / d / d;
  });
  expect_residual("dz((1 + z^2)*dz(f))", names, constants, [&](auto& f, auto* r) {
    return 2 * r[z] * f[0].first(z, r) + (1 + r[z] * r[z]) * f[0].second(zz);
  });
  // Functions: the slope of each against a difference of its values.
  for (const std::string call : {"sin(X)", "cos(X)", "tan(X)", "asin(X)", "acos(X)", "atan(X)", "sinh(X)",
                                 "cosh(X)", "tanh(X)", "exp(X)", "log(2 + X)", "log10(2 + X)", "sqrt(2 + X)",
                                 "erf(X)", "gauss(X)", "(2 + X)^a", "(2 + X)^X", "atan2(X, 1 + X^2)"}) {
    std::string text = call, inner = "(0.4*x + 0.1*z)";
    for (auto at = text.find('X'); at != std::string::npos; at = text.find('X')) text.replace(at, 1, inner);
    const PdeSystem system({{"slope", "dx(" + text + ") + f", call}, {"value", text + " + f", call}}, names);
    const Residuals residuals = system.residuals(std::vector<std::vector<double>>{constants});
    const double h = 1e-5, zero[2] = {0, 0};
    ASSERT_EQ(residuals.n_operators(), 0);
    const double here[3] = {0, 0.3, 0.6}, up[3] = {0, 0.3, 0.6 + h}, down[3] = {0, 0.3, 0.6 - h};
    double at[2], above[2], below[2];
    residuals.evaluate(0, 1, zero, here, at);
    residuals.evaluate(0, 1, zero, up, above);
    residuals.evaluate(0, 1, zero, down, below);
    EXPECT_NEAR(at[0], (above[1] - below[1]) / (2 * h), 1e-8) << call;
  }
}

TEST(PdeSystem, adjoint_is_the_transpose_of_finite_differences) {
  const EquationNames names{{"f", "g"}, {"t", "z", "x"}, {"a"}};
  const PdeSystem system(
      {{"first", "dt(f) + f*dx(g)/(2 + g*g) - a*(dxx(f) + dzz(f)) + x*dx(f)*dz(g)", "first"},
       {"second", "exp(f)*sin(g) - (3 + f)^a*atan2(g, 2) + sqrt(4 + dx(g)) + max(f, g)", "second"},
       {"third", "dt(f) + f*dx(g)/(2 + g*g) - a*(dxx(f) + dzz(f)) + x*dx(f)*dz(g)", "third"},  // the same
       {"fourth", "tanh(f*g) + f^4 + cosh(f)/g + abs(g) + gauss(f) + erf(g) + log(5 + f)", "fourth"}},
      names);
  const Residuals residuals = system.residuals(std::vector<std::vector<double>>{{0.4}, {0.7}});
  constexpr int n = 37, sample = 1;
  const Case points(residuals, sample, n);
  const std::size_t n_equations = residuals.n_equations();
  std::vector<double> bar(n * n_equations), jets_bar(points.jets.size(), 0.25);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  for (double& v : bar) v = number(random);
  residuals.add_adjoint(sample, n, points.jets.data(), points.coordinates.data(), bar.data(),
                        jets_bar.data());
  const auto weighted = [&](const std::vector<double>& jets) {
    std::vector<double> values(bar.size());
    residuals.evaluate(sample, n, jets.data(), points.coordinates.data(), values.data());
    double sum = 0;
    for (std::size_t i = 0; i < bar.size(); ++i) sum += bar[i] * values[i];
    return sum;
  };
  for (std::size_t i = 0; i < points.jets.size(); ++i) {
    auto jets = points.jets;
    const double h = 1e-6;
    jets[i] += h;
    const double above = weighted(jets);
    jets[i] -= 2 * h;
    const double slope = (above - weighted(jets)) / (2 * h);
    EXPECT_NEAR(jets_bar[i] - 0.25, slope, 1e-6 * (1 + std::abs(slope))) << "entry " << i;
  }
}

TEST(PdeSystem, single_precision_agrees_with_double) {
  const PdeSystem system(boussinesq(), convection);
  const Residuals residuals = system.residuals(std::vector<std::vector<double>>{{1e-3, 2e-3}});
  const Case points(residuals, 0, 40);
  const std::vector<float> jets(points.jets.begin(), points.jets.end());
  std::vector<double> exact(160);
  std::vector<float> found(160);
  residuals.evaluate(0, 40, points.jets.data(), nullptr, exact.data());
  residuals.evaluate(0, 40, jets.data(), nullptr, found.data());
  for (int i = 0; i < 160; ++i) EXPECT_NEAR(found[i], exact[i], 2e-6);
}

/// Channels beside the value.
int n_channels(const std::vector<EquationText>& equations, const EquationNames& names,
               const std::vector<std::vector<double>>& constants) {
  return PdeSystem(equations, names).residuals(constants).n_operators();
}

TEST(PdeSystem, channels_are_the_fewest) {
  const auto equations = boussinesq();
  // P = R: d_z, d_x and one M = d_t - P lap.
  EXPECT_EQ(n_channels(equations, convection, {{1e-3, 1e-3}}), 3);
  // Computed on two ways, equal to round-off.
  const double ra = 12345.678;
  EXPECT_EQ(
      n_channels(equations, convection, {{std::pow(ra * 1, -0.5), std::pow(ra / 1, -0.5) * (1 + 3e-16)}}), 3);
  // P != R: d_t and the Laplacian apart.
  EXPECT_EQ(n_channels(equations, convection, {{1e-3, 2e-3}}), 4);
  // Samples of several Ra at Pr = 1 have an M of their own.
  EXPECT_EQ(n_channels(equations, convection, {{1e-3, 1e-3}, {1e-2, 1e-2}}), 3);
  // One of Pr = 1 among others.
  EXPECT_EQ(n_channels(equations, convection, {{1e-3, 1e-3}, {1e-3, 2e-3}}), 4);
  EXPECT_EQ(n_channels({{"value", "u - 2*b", ""}}, convection, {{1, 1}}), 0);
  EXPECT_EQ(n_channels({{"sum", "u*(dx(b) + dz(b)) + dxx(p) + dzz(p)", ""}}, convection, {{1, 1}}), 2);
  // A coefficient that varies binds no operator.
  EXPECT_EQ(n_channels({{"free", "dt(b) + x*dx(b)", ""}}, convection, {{1, 1}}), 2);
  EXPECT_EQ(n_channels({{"wave", "dt(b) + P*dx(b)", ""}}, convection, {{1, 1}}), 1);
  // dx in two scales and d_t + dx, d_t - dx: two channels, not four.
  EXPECT_EQ(n_channels({{"one", "dt(b) + dx(b)", ""}, {"two", "dt(u) - dx(u)", ""}, {"three", "3*dx(w)", ""}},
                       convection, {{1, 1}}),
            2);
}

TEST(PdeSystem, operators_are_simple_where_they_can_be) {
  const Residuals apart =
      PdeSystem(boussinesq(), convection).residuals(std::vector<std::vector<double>>{{1e-3, 2e-3}});
  std::vector<std::string> texts;
  for (const auto& op : apart.operators(0)) texts.push_back(operator_text(op, convection.axes));
  EXPECT_EQ(texts, (std::vector<std::string>{"dt", "dz", "dx", "dzz + dxx"}));
  const Residuals merged =
      PdeSystem(boussinesq(), convection).residuals(std::vector<std::vector<double>>{{1e-3, 1e-3}});
  texts.clear();
  for (const auto& op : merged.operators(0)) texts.push_back(operator_text(op, convection.axes));
  EXPECT_EQ(texts, (std::vector<std::string>{"dz", "dx", "dzz + dxx - 1000 dt"}));
}

TEST(PdeSystem, merging_changes_no_residual) {
  // The same equations with constants that allow to merge operators, and in company that forbids it.
  const PdeSystem system(boussinesq(), convection);
  const Residuals merged = system.residuals(std::vector<std::vector<double>>{{1e-3, 1e-3}});
  const Residuals apart = system.residuals(std::vector<std::vector<double>>{{1e-3, 1e-3}, {1e-3, 0.5}});
  ASSERT_LT(merged.n_operators(), apart.n_operators());
  const Case one(merged, 0, 40), other(apart, 0, 40);
  std::vector<double> a(160), b(160);
  merged.evaluate(0, 40, one.jets.data(), nullptr, a.data());
  apart.evaluate(0, 40, other.jets.data(), nullptr, b.data());
  for (int i = 0; i < 160; ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
}

TEST(PdeSystem, knows_what_it_mentions) {
  const PdeSystem system({{"one", "dt(b) + P*u", "one"}}, convection);
  EXPECT_TRUE(system.uses_field(1) && system.uses_field(2));
  EXPECT_FALSE(system.uses_field(0) || system.uses_field(3));
  const auto with =
      PdeSystem({{"one", "z*b", "one"}}, convection).residuals(std::vector<std::vector<double>>{{1, 1}});
  EXPECT_TRUE(with.uses_coordinates());
  EXPECT_FALSE(system.residuals(std::vector<std::vector<double>>{{1, 1}}).uses_coordinates());
}

TEST(OperatorBasis, gives_back_what_is_wanted) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> number(-2, 2);
  for (int trial = 0; trial < 50; ++trial) {
    // Combinations of `rank` operators, as many as six of them.
    const int rank = 1 + trial % 5;
    std::vector<DifferentialOperator> basis(rank), wanted(6);
    for (auto& op : basis) {
      for (double& v : op.first) v = number(random);
      for (double& v : op.second) v = number(random);
    }
    for (auto& op : wanted)
      for (const auto& part : basis) {
        const double share = number(random);
        for (int i = 0; i < n_axes; ++i) op.first[i] += share * part.first[i];
        for (int i = 0; i < n_second; ++i) op.second[i] += share * part.second[i];
      }
    const OperatorBasis found = find_operator_basis(std::vector<std::vector<DifferentialOperator>>{wanted});
    ASSERT_EQ(found.operators[0].size(), static_cast<std::size_t>(rank));
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      DifferentialOperator sum;
      for (std::size_t c = 0; c < found.operators[0].size(); ++c) {
        for (int i = 0; i < n_axes; ++i)
          sum.first[i] += found.weights[0][k][c] * found.operators[0][c].first[i];
        for (int i = 0; i < n_second; ++i)
          sum.second[i] += found.weights[0][k][c] * found.operators[0][c].second[i];
      }
      for (int i = 0; i < n_axes; ++i) EXPECT_NEAR(sum.first[i], wanted[k].first[i], 1e-9);
      for (int i = 0; i < n_second; ++i) EXPECT_NEAR(sum.second[i], wanted[k].second[i], 1e-9);
    }
  }
}

}  // namespace
}  // namespace quintet::flow
