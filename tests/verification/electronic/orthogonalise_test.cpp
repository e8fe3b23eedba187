#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/graded_columns.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/submatrix/block_multiply.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/electronic/submatrix/submatrix_columns.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;

/// Overlap with 1 on the diagonal and a condition number of about ten; K = S^1/2 A S^1/2 with A gapped.
struct System {
  Ring molecules = ring(40, {6, 2, 4}, 0.05, 0.9);
  Dense s = overlap();
  Eigen eigen = diagonalise(s);
  Dense z = function_of(eigen, [](double x) { return 1 / std::sqrt(x); });
  Dense k = hamiltonian();

  [[nodiscard]] Dense overlap() const {
    Dense m = ring(40, {6, 2, 4}, 0.28, 1.1).a;
    for (int i = 0; i < m.n; ++i) m(i, i) = 1;
    return m;
  }
  [[nodiscard]] Dense hamiltonian() const {
    const Dense root = function_of(eigen, [](double x) { return std::sqrt(x); });
    Dense k_dense = root * molecules.a * root;
    for (int j = 0; j < k_dense.n; ++j)
      for (int i = 0; i < j; ++i) k_dense(i, j) = k_dense(j, i);
    return k_dense;
  }
};

class Orthogonal : public ::testing::Test {
 protected:
  const Comm comm = Comm::world();
  const System system{};
  const std::shared_ptr<const Blocking> blocking = blocks_of(system.molecules);
  const BlockMatrix k = distribute(comm, system.k, blocking), s = distribute(comm, system.s, blocking);
};

TEST_F(Orthogonal, root_and_a_are_as_good_as_promised) {
  ASSERT_GT(system.eigen.value.front(), 0.05);
  ASSERT_GT(system.eigen.value.back() / system.eigen.value.front(), 5);
  for (const double threshold : {1e-3, 1e-5, 1e-7}) {
    const auto result = orthogonalise(k, s, threshold);

    // elements of blocks that were dropped count too: they are smaller than the filter
    EXPECT_LT(largest_difference(collect(result.inverse_sqrt), system.z), threshold);
    EXPECT_LT(largest_difference(collect(result.a), system.molecules.a), 0.5 * threshold);
    EXPECT_LT(result.residual, 3 * threshold);
    EXPECT_GT(result.residual, 0);
  }
}

/// 1/sqrt(S) of a ring, whose neighbours overlap by `strength` and the next ones by exp(-`decay`) of it.
struct RootCase {
  const Comm comm = Comm::world();
  Ring ring_of;
  Dense dense;
  Eigen eigen;
  BlockMatrix s;
  ChebyshevSeries series;

  RootCase(int n, const std::vector<int>& sizes, double strength, double decay)
      : ring_of(ring(n, sizes, strength, decay)),
        dense(with_unit_diagonal(ring_of.a)),
        eigen(diagonalise(dense)),
        s(distribute(comm, dense, blocks_of(ring_of))) {
    const Band band{0.99 * eigen.value.front(), 1.01 * eigen.value.back()};
    const std::function<double(double)> root[] = {[](double x) { return 1 / std::sqrt(x); }};
    series = fit(std::span(&band, 1), root, 1e-12, 1000);
  }
  static Dense with_unit_diagonal(Dense m) {
    for (int i = 0; i < m.n; ++i) m(i, i) = 1;
    return m;
  }
  [[nodiscard]] GradedColumns graded(double threshold, GradedErrors errors) const {
    const BlockMatrix norms = block_norms(s);
    return evaluate_columns_graded(s, multiply(norms, norms, 4 * threshold), series, errors);
  }
  [[nodiscard]] Dense in_all_rows(double threshold) const {
    BlockMatrix f = inverse_sqrt_pattern(s, threshold);
    evaluate_columns(s, f, series);
    return collect(f);
  }
};

TEST(GradedSeries, all_rows_give_what_submatrices_give) {
  for (const RootCase& root : {RootCase(40, {6, 2, 4}, 0.28, 1.1), RootCase(30, {3, 9, 1}, 0.2, 0.6)}) {
    const auto result = root.graded(1e-4, {0, 0});

    EXPECT_LT(largest_difference(collect(result.f), root.in_all_rows(1e-4)), 1e-12);
    EXPECT_GT(result.work, 0.99);
  }
}

TEST(GradedSeries, fewer_rows_for_high_degrees_hide_in_the_threshold) {
  // short and longer ranged, blocks of one size and of several, one condition number of some hundred
  for (const RootCase& root : {RootCase(60, {6, 2, 4}, 0.28, 1.1), RootCase(40, {5}, 0.15, 0.7),
                               RootCase(60, {1, 3, 10}, 0.29, 1.1)}) {
    for (const double threshold : {1e-3, 1e-5}) {
      const Dense all = root.in_all_rows(threshold);
      const Dense exact = function_of(root.eigen, [](double x) { return 1 / std::sqrt(x); });

      const auto result = root.graded(threshold, graded_errors(threshold, root.eigen.value.front()));

      const Dense graded = collect(result.f);
      EXPECT_LT(largest_difference(graded, exact), 1.05 * largest_difference(all, exact));
      EXPECT_LT(largest_difference(graded, all), 0.2 * threshold);
      EXPECT_LT(std::abs(trace(graded) - trace(all)), 1e-3 * threshold * all.n);
      EXPECT_LT(result.work, 0.6);
    }
  }
}

TEST_F(Orthogonal, residual_is_that_of_the_matrices) {
  const auto result = orthogonalise(k, s, 1e-4);
  const Dense z = collect(result.inverse_sqrt);
  Dense zsz = z * system.s * z;
  double squares = 0;
  for (int j = 0; j < zsz.n; ++j)
    for (int i = 0; i < zsz.n; ++i) squares += std::pow(zsz(i, j) - (i == j ? 1 : 0), 2);

  // two random vectors estimate it
  EXPECT_NEAR(result.residual / std::sqrt(squares / zsz.n), 1, 0.5);
}

TEST_F(Orthogonal, same_on_one_rank) {
  const auto alone = orthogonalise(distribute(Comm::self(), system.k, blocking),
                                   distribute(Comm::self(), system.s, blocking), 1e-4);

  const auto result = orthogonalise(k, s, 1e-4);

  EXPECT_LT(largest_difference(collect(result.a), collect(alone.a)), 1e-12);
  EXPECT_LT(largest_difference(collect(result.inverse_sqrt), collect(alone.inverse_sqrt)), 1e-12);
  EXPECT_EQ(result.iterations, alone.iterations);
}

TEST_F(Orthogonal, density_matrix_has_the_energy_and_pairs_of_dense_orbitals) {
  const auto eigen = diagonalise(system.molecules.a);
  const Dense p = function_of(eigen, [](double x) { return x < 0 ? 1.0 : 0.0; });
  const Dense d = system.z * p * system.z;
  double before = 1e9;
  for (const double threshold : {1e-3, 1e-5, 1e-7}) {
    const auto basis = orthogonalise(k, s, threshold);
    SubmatrixOptions options;
    options.mu = 0;
    options.threshold = threshold;
    const auto sign = evaluate_submatrices(basis.a, options);

    const auto density = density_matrix(sign, basis, k, s, threshold);

    EXPECT_LT(largest_difference(collect(density.d), d), 3 * threshold);
    EXPECT_NEAR(density.tr_dk, trace(d * system.k), 30 * threshold);
    EXPECT_NEAR(density.n_pairs, trace(p), 30 * threshold);
    EXPECT_LT(density.idempotency, 0.1 * before);
    EXPECT_LT(density.commutator, 30 * threshold);
    before = density.idempotency;
  }
}

std::string refusal(const BlockMatrix& k, const BlockMatrix& s) {
  try {
    static_cast<void>(orthogonalise(k, s, 1e-4));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Orthogonal, indefinite_overlap_is_refused_with_its_smallest_eigenvalue) {
  Dense bad = system.s;
  bad(0, 0) = -0.3;  // one negative eigenvalue
  const double smallest = diagonalise(bad).value.front();

  const std::string message = refusal(k, distribute(comm, bad, blocking));

  EXPECT_NE(message.find("not positive definite"), std::string::npos) << message;
  EXPECT_NE(message.find(fmt::format("{:.2g}", smallest)), std::string::npos) << message << smallest;
}

TEST_F(Orthogonal, all_but_singular_overlap_is_refused_with_its_condition) {
  Dense bad = system.s;
  for (int i = 0; i < bad.n; ++i) bad(i, i) -= system.eigen.value.front() - 3e-8;

  const std::string message = refusal(k, distribute(comm, bad, blocking));

  EXPECT_NE(message.find("all but singular"), std::string::npos) << message;
  EXPECT_NE(message.find("condition number"), std::string::npos) << message;
  EXPECT_NE(message.find("near-dependent basis functions"), std::string::npos) << message;
  EXPECT_EQ(message.find("polynomial"), std::string::npos) << message;
}

TEST_F(Orthogonal, other_blocks_are_refused) {
  const auto other = std::make_shared<const Blocking>(uniform_blocking(system.s.n, 1));
  EXPECT_NE(refusal(k, distribute(comm, system.s, other)).find("different blocks"), std::string::npos);
}

}  // namespace
}  // namespace quintet::electronic
