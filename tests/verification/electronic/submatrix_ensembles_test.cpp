#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/electronic/functions/occupation.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/electronic/submatrix/submatrix_spins.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;

Ring insulator() { return ring(24, {3, 1, 6, 9, 4}, 0.06, 0.8); }

/// A ring of n sites with one orbital each and hopping -t: e_k = -2 t cos(2 pi k/n), no gap.
Dense chain(int n, double t) {
  Dense a(n);
  for (int i = 0; i < n; ++i) a(i, (i + 1) % n) = a((i + 1) % n, i) = -t;
  return a;
}

SubmatrixOptions pairs(double n_pairs, double threshold, SubmatrixKernel kernel, double temperature) {
  SubmatrixOptions options;
  options.n_pairs = n_pairs;
  options.threshold = threshold;
  options.kernel = kernel;
  options.temperature = temperature;
  options.polynomial_error = 1e-9;
  return options;
}

class FixedPairs : public ::testing::TestWithParam<SubmatrixKernel> {
 protected:
  const Comm comm = Comm::world();
};

TEST_P(FixedPairs, are_held_in_an_insulator) {
  const Ring system = insulator();
  const auto a = distribute(comm, system.a, blocks_of(system));
  const auto eigen = diagonalise(system.a);
  const double n = trace(function_of(eigen, [](double x) { return x < 0 ? 1.0 : 0.0; }));
  for (const double threshold : {0.0, 1e-3, 1e-2}) {
    const auto result = evaluate_submatrices(a, pairs(n, threshold, GetParam(), 0));

    EXPECT_NEAR(result.n_pairs, n, 1e-8);
    EXPECT_GT(result.mu, result.homo);
    EXPECT_LT(result.mu, result.lumo);
    EXPECT_LT(std::abs(result.n_pairs_put), 5 * threshold + 1e-6);
    EXPECT_EQ(result.entropy, 0);
  }
}

TEST_P(FixedPairs, are_held_at_a_temperature_with_the_entropy_of_the_fermi_function) {
  const Ring system = insulator();
  const auto a = distribute(comm, system.a, blocks_of(system));
  const auto eigen = diagonalise(system.a);
  for (const double mu : {0.0, 0.42}) {
    const Occupation f{mu, 0.04, 0};
    double n = 0, entropy = 0;
    for (const double x : eigen.value) {
      n += f(x);
      entropy += f.entropy(x);
    }

    const auto result = evaluate_submatrices(a, pairs(n, 0, GetParam(), 0.04));

    EXPECT_NEAR(result.n_pairs, n, 1e-8);
    EXPECT_NEAR(result.mu, mu, 1e-6);
    EXPECT_NEAR(result.entropy, entropy, 1e-4);
    EXPECT_LT(largest_difference(collect(result.p), function_of(eigen, f)), 1e-5);
  }
}

TEST_P(FixedPairs, are_held_in_a_metal_at_a_temperature) {
  const Dense system = chain(120, 0.1);
  const auto a = distribute(comm, system, std::make_shared<const Blocking>(uniform_blocking(120, 4)));
  const Occupation f{-0.05, 0.02, 0};
  double n = 0;
  for (int k = 0; k < 120; ++k) n += f(-0.2 * std::cos(2 * M_PI * k / 120));  // the analytic bands

  const auto result = evaluate_submatrices(a, pairs(n, 0, GetParam(), 0.02));

  EXPECT_NEAR(result.n_pairs, n, 1e-8);
  // a submatrix of the nearest blocks is all that a threshold of 0 keeps: its levels are not the whole
  // chain's
  EXPECT_NEAR(result.mu, -0.05, 0.01);
}

// Submatrices of single columns count other pairs in the middle of the gap: what holds them lies near its
// edge.
TEST_P(FixedPairs, are_held_at_a_temperature_far_from_the_middle_of_the_gap) {
  const Ring system = ring(24, {3, 1, 6, 23, 9, 4}, 0.06, 0.8);
  const auto a = distribute(comm, system.a, blocks_of(system));
  for (const auto& [temperature, n] : {std::pair{0.02, 92.0}, {0.02, 92.1}, {0.005, 92.0}}) {
    auto options = pairs(n, 3e-3, GetParam(), temperature);
    options.columns_together = 1;
    options.polynomial_error = 1e-9;
    const auto result = evaluate_submatrices(a, options);
    EXPECT_NEAR(result.n_pairs, n, 1e-8) << temperature;
    options.kernel = SubmatrixKernel::eigen;
    EXPECT_NEAR(result.mu, evaluate_submatrices(a, options).mu, 1e-3 * temperature)
        << temperature << " " << n;
  }
}

// In a wide gap no shift of mu changes the pairs by more than rounding: any mu there holds them.
TEST_P(FixedPairs, are_held_by_any_mu_of_a_gap_that_is_wide_for_the_temperature) {
  constexpr int n_dimers = 40;
  Dense system(2 * n_dimers);
  for (int i = 0; i < n_dimers; ++i) {  // levels -0.037 and 0.018
    system(2 * i, 2 * i) = system(2 * i + 1, 2 * i + 1) = -0.0095;
    system(2 * i, 2 * i + 1) = system(2 * i + 1, 2 * i) = -0.0275;
  }
  const auto a =
      distribute(comm, system, std::make_shared<const Blocking>(uniform_blocking(2 * n_dimers, 2)));
  for (const double temperature : {3e-8, 3e-6, 3e-4, 1e-3}) {
    const auto half = evaluate_submatrices(a, pairs(n_dimers, 1e-6, GetParam(), temperature));
    EXPECT_NEAR(half.n_pairs, n_dimers, 1e-6) << temperature;
    EXPECT_GT(half.mu, -0.037) << temperature;
    EXPECT_LT(half.mu, 0.018) << temperature;
    EXPECT_LT(half.error.mu, 0.056) << temperature;
    const auto all = evaluate_submatrices(a, pairs(2 * n_dimers, 1e-6, GetParam(), temperature));
    EXPECT_EQ(all.n_pairs, 2 * n_dimers) << temperature;
    EXPECT_EQ((Occupation{all.mu, temperature, 0})(0.018), 1) << temperature;
    if (temperature < 1e-4) continue;  // too steep for a polynomial
    const auto one_short = evaluate_submatrices(a, pairs(n_dimers - 1, 1e-6, GetParam(), temperature));
    EXPECT_NEAR(one_short.n_pairs, n_dimers - 1, 1e-8) << temperature;
    EXPECT_NEAR(one_short.mu, -0.037 + temperature * std::log(n_dimers - 1), 1e-6 * temperature);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, FixedPairs,
                         ::testing::Values(SubmatrixKernel::polynomial, SubmatrixKernel::eigen),
                         [](const auto& info) {
                           return info.param == SubmatrixKernel::polynomial ? "polynomial" : "eigen";
                         });

TEST(Ensembles, levels_of_a_metal_without_temperature_are_filled_by_whole_shells) {
  const Dense system = chain(60, 0.1);
  const auto a =
      distribute(Comm::world(), system, std::make_shared<const Blocking>(uniform_blocking(60, 60)));
  // all in one block: levels are pairs e_k = e_-k but for the lowest; 30 would fill one by half
  EXPECT_THROW(static_cast<void>(evaluate_submatrices(a, pairs(30, 0, SubmatrixKernel::automatic, 0))),
               InputError);
  const auto result = evaluate_submatrices(a, pairs(29, 0, SubmatrixKernel::automatic, 0));

  EXPECT_NEAR(result.n_pairs, 29, 1e-8);
  double energy = 0;
  const auto eigen = diagonalise(system);
  for (int i = 0; i < 29; ++i) energy += eigen.value[i];
  EXPECT_NEAR(trace(collect(result.p) * system), energy, 1e-10);
}

TEST(Ensembles, fermi_function_at_fixed_mu_is_the_dense_one) {
  const Ring system = insulator();
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));
  SubmatrixOptions options;
  options.mu = 0.45;
  options.temperature = 0.03;
  options.threshold = 0;
  options.polynomial_error = 1e-10;
  const Occupation f{0.45, 0.03, 0};
  const auto eigen = diagonalise(system.a);
  for (const auto kernel : {SubmatrixKernel::polynomial, SubmatrixKernel::eigen}) {
    options.kernel = kernel;

    const auto result = evaluate_submatrices(a, options);

    EXPECT_LT(largest_difference(collect(result.p), function_of(eigen, f)), 3e-10);
    EXPECT_NEAR(result.mu, 0.45, 1e-15);
  }
}

TEST(Ensembles, same_pairs_and_mu_on_one_rank) {
  const Ring system = insulator();
  for (const double temperature : {0.0, 0.04}) {
    const auto options = pairs(50.2 * (temperature > 0) + 46 * (temperature == 0), 1e-3,
                               SubmatrixKernel::automatic, temperature);
    const auto alone = evaluate_submatrices(distribute(Comm::self(), system.a, blocks_of(system)), options);

    const auto result = evaluate_submatrices(distribute(Comm::world(), system.a, blocks_of(system)), options);

    EXPECT_NEAR(result.mu, alone.mu, 1e-9);
    EXPECT_NEAR(result.entropy, alone.entropy, 1e-9);
    EXPECT_LT(largest_difference(collect(result.p), collect(alone.p)), 1e-9);
  }
}

/// N(mu) of both spins of a ring of n sites with hopping -t whose levels are moved by -b and +b.
std::pair<double, double> pairs_of_polarised_chain(int n, double t, double b, double mu, double temperature) {
  std::pair<double, double> count;
  for (int k = 0; k < n; ++k) {
    const double level = -2 * t * std::cos(2 * M_PI * k / n);
    count.first += Occupation{mu, temperature, 0}(level - b);
    count.second += Occupation{mu, temperature, 0}(level + b);
  }
  return count;
}

TEST(Ensembles, two_spins_share_their_electrons_at_one_mu) {
  constexpr int n = 120;
  constexpr double t = 0.1, b = 0.03, temperature = 0.02, mu = -0.043;
  Dense up = chain(n, t), down = chain(n, t);
  for (int i = 0; i < n; ++i) up(i, i) = -b, down(i, i) = b;
  const auto comm = Comm::world();
  const auto blocks =
      std::make_shared<const Blocking>(uniform_blocking(n, 40));  // each submatrix is the whole ring
  const auto exact = pairs_of_polarised_chain(n, t, b, mu, temperature);
  for (const auto kernel : {SubmatrixKernel::polynomial, SubmatrixKernel::eigen}) {
    const auto [p, q] = evaluate_spins(distribute(comm, up, blocks), distribute(comm, down, blocks),
                                       pairs(exact.first + exact.second, 0, kernel, temperature));

    EXPECT_NEAR(p.n_pairs + q.n_pairs, exact.first + exact.second, 1e-8);
    EXPECT_EQ(p.mu, q.mu);
    EXPECT_GT(exact.first - exact.second, 5);
    EXPECT_NEAR(p.mu, mu, 1e-7);
    EXPECT_NEAR(p.n_pairs, exact.first, 1e-5);
    EXPECT_NEAR(q.n_pairs, exact.second, 1e-5);
  }
}

TEST(Ensembles, two_spins_of_an_insulator_share_electrons_at_zero_temperature) {
  const Ring system = insulator();
  Dense down = system.a;
  for (int i = 0; i < down.n; ++i) down(i, i) += 0.05;
  const auto comm = Comm::world();
  const auto blocks = blocks_of(system);
  const auto occupied = [](double x) { return x < 0.02 ? 1.0 : 0.0; };
  const Dense p = function_of(diagonalise(system.a), occupied), q = function_of(diagonalise(down), occupied);

  const auto [up, other] = evaluate_spins(distribute(comm, system.a, blocks), distribute(comm, down, blocks),
                                          pairs(trace(p) + trace(q), 0, SubmatrixKernel::automatic, 0));

  EXPECT_NEAR(up.n_pairs + other.n_pairs, trace(p) + trace(q), 1e-8);
  EXPECT_LT(largest_difference(collect(up.p), p), 1e-7);
  EXPECT_LT(largest_difference(collect(other.p), q), 1e-7);
}

TEST(Occupations, series_reproduces_the_function_at_another_mu) {
  const Occupation f{0.1, 0.02, 0};
  const auto terms = f.functions(true);
  for (const double s : {-0.004, 0.001, 0.005})
    for (double x = -0.3; x < 0.5; x += 0.013) {
      double sum = 0, power = 1;
      for (const auto& term : terms) {
        sum += power * term(x);
        power *= s;
      }
      EXPECT_NEAR(sum, (Occupation{0.1 + s, 0.02, 0}(x)), 2e-6);
    }
}

TEST(Occupations, entropy_is_largest_at_half_filling_and_never_negative) {
  const Occupation f{0, 0.01, 0};
  EXPECT_NEAR(f.entropy(0), std::log(2), 1e-15);
  for (const double x : {-10.0, -0.1, 0.1, 10.0}) {
    EXPECT_GE(f.entropy(x), 0);
    EXPECT_LT(f.entropy(x), std::log(2));
    EXPECT_NEAR(f.entropy(x), f.entropy(-x), 1e-15);
  }
}

}  // namespace
}  // namespace quintet::electronic
