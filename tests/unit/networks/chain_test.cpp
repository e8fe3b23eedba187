#include "tests/unit/networks/chain_cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/networks/activation_names.hpp"

namespace quintet::networks {
namespace {

template <class Real>
class ChainOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ChainOf, Reals);

/// Outputs of n rows, or their sums.
template <class Real>
std::vector<double> outputs(const Case& of, const Chain<Real>& chain, const Tape<Real>& tape, int n) {
  if (of.sum) return {tape.sum.begin(), tape.sum.begin() + n};
  std::vector<double> y;
  for (int row = 0; row < n; ++row)
    for (int o = 0; o < chain.n_out(); ++o)
      y.push_back(tape.layers.back().y[std::int64_t{row} * chain.stride() + o]);
  return y;
}

TYPED_TEST(ChainOf, values_are_those_of_the_plain_formula) {
  using Real = TypeParam;
  for (const auto& of : cases())
    for (const Keep keep : {Keep::adjoint, Keep::gradient, Keep::tangent})
      for (const int n : {1, 7, 70}) {
        const auto parameters = noise(of.n_parameters, 3, 0.4);
        auto chain = of.chain<Real>();
        chain.refresh(parameters.data());
        const Input<Real> x(of, n, 5);
        Tape<Real> tape;
        chain.forward(x.rows(), n, keep, tape);
        const auto y = outputs(of, chain, tape, n);
        for (int row = 0; row < n; ++row) {
          const std::vector<double> one(x.rows()[row], x.rows()[row] + of.n_in);
          const auto expected = plain(of, parameters, one.data());
          for (std::size_t o = 0; o < expected.size(); ++o)
            ASSERT_NEAR(y[row * expected.size() + o], expected[o], 30 * std::numeric_limits<Real>::epsilon())
                << of.name << " row " << row << " of " << n << " output " << o;
        }
      }
}

TYPED_TEST(ChainOf, rows_do_not_depend_on_how_many_run_together) {
  using Real = TypeParam;
  for (const auto& of : cases()) {
    auto chain = of.chain<Real>();
    chain.refresh(noise(of.n_parameters, 3, 0.4).data());
    const Input<Real> x(of, 70, 5);
    Tape<Real> all, one;
    chain.forward(x.rows(), 70, Keep::gradient, all);
    const auto together = outputs(of, chain, all, 70);
    for (const int row : {0, 33, 69}) {
      chain.forward({x.rows()[row], x.stride}, 1, Keep::adjoint, one);
      const auto alone = outputs(of, chain, one, 1);
      for (std::size_t o = 0; o < alone.size(); ++o) EXPECT_EQ(alone[o], together[row * alone.size() + o]);
    }
  }
}

TYPED_TEST(ChainOf, adjoint_in_place_is_the_adjoint_beside_it) {
  using Real = TypeParam;
  for (const auto& of : cases()) {
    if (!of.sum) continue;
    auto chain = of.chain<Real>();
    chain.refresh(noise(of.n_parameters, 3, 0.4).data());
    const Input<Real> x(of, 70, 5);
    Input<Real> dx(of, 70, 6), in_place = x;
    Tape<Real> inference, training;
    chain.forward_and_adjoint(x.rows(), 70, Keep::tangent, dx.rows(), training);
    chain.forward_and_adjoint(std::as_const(in_place).rows(), 70, Keep::adjoint, in_place.rows(), inference);
    EXPECT_EQ(outputs(of, chain, inference, 70), outputs(of, chain, training, 70));
    for (int row = 0; row < 70; ++row)
      for (int i = 0; i < of.n_in; ++i) ASSERT_EQ(in_place.rows()[row][i], dx.rows()[row][i]) << of.name;
  }
}

TYPED_TEST(ChainOf, rows_may_be_made_as_they_are_needed_and_taken_as_they_are_done) {
  using Real = TypeParam;
  constexpr int n = 70;
  for (const auto& of : cases()) {
    if (!of.sum) continue;
    auto chain = of.chain<Real>();
    chain.refresh(noise(of.n_parameters, 3, 0.4).data());
    const Input<Real> x(of, n, 5), x_dot(of, n, 7);
    const auto gradient_of = [&](bool late, Input<Real>& dx, Input<Real>& x_bar) {
      Input<Real> own_x(of, n, 8), own_dot(of, n, 8);
      if (!late) own_x = x, own_dot = x_dot;
      int made = 0, taken = 0;
      const auto make = [&](const Input<Real>& from, Input<Real>& to) {
        return [&](int first, int some) {
          EXPECT_EQ(first, made);
          made += some;
          for (int row = first; late && row < first + some; ++row)
            std::copy_n(from.rows()[row], of.n_in, to.rows()[row]);
        };
      };
      const auto take = [&](int first, int some) {
        EXPECT_EQ(first, taken);
        taken += some;
        EXPECT_EQ(taken, made) << "taken before more is made";
      };
      Tape<Real> tape;
      std::vector<Real> gradient(of.n_parameters, Real(0));
      chain.forward_and_adjoint(std::as_const(own_x).rows(), n, Keep::tangent, dx.rows(), tape,
                                make(x, own_x), take);
      EXPECT_EQ(taken, n);
      made = taken = 0;
      chain.differentiate(std::as_const(own_x).rows(), std::as_const(own_dot).rows(), Real(0.3), x_bar.rows(),
                          tape, gradient.data(), make(x_dot, own_dot), take);
      EXPECT_EQ(taken, n);
      return gradient;
    };
    Input<Real> dx(of, n, 6), x_bar(of, n, 6), late_dx(of, n, 6), late_x_bar(of, n, 6);
    EXPECT_EQ(gradient_of(true, late_dx, late_x_bar), gradient_of(false, dx, x_bar)) << of.name;
    for (int row = 0; row < n; ++row)
      for (int i = 0; i < of.n_in; ++i) {
        ASSERT_EQ(late_dx.rows()[row][i], dx.rows()[row][i]) << of.name;
        ASSERT_EQ(late_x_bar.rows()[row][i], x_bar.rows()[row][i]) << of.name;
      }
  }
}

TEST(chain, adjoint_is_the_derivative_of_the_sum) {
  constexpr int n = 40;
  constexpr double h = 1e-5;
  for (const auto& of : cases()) {
    if (!of.sum) continue;
    const auto parameters = noise(of.n_parameters, 3, 0.4);
    auto chain = of.chain<double>();
    chain.refresh(parameters.data());
    const Input<double> x(of, n, 5);
    Input<double> dx(of, n, 6);
    Tape<double> tape;
    chain.forward_and_adjoint(x.rows(), n, Keep::tangent, dx.rows(), tape);
    for (int row = 0; row < n; ++row)
      for (int i = 0; i < of.n_in; ++i) {
        std::vector<double> up(x.rows()[row], x.rows()[row] + of.n_in), down = up;
        up[i] += h;
        down[i] -= h;
        const double slope =
            (plain(of, parameters, up.data())[0] - plain(of, parameters, down.data())[0]) / (2 * h);
        ASSERT_NEAR(dx.rows()[row][i], slope, 1e-8) << of.name << " row " << row << " input " << i;
      }
  }
}

TEST(chain, tangents_beside_values_are_derivatives) {
  constexpr int n = 11;
  constexpr double h = 1e-5;
  for (const auto& of : cases()) {
    if (of.sum) continue;
    const auto parameters = noise(of.n_parameters, 3, 0.4);
    auto chain = of.chain<double>();
    chain.refresh(parameters.data());
    const Input<double> x(of, 2 * n, 5);  // the second half of the rows: tangents
    Tape<double> tape;
    chain.forward_with_tangent(x.rows(), n, tape);
    const auto both = outputs(of, chain, tape, 2 * n);
    const std::size_t width = both.size() / (2 * n);
    for (int row = 0; row < n; ++row) {
      std::vector<double> up(of.n_in), down(of.n_in), at(of.n_in);
      for (int i = 0; i < of.n_in; ++i) {
        at[i] = x.rows()[row][i];
        up[i] = at[i] + h * x.rows()[n + row][i];
        down[i] = at[i] - h * x.rows()[n + row][i];
      }
      const auto value = plain(of, parameters, at.data()), higher = plain(of, parameters, up.data()),
                 lower = plain(of, parameters, down.data());
      for (std::size_t o = 0; o < width; ++o) {
        ASSERT_NEAR(both[row * width + o], value[o], 1e-13);
        ASSERT_NEAR(both[(n + row) * width + o], (higher[o] - lower[o]) / (2 * h), 1e-8) << of.name;
      }
    }
  }
}

/// Central differences of f in each of `values`.
template <class Function>
std::vector<double> differences(std::vector<double> values, Function&& f, double h = 1e-5) {
  std::vector<double> slopes;
  for (double& value : values) {
    const double at = value;
    value = at + h;
    const double up = f(values);
    value = at - h;
    slopes.push_back((up - f(values)) / (2 * h));
    value = at;
  }
  return slopes;
}

/// A float64 chain's gradient in parameters of either precision, against differences of the plain twin.
TYPED_TEST(ChainOf, gradient_of_rows_is_that_of_finite_differences) {
  using Parameter = TypeParam;
  constexpr int n = 5;
  for (const auto& of : cases()) {
    if (of.sum) continue;
    const auto drawn = noise(of.n_parameters, 3, 0.4);
    const std::vector<Parameter> stored(drawn.begin(), drawn.end());
    const std::vector<double> parameters(stored.begin(), stored.end());
    auto chain = of.chain<double>();
    chain.refresh(stored.data());
    const Input<double> x(of, n, 5);
    Tape<double> tape;
    chain.forward(x.rows(), n, Keep::gradient, tape);
    const auto bar = noise(std::int64_t{n} * chain.n_out(), 8);
    for (int row = 0; row < n; ++row)
      std::copy_n(bar.data() + row * chain.n_out(), chain.n_out(),
                  tape.layers.back().y_bar.data() + row * chain.stride());
    std::vector<Parameter> gradient(of.n_parameters, Parameter(0));
    chain.gradient(x.rows(), tape, gradient.data());
    const auto slopes = differences(parameters, [&](const std::vector<double>& changed) {
      double sum = 0;
      for (int row = 0; row < n; ++row) {
        const auto y = plain(of, changed, x.rows()[row]);
        for (int o = 0; o < chain.n_out(); ++o) sum += bar[row * chain.n_out() + o] * y[o];
      }
      return sum;
    });
    const double tolerance = sizeof(Parameter) == 8 ? 1e-8 : 1e-5;
    for (std::size_t i = 0; i < slopes.size(); ++i)
      ASSERT_NEAR(gradient[i], slopes[i], tolerance) << of.name << " parameter " << i;
  }
}

/// S = ge sum E + sum dE/dx . xdot of all rows.
double energy_and_tangent(const Case& of, const std::vector<double>& parameters, const Input<double>& x,
                          const Input<double>& x_dot, int n, double ge) {
  auto chain = of.chain<double>();
  chain.refresh(parameters.data());
  Input<double> dx(of, n, 1);
  Tape<double> tape;
  chain.forward_and_adjoint(x.rows(), n, Keep::adjoint, dx.rows(), tape);
  double sum = 0;
  for (int row = 0; row < n; ++row) {
    sum += ge * tape.sum[row];
    for (int i = 0; i < of.n_in; ++i) sum += dx.rows()[row][i] * x_dot.rows()[row][i];
  }
  return sum;
}

TEST(chain, gradient_of_energy_and_tangent_is_that_of_finite_differences) {
  constexpr int n = 35;
  constexpr double ge = 0.7;
  for (const auto& of : cases()) {
    if (!of.sum) continue;
    const auto parameters = noise(of.n_parameters, 3, 0.4);
    auto chain = of.chain<double>();
    chain.refresh(parameters.data());
    const Input<double> x(of, n, 5), x_dot(of, n, 7);
    Input<double> dx(of, n, 1), x_bar(of, n, 1);
    Tape<double> tape;
    chain.forward_and_adjoint(x.rows(), n, Keep::tangent, dx.rows(), tape);
    std::vector<double> gradient(of.n_parameters, 0.0);
    chain.differentiate(x.rows(), x_dot.rows(), ge, x_bar.rows(), tape, gradient.data());

    auto slopes = differences(parameters, [&](const std::vector<double>& changed) {
      return energy_and_tangent(of, changed, x, x_dot, n, ge);
    });
    // Rows of weights of tied inputs act as one: the gradient of each counts for the first of them alone
    // until it is shared.
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      const auto& first = of.layers.front();
      const std::size_t row = i / first.n_out;
      if (of.tied.empty() || row >= of.tied.size()) {
        ASSERT_NEAR(gradient[i], slopes[i], 1e-7 * (1 + std::abs(slopes[i]))) << of.name << " " << i;
      }
    }
    if (of.tied.empty()) {
      const std::vector<double> flat(x.values.begin(), x.values.end());
      const auto in_x = differences(flat, [&](const std::vector<double>& changed) {
        Input<double> moved(of, n, 5);
        moved.values.assign(changed.begin(), changed.end());
        return energy_and_tangent(of, parameters, moved, x_dot, n, ge);
      });
      for (int row = 0; row < n; ++row)
        for (int i = 0; i < of.n_in; ++i)
          ASSERT_NEAR(x_bar.rows()[row][i], in_x[std::int64_t{row} * x.stride + i], 1e-7) << of.name;
    }
  }
}

TEST(chain, tied_inputs_share_a_gradient) {
  constexpr int n = 6;
  const auto of = cases()[1];
  ASSERT_FALSE(of.tied.empty());
  const auto parameters = noise(of.n_parameters, 3, 0.4);
  auto chain = of.chain<double>();
  chain.refresh(parameters.data());
  const Input<double> x(of, n, 5), x_dot(of, n, 7);
  Input<double> dx(of, n, 1), x_bar(of, n, 1);
  Tape<double> tape;
  chain.forward_and_adjoint(x.rows(), n, Keep::tangent, dx.rows(), tape);
  std::vector<double> gradient(of.n_parameters, 0.0);
  chain.differentiate(x.rows(), x_dot.rows(), 0.3, x_bar.rows(), tape, gradient.data());
  chain.share_gradient(gradient.data());
  const auto slopes = differences(parameters, [&](const std::vector<double>& changed) {
    return energy_and_tangent(of, changed, x, x_dot, n, 0.3);
  });
  for (std::size_t i = 0; i < slopes.size(); ++i)
    ASSERT_NEAR(gradient[i], slopes[i], 1e-7 * (1 + std::abs(slopes[i]))) << i;
}

TEST(chain, a_chain_that_does_not_fit_together_is_refused) {
  using enum Activation;
  const auto says = [](std::vector<LayerSpec> layers, const char* what, bool sum = false,
                       std::vector<int> tied = {}) {
    try {
      static_cast<void>(Case{"", 3, std::move(layers), sum, std::move(tied)}.chain<double>());
      ADD_FAILURE() << "no complaint: " << what;
    } catch (const InternalError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  says({layer("a", "y", "", 3, 4, tanh)}, "layer a reads y, which no layer before it makes");
  says({layer("a", "b", "", 3, 4, tanh), layer("b", "x", "", 3, 3, tanh)}, "layer a reads b");
  says({layer("a", "x", "", 3, 4, tanh), layer("a", "a", "", 4, 4, tanh)}, "two layers are named a");
  says({layer("x", "x", "", 3, 4, tanh)}, "layer x cannot be made");
  says({layer("a", "x", "", 4, 4, tanh)}, "layer a takes 4 numbers, x has 3");
  says({layer("a", "x", "x", 3, 4, tanh)}, "layer a cannot add x of 3 numbers to 4");
  says({layer("a", "x", "", 3, 4, tanh), layer("b", "x", "", 3, 4, tanh)},
       "nothing reads the output of layer a");
  says({layer("a", "x", "", 3, 4, tanh), layer("e", "a", "", 4, 1, tanh)}, "a sum is a linear layer", true);
  says({layer("e", "x", "", 3, 1, linear)}, "a sum is a linear layer", true);
  says({layer("a", "x", "", 3, 4, tanh)}, "input 2 of the chain is none of the network's", false, {0, 1, 1});
  says({}, "a chain needs a layer");
}

TEST(activation_names, every_function_has_a_name_that_leads_back) {
  for (const auto& row : activation_rows) EXPECT_EQ(activation_named(name_of(row.value)), row.value);
  // with_activation() knows these: a function added there needs a row here.
  EXPECT_EQ(std::size(activation_rows), static_cast<std::size_t>(Activation::gelu) + 1);
  EXPECT_FALSE(activation_named("swish"));
  EXPECT_THROW(static_cast<void>(name_of(static_cast<Activation>(99))), InternalError);
}

}  // namespace
}  // namespace quintet::networks
