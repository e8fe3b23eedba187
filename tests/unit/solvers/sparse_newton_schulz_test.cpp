#include "physics/solvers/sparse_newton_schulz.hpp"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <petscmat.h>

#include "io/log/error.hpp"
#include "physics/solvers/petsc_error.hpp"
#include "physics/solvers/petsc_matrix.hpp"
#include "physics/solvers/petsc_subsystem.hpp"
#include "tests/unit/electronic/dense_twin.hpp"

using namespace quintet;
using namespace quintet::electronic;

namespace {

constexpr int n_rows = 29;

/// PETSc up for one test, and blocks of 1 to 5 rows in an order of their own.
class PetscMatrices : public testing::Test {
 protected:
  int argc_ = 0;
  char** argv_ = nullptr;
  Runtime runtime_{argc_, argv_, 1, {petsc_subsystem()}};
  const Comm comm = runtime_.comm();
  const std::shared_ptr<const Blocking> blocking = blocks();
  const std::vector<int> shares = share_columns(comm, *blocking);

  static std::shared_ptr<const Blocking> blocks() {
    auto blocking = blocking_of_sizes(n_rows, {3, 1, 5, 2, 4, 1, 1, 5, 2, 3, 2});
    for (int i = 0; i < n_rows; ++i) blocking.order.push_back((7 * i + 3) % n_rows);
    return std::make_shared<const Blocking>(blocking);
  }
  /// Matrix of the elements value(i, j) that are not 0.
  template <class Value>
  [[nodiscard]] BlockMatrix matrix_of(const Value& value) const {
    std::vector<Triplet> mine;
    for (int i = comm.rank(); i < n_rows; i += comm.size())
      for (int j = 0; j < n_rows; ++j)
        if (const double v = value(i, j); v != 0 || i == j) mine.push_back({i, j, v});
    return assemble(comm, blocking, mine, shares, -1);
  }
  /// Sparse and not symmetric.
  [[nodiscard]] BlockMatrix any_matrix() const {
    return matrix_of([](int i, int j) { return noise(i, j) > 0.8 ? noise(i + 50, j) : 0.0; });
  }
  /// Symmetric, levels near -1 and 1, couplings that decay.
  [[nodiscard]] BlockMatrix gapped() const {
    return matrix_of([](int i, int j) {
      if (i == j) return i % 2 == 0 ? -1.0 : 1.0;
      return std::abs(i - j) < 6 ? 0.15 * std::exp(-1.0 * std::abs(i - j)) : 0.0;
    });
  }
};

std::int64_t n_entries(const PetscMatrix& matrix) {
  MatInfo info;
  check_petsc(MatGetInfo(matrix.get(), MAT_GLOBAL_SUM, &info), "MatGetInfo");
  return std::llround(info.nz_used);
}

}  // namespace

TEST_F(PetscMatrices, come_back_bitwise_with_the_same_blocks) {
  const auto m = any_matrix();

  const auto back = from_petsc(to_petsc(m), m);

  EXPECT_EQ(back.column_begin, m.column_begin);
  EXPECT_EQ(back.row, m.row);
  EXPECT_EQ(back.offset, m.offset);
  EXPECT_EQ(back.rank_begin, m.rank_begin);
  EXPECT_EQ(dense_of(back).m, dense_of(m).m);
}

TEST_F(PetscMatrices, products_are_those_of_the_transposes) {
  const auto a = any_matrix(), b = gapped();
  Mat made = nullptr;
  check_petsc(MatMatMult(to_petsc(b).get(), to_petsc(a).get(), MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made),
              "MatMatMult");

  const auto product = dense_of(from_petsc(PetscMatrix(made), a));  // (B^T A^T)^T

  const auto expected = dense_of(multiply(a, b, 0));
  for (std::size_t i = 0; i < expected.m.size(); ++i) EXPECT_NEAR(product.m[i], expected.m[i], 1e-13);
}

TEST_F(PetscMatrices, filter_drops_small_elements_off_the_diagonal) {
  const double threshold = 0.5;
  const auto m = any_matrix();
  auto expected = dense_of(m);
  std::int64_t n_kept = 0;
  for (int i = 0; i < n_rows; ++i)
    for (int j = 0; j < n_rows; ++j) {
      if (i != j && std::abs(expected(i, j)) < threshold) expected(i, j) = 0;
      n_kept += i == j || expected(i, j) != 0 ? 1 : 0;
    }
  const auto kept = filtered(to_petsc(m), threshold);

  EXPECT_EQ(n_entries(kept), n_kept);
  EXPECT_LT(n_kept, n_entries(to_petsc(m)));
  EXPECT_EQ(dense_of(from_petsc(kept, m)).m, expected.m);
}

TEST_F(PetscMatrices, shares_of_other_blocks_are_refused) {
  const auto m = any_matrix();
  const auto other_blocks = std::make_shared<const Blocking>(uniform_blocking(30, 5));
  const auto other =
      assemble(comm, other_blocks, std::vector<Triplet>{}, share_columns(comm, *other_blocks), -1);

  EXPECT_THROW(static_cast<void>(from_petsc(to_petsc(m), other)), InternalError);
}

TEST_F(PetscMatrices, step_function_is_that_of_block_products) {
  const auto a = gapped();
  const double mu = 0.05, threshold = 1e-10;

  const auto ours = petsc_newton_schulz(a, mu, threshold);

  const auto blocks = global_newton_schulz(a, mu, threshold);
  EXPECT_EQ(ours.iterations, blocks.iterations);
  EXPECT_NEAR(trace(ours.p), 15, 1e-8);
  EXPECT_LT(frobenius_norm(add(1, ours.p, -1, blocks.p)), 1e-8);
  EXPECT_LT(frobenius_norm(add(1, multiply(ours.p, ours.p, 0), -1, ours.p)), 1e-8);
}

TEST_F(PetscMatrices, error_of_the_step_function_follows_the_threshold) {
  const auto a = gapped();
  const auto exact = petsc_newton_schulz(a, 0.05, 1e-13).p;
  std::vector<double> errors;
  for (const double threshold : {1e-3, 1e-5, 1e-7})
    errors.push_back(frobenius_norm(add(1, petsc_newton_schulz(a, 0.05, threshold).p, -1, exact)));

  EXPECT_GT(errors[0], 1e-6);
  EXPECT_LT(errors[1], 0.1 * errors[0]);
  EXPECT_LT(errors[2], 0.1 * errors[1]);
}

TEST_F(PetscMatrices, iteration_that_does_not_end_is_numerical) {
  EXPECT_THROW(static_cast<void>(petsc_newton_schulz(gapped(), 0.05, 1e-12, 2)), NumericalError);
}
