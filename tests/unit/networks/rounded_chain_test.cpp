#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/unit/networks/chain_cases.hpp"

/// Products in bfloat16 about a reference row, beside the same chain in float.
namespace quintet::networks {
namespace {

constexpr double half_ulp = 1.0 / 512;  ///< of bfloat16, relative to a number just above a power of two

/// Sums and adjoints of rows at x* + step (x - x*).
struct Passed {
  std::vector<double> sum, dx;
};
Passed pass(const Case& of, const Chain<float>& chain, const std::vector<double>& reference, double step,
            int n) {
  Input<float> x(of, n, 5);
  for (int row = 0; row < n; ++row)
    for (int i = 0; i < of.n_in; ++i) {
      float& value = x.rows()[row][i];
      value = static_cast<float>(reference[i] + step * (value - reference[i]));
    }
  Tape<float> tape;
  chain.forward_and_adjoint(std::as_const(x).rows(), n, Keep::adjoint, x.rows(), tape);
  Passed found{{tape.sum.begin(), tape.sum.begin() + n}, {}};
  for (int row = 0; row < n; ++row) found.dx.insert(found.dx.end(), x.rows()[row], x.rows()[row] + of.n_in);
  return found;
}
double rms(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / values.size());
}
double rms_difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> difference;
  for (std::size_t i = 0; i < a.size(); ++i) difference.push_back(a[i] - b[i]);
  return rms(difference);
}

std::vector<Case> sums() {
  std::vector<Case> found;
  for (auto& of : cases())
    if (of.sum) found.push_back(of);
  // A usual fitting network, of more than one panel of the kernels.
  Case wide{
      "wide",
      90,
      {layer("a", "x", "", 90, 70, Activation::tanh), layer("b", "a", "a", 70, 70, Activation::tanh, true),
       layer("c", "b", "b", 70, 70, Activation::tanh, true), layer("e", "c", "", 70, 1, Activation::linear)},
      true,
      {}};
  wide.place();
  found.push_back(wide);
  return found;
}
struct Pair {
  explicit Pair(const Case& of, std::vector<double> about)
      : exact(of.chain<float>()), rounded(of.chain<float>()), reference(std::move(about)) {
    const auto parameters = noise(of.n_parameters, 3, 0.2);
    exact.refresh(parameters.data());
    rounded.refresh(parameters.data());
    rounded.round_about(reference.data());
  }
  Chain<float> exact, rounded;
  std::vector<double> reference;
};

TEST(rounded_chain, is_off_by_the_rounding_of_numbers_and_not_by_nothing) {
  for (const auto& of : sums()) {
    const Pair chains(of, std::vector<double>(of.n_in, 0.0));
    const auto exact = pass(of, chains.exact, chains.reference, 1, 70),
               rounded = pass(of, chains.rounded, chains.reference, 1, 70);
    const double error = rms_difference(rounded.dx, exact.dx) / rms(exact.dx);
    EXPECT_LT(error, 3 * half_ulp) << of.name;
    EXPECT_GT(error, half_ulp / 100) << of.name << ": nothing was rounded";
    EXPECT_LT(rms_difference(rounded.sum, exact.sum), 3 * half_ulp * rms(exact.sum)) << of.name;
  }
}

/// At the reference nothing is left to round; away from it the adjoint's error grows with the distance, the
/// sum's with its square (but for float's own round-off, which stays).
TEST(rounded_chain, is_exact_at_the_reference_and_to_first_order_about_it) {
  for (const auto& of : sums()) {
    const Pair chains(of, noise(of.n_in, 11, 0.5));
    const auto errors = [&](double step) {
      const auto exact = pass(of, chains.exact, chains.reference, step, 70),
                 rounded = pass(of, chains.rounded, chains.reference, step, 70);
      return std::pair{rms_difference(rounded.sum, exact.sum), rms_difference(rounded.dx, exact.dx)};
    };
    const auto [sum_there, dx_there] = errors(0);
    EXPECT_LT(sum_there, 1e-6) << of.name;
    EXPECT_LT(dx_there, 1e-6) << of.name;
    const auto [sum_far, dx_far] = errors(0.3);
    const auto [sum_near, dx_near] = errors(0.03);
    EXPECT_LT(dx_near, 0.3 * dx_far + 1e-6) << of.name;
    EXPECT_LT(sum_near, 0.1 * sum_far + 1e-6) << of.name;
  }
}

/// The sum moves in steps of the rounding, so its slope over a short distance says little; along a path it
/// must change by the integral of the adjoint (Gauss and Legendre's 8 points).
TEST(rounded_chain, sum_changes_by_the_integral_of_the_adjoint) {
  constexpr double nodes[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363},
                   weights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                0.1012285362903763};
  constexpr int n = 40;
  for (const auto& of : sums()) {
    const Pair chains(of, noise(of.n_in, 11, 0.5));
    const auto path = noise(std::int64_t{n} * of.n_in, 12, 0.5);
    const auto at = [&](double share) {
      Input<float> x(of, n, 5);
      for (int row = 0; row < n; ++row)
        for (int i = 0; i < of.n_in; ++i)
          x.rows()[row][i] += static_cast<float>(share * path[std::int64_t{row} * of.n_in + i]);
      Tape<float> tape;
      chains.rounded.forward_and_adjoint(std::as_const(x).rows(), n, Keep::adjoint, x.rows(), tape);
      Passed found{{tape.sum.begin(), tape.sum.begin() + n}, {}};
      for (int row = 0; row < n; ++row)
        found.dx.insert(found.dx.end(), x.rows()[row], x.rows()[row] + of.n_in);
      return found;
    };
    const auto first = at(0), last = at(1);
    std::vector<double> change, integral(n, 0.0);
    for (int row = 0; row < n; ++row) change.push_back(last.sum[row] - first.sum[row]);
    for (int point = 0; point < 4; ++point)
      for (const double side : {-1.0, 1.0}) {
        const auto here = at(0.5 + 0.5 * side * nodes[point]);
        for (std::size_t k = 0; k < path.size(); ++k)
          integral[k / of.n_in] += 0.5 * weights[point] * here.dx[k] * path[k];
      }
    EXPECT_LT(rms_difference(change, integral), 0.01 * rms(change)) << of.name;
  }
}

TEST(rounded_chain, rows_do_not_depend_on_how_many_run_together) {
  for (const auto& of : sums()) {
    const Pair chains(of, noise(of.n_in, 11, 0.5));
    const auto few = pass(of, chains.rounded, chains.reference, 1, 5),
               many = pass(of, chains.rounded, chains.reference, 1, 70);
    for (std::size_t i = 0; i < few.sum.size(); ++i) EXPECT_EQ(few.sum[i], many.sum[i]) << of.name;
    for (std::size_t i = 0; i < few.dx.size(); ++i) EXPECT_EQ(few.dx[i], many.dx[i]) << of.name;
  }
}

TEST(rounded_chain, new_weights_end_it_and_training_does_not_see_it) {
  const Case of = sums().back();
  Pair chains(of, noise(of.n_in, 11, 0.5));
  const Input<float> x(of, 9, 5);
  Input<float> dx(of, 9, 6), dx_rounded(of, 9, 6);
  Tape<float> tape, tape_rounded;
  chains.exact.forward_and_adjoint(x.rows(), 9, Keep::tangent, dx.rows(), tape);
  chains.rounded.forward_and_adjoint(x.rows(), 9, Keep::tangent, dx_rounded.rows(), tape_rounded);
  EXPECT_EQ(tape.sum, tape_rounded.sum);
  EXPECT_EQ(dx.values, dx_rounded.values);
  EXPECT_TRUE(chains.rounded.rounds());
  chains.rounded.refresh(noise(of.n_parameters, 4, 0.2).data());
  EXPECT_FALSE(chains.rounded.rounds());
}

TEST(rounded_chain, in_double_is_refused) {
  const Case of = sums().front();
  auto chain = of.chain<double>();
  const std::vector<double> reference(of.n_in, 0.0);
  EXPECT_THROW(chain.round_about(reference.data()), InternalError);
}

}  // namespace
}  // namespace quintet::networks
