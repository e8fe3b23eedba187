#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/submatrix/frontier.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/electronic/submatrix/submatrix_plan.hpp"
#include "physics/kernels/pack.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;

/// Blocks of 1 to 9 rows, a gap of about 0.6 Hartree.
Ring sample() { return ring(24, {3, 1, 6, 9, 4}, 0.06, 0.8); }

SubmatrixOptions step_at(double mu, double threshold, SubmatrixKernel kernel) {
  SubmatrixOptions options;
  options.mu = mu;
  options.threshold = threshold;
  options.kernel = kernel;
  options.polynomial_error = 1e-9;
  return options;
}

class Step : public ::testing::TestWithParam<SubmatrixKernel> {
 protected:
  const Comm comm = Comm::world();
  const Ring system = sample();
  const Dense exact = function_of(diagonalise(system.a), [](double x) { return x < 0.01 ? 1.0 : 0.0; });
  const BlockMatrix a = distribute(comm, system.a, blocks_of(system));
};

TEST_P(Step, is_exact_when_no_block_is_dropped) {
  const auto result = evaluate_submatrices(a, step_at(0.01, 0, GetParam()));

  EXPECT_LT(largest_difference(collect(result.p), exact), 3e-9);
  EXPECT_NEAR(result.n_pairs, trace(exact), 1e-7);
  EXPECT_EQ(result.n_max, system.a.n);
  EXPECT_LT(result.asymmetry, 1e-7);
}

TEST_P(Step, error_falls_with_the_threshold) {
  double before = 1e9;
  for (const double threshold : {3e-2, 3e-3, 3e-4, 3e-5}) {
    const auto result = evaluate_submatrices(a, step_at(0.01, threshold, GetParam()));
    Dense difference = collect(result.p);
    double squares = 0;
    for (std::size_t i = 0; i < exact.value.size(); ++i)
      squares += std::pow(difference.value[i] - exact.value[i], 2);

    EXPECT_LT(std::sqrt(squares), 0.3 * before) << threshold;
    EXPECT_LT(std::sqrt(squares), 40 * threshold);
    before = std::sqrt(squares);
  }
}

TEST_P(Step, is_symmetric) {
  const Dense p = collect(evaluate_submatrices(a, step_at(0.01, 3e-3, GetParam())).p);
  for (int j = 0; j < p.n; ++j)
    for (int i = 0; i < j; ++i) ASSERT_EQ(p(i, j), p(j, i));
}

TEST_P(Step, is_the_same_on_one_rank) {
  for (const int together : {0, 1, 5}) {
    auto options = step_at(0.01, 3e-3, GetParam());
    options.columns_together = together;
    const auto alone = evaluate_submatrices(distribute(Comm::self(), system.a, blocks_of(system)), options);

    const auto result = evaluate_submatrices(a, options);

    EXPECT_LT(largest_difference(collect(result.p), collect(alone.p)), 1e-12);
    EXPECT_NEAR(result.n_pairs, alone.n_pairs, 1e-10);
    EXPECT_EQ(result.degree, alone.degree);
  }
}

TEST_P(Step, does_not_depend_on_the_order_of_blocks) {
  // block b of the other order is block (7 b) mod 24: the user's rows stay what they are
  Blocking shuffled;
  for (int b = 0; b < 24; ++b) {
    const int old = 7 * b % 24;
    for (int i = 0; i < system.a.n; ++i)
      if (system.block_of[i] == old) shuffled.order.push_back(i);
    shuffled.begin.push_back(shuffled.order.size());
  }
  auto options = step_at(0.01, 3e-3, GetParam());
  options.columns_together = 1;  // clusters depend on the order
  const auto plain = evaluate_submatrices(a, options);

  const auto other =
      evaluate_submatrices(distribute(comm, system.a, std::make_shared<const Blocking>(shuffled)), options);

  // other columns are sampled for the bands, so polynomials agree to their error only
  const double tolerance = GetParam() == SubmatrixKernel::polynomial ? 3e-9 : 1e-8;
  EXPECT_LT(largest_difference(collect(plain.p), collect(other.p)), tolerance);
  EXPECT_NEAR(plain.n_pairs, other.n_pairs, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Step,
                         ::testing::Values(SubmatrixKernel::polynomial, SubmatrixKernel::eigen,
                                           SubmatrixKernel::newton_schulz),
                         [](const auto& info) {
                           return info.param == SubmatrixKernel::polynomial ? "polynomial"
                                  : info.param == SubmatrixKernel::eigen    ? "eigen"
                                                                            : "newton_schulz";
                         });

TEST(Submatrices, more_columns_together_mean_larger_submatrices_and_a_smaller_error) {
  const Ring system = sample();
  const Dense exact = function_of(diagonalise(system.a), [](double x) { return x < 0 ? 1.0 : 0.0; });
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));
  auto options = step_at(0, 3e-3, SubmatrixKernel::eigen);
  options.columns_together = 1;
  const auto one = evaluate_submatrices(a, options);
  options.columns_together = 4;

  const auto four = evaluate_submatrices(a, options);

  EXPECT_GT(four.n_mean, one.n_mean);
  EXPECT_LT(std::abs(four.n_pairs - trace(exact)), std::abs(one.n_pairs - trace(exact)));
}

/// What `options` give for the ring of 80 molecules of 6 rows, whose rows 6 b to 6 b + 5 are molecule b's.
SubmatrixResult of_long_ring(SubmatrixOptions options, int columns_together, int rows_per_block = 6) {
  options.columns_together = columns_together;
  const Ring system = ring(80, {rows_per_block}, 0.05, 0.5);
  return evaluate_submatrices(distribute(Comm::world(), system.a, blocks_of(system)), options);
}

TEST(Submatrices, clusters_are_made_where_they_are_predicted_to_save_time) {
  const auto options = step_at(0, 1e-3, SubmatrixKernel::eigen);
  const auto apart = of_long_ring(options, 1), clusters = of_long_ring(options, 0);

  EXPECT_EQ(apart.n_submatrices, 80);
  EXPECT_EQ(apart.clustering_gain, 1);
  EXPECT_LT(clusters.n_submatrices, 70);
  EXPECT_GT(clusters.clustering_gain, 1.05);
  EXPECT_GT(clusters.n_mean, apart.n_mean);
  // their difference is not above the error of the threshold
  const Ring system = ring(80, {6}, 0.05, 0.5);
  const Dense exact = function_of(diagonalise(system.a), [](double x) { return x < 0 ? 1.0 : 0.0; });
  const double error = largest_difference(collect(apart.p), exact);
  EXPECT_LT(largest_difference(collect(clusters.p), exact), 1.0001 * error);
  EXPECT_LT(std::abs(clusters.n_pairs - trace(exact)), std::abs(apart.n_pairs - trace(exact)));
}

TEST(Submatrices, a_polynomial_that_fills_its_registers_gets_no_clusters) {
  const auto options = step_at(0, 1e-3, SubmatrixKernel::polynomial);
  EXPECT_EQ(of_long_ring(options, 0, pack_width<double>).n_submatrices, 80);
}

TEST(Submatrices, single_rows_share_registers) {
  const Ring system = ring(128, {1}, 0.05, 0.3);
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));

  const auto result = evaluate_submatrices(a, step_at(0, 1e-3, SubmatrixKernel::polynomial));

  EXPECT_LT(result.n_submatrices, 64);
  EXPECT_GT(result.clustering_gain, 1.5);
}

TEST(Frontier, levels_are_those_of_the_matrix_though_p_is_filtered) {
  const Ring system = ring(80, {6}, 0.05, 0.5);
  const auto exact = diagonalise(system.a).value;
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));
  const auto sign = evaluate_submatrices(a, step_at(0, 1e-3, SubmatrixKernel::polynomial));
  const auto lumo = std::upper_bound(exact.begin(), exact.end(), 0.0);

  for (const int dense_rows : {0, 512}) {
    const auto found = frontier_levels(a, sign.p, 0, {1e-5, dense_rows});

    EXPECT_NEAR(found.homo, *(lumo - 1), 1e-6);
    EXPECT_NEAR(found.lumo, *lumo, 1e-6);
    EXPECT_LE(std::abs(found.homo - *(lumo - 1)), found.homo_error + 1e-12);
    EXPECT_LE(std::abs(found.lumo - *lumo), found.lumo_error + 1e-12);
    EXPECT_LT(found.homo_error + found.lumo_error, 2e-5);
  }
}

TEST(Frontier, there_is_no_level_where_all_orbitals_are_full) {
  const Ring system = ring(5, {2}, 0.05, 0.5);
  Dense unit(system.a.n);
  for (int i = 0; i < unit.n; ++i) unit(i, i) = 1;
  const auto blocks = blocks_of(system);
  const auto comm = Comm::world();

  const auto found = frontier_levels(distribute(comm, system.a, blocks), distribute(comm, unit, blocks), 5);

  EXPECT_NEAR(found.homo, diagonalise(system.a).value.back(), 1e-9);
  EXPECT_EQ(found.lumo, std::numeric_limits<double>::infinity());
}

TEST(Submatrices, single_precision_is_good_to_its_rounding) {
  const Ring system = sample();
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));
  auto options = step_at(0, 1e-3, SubmatrixKernel::polynomial);
  const Dense precise = collect(evaluate_submatrices(a, options).p);
  options.single_precision = true;

  const double difference = largest_difference(collect(evaluate_submatrices(a, options).p), precise);

  EXPECT_LT(difference, 5e-6);
  EXPECT_GT(difference, 1e-9);
}

TEST(Submatrices, eigenvalues_in_the_gap_go_to_the_eigen_kernel) {
  // one molecule, not among those sampled, has a level just below mu, in the middle of the others' gap
  Ring system = ring(400, {2}, 0.03, 1.5);
  system.a(2 * 99, 2 * 99) = -0.02;
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));
  // the same submatrices for both, on processors of any width
  auto eigen = step_at(0, 1e-2, SubmatrixKernel::eigen),
       polynomial = step_at(0, 1e-2, SubmatrixKernel::polynomial);
  eigen.columns_together = polynomial.columns_together = 1;
  const auto by_eigen = evaluate_submatrices(a, eigen);
  ASSERT_GT(by_eigen.homo, -0.1);

  const auto result = evaluate_submatrices(a, polynomial);

  EXPECT_GT(result.n_in_gap, 0);
  EXPECT_GT(result.n_polynomial, 100);
  EXPECT_LT(largest_difference(collect(result.p), collect(by_eigen.p)), 1e-7);
}

TEST(Submatrices, one_that_does_not_fit_in_memory_is_named_before_the_start) {
  const Ring system = sample();
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));
  auto options = step_at(0, 1e-3, SubmatrixKernel::eigen);
  options.memory_bytes = 1000;
  try {
    static_cast<void>(evaluate_submatrices(a, options));
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("the submatrix of block column"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("a rank may use 0.001 MB"), std::string::npos) << error.what();
  }
}

TEST(Submatrices, predicted_costs_share_out_uneven_work) {
  // the first quarter of the molecules couples ten times as far
  Ring system = ring(48, {4}, 0.05, 1.5);
  const Ring dense = ring(48, {4}, 0.05, 0.15);
  for (int i = 0; i < 48; ++i)
    for (int j = 0; j < 48; ++j) system.a(i, j) = dense.a(i, j);
  const auto comm = Comm::world();
  const auto a = distribute(comm, system.a, blocks_of(system));

  const auto costs = predicted_costs(a, step_at(0, 3e-3, SubmatrixKernel::eigen));

  ASSERT_EQ(costs.size(), 48U);
  EXPECT_GT(costs[5], 2 * costs[30]);
  const auto shares = share_columns(comm, *a.blocking, costs);
  double largest = 0, total = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    double share = 0;
    for (int c = shares[rank]; c < shares[static_cast<std::size_t>(rank) + 1]; ++c) share += costs[c];
    largest = std::max(largest, share);
    total += share;
  }
  EXPECT_LT(largest, 1.2 * total / comm.size());
}

TEST(Submatrices, impossible_options_are_refused) {
  const Ring system = sample();
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));
  const auto refusal = [&](auto&& change) {
    auto options = step_at(0, 1e-3, SubmatrixKernel::automatic);
    change(options);
    try {
      static_cast<void>(evaluate_submatrices(a, options));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  using Options = SubmatrixOptions;
  EXPECT_NE(refusal([](Options& o) { o.mu = 5; }).find("outside the spectrum"), std::string::npos);
  EXPECT_NE(refusal([](Options& o) { o.n_pairs = 3; }).find("not both"), std::string::npos);
  EXPECT_NE(refusal([](Options& o) { o.mu.reset(); }).find("not neither"), std::string::npos);
  EXPECT_NE(refusal([](Options& o) { o.mu.reset(), o.n_pairs = 1e6; }).find("do not fit"), std::string::npos);
  EXPECT_NE(refusal([](Options& o) { o.threshold = -1; }).find("threshold -1"), std::string::npos);
  EXPECT_NE(refusal([](Options& o) { o.temperature = -1; }).find("temperature"), std::string::npos);
}

TEST(Submatrices, newton_schulz_of_higher_order_gives_the_same) {
  const Ring system = sample();
  const Dense exact = function_of(diagonalise(system.a), [](double x) { return x < 0 ? 1.0 : 0.0; });
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));
  for (const int order : {2, 3, 4}) {
    auto options = step_at(0, 0, SubmatrixKernel::newton_schulz);
    options.newton_schulz_order = order;

    const auto result = evaluate_submatrices(a, options);

    EXPECT_LT(largest_difference(collect(result.p), exact), 1e-7) << "order " << order;
  }
  auto options = step_at(0, 0, SubmatrixKernel::newton_schulz);
  options.newton_schulz_order = 5;
  EXPECT_THROW(static_cast<void>(evaluate_submatrices(a, options)), InputError);
}

TEST(Submatrices, newton_schulz_tells_its_history_when_mu_is_an_eigenvalue) {
  Ring system = ring(3, {1}, 0, 1);
  system.a(0, 0) = 0.25;
  const auto a = distribute(Comm::world(), system.a, blocks_of(system));
  EXPECT_THROW(static_cast<void>(evaluate_submatrices(a, step_at(0.25, 0, SubmatrixKernel::newton_schulz))),
               NumericalError);
}

/// What is said of ranks that need not be there is what they do.
TEST(SubmatrixNeeds, are_what_a_rank_gathers_and_computes) {
  const Comm comm = Comm::world();
  const Ring system = ring(150, {3, 1, 6, 9, 4}, 0.06, 0.8);
  for (const double threshold : {3e-2, 1e-4}) {
    for (const int together : {0, 1, 3}) {
      BlockMatrix whole = distribute(Comm::self(), system.a, blocks_of(system)),
                  a = distribute(comm, system.a, blocks_of(system));
      filter(whole, threshold);
      filter(a, threshold);
      SubmatrixOptions options = step_at(0.01, threshold, SubmatrixKernel::automatic);
      options.columns_together = together;
      const auto cost = first_cost(options);
      const auto work = plan_submatrices(a, {together, cost, false, memory_of_a_rank(comm, 0)});
      double seconds = 0;
      std::vector<BlockRows> rows;
      for (const Submatrix& one : work) {
        seconds += cost(one.n, one.n_own);
        rows.push_back(one.rows);
      }
      comm.reset_counters();
      static_cast<void>(gather(a, rows));
      const auto sent = comm.counter(Comm::Call::gather);

      const auto needs = submatrix_needs(whole, options, a.rank_begin);

      ASSERT_EQ(std::ssize(needs), comm.size());
      const auto& here = needs[comm.rank()];
      EXPECT_EQ(static_cast<double>(sent.bytes), here.bytes_sent) << threshold << " " << together;
      EXPECT_EQ(sent.messages, comm.size() > 1 ? 3 : 0);
      EXPECT_DOUBLE_EQ(seconds, here.seconds);
      EXPECT_EQ(comm.maximum(here.bytes_sent) > 0, comm.size() > 1);
    }
  }
}

}  // namespace
}  // namespace quintet::electronic
