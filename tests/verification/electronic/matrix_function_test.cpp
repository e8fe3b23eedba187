#include "physics/electronic/density/matrix_function.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;
using Kind = MatrixFunction::Kind;

/// An overlap matrix, positive definite and decaying.
Dense overlap(int n_blocks = 24) {
  Dense s = ring(n_blocks, {6, 2, 4}, 0.28, 1.1).a;
  for (int i = 0; i < s.n; ++i) s(i, i) = 1;
  return s;
}

class Function : public ::testing::TestWithParam<MatrixFunction> {
 protected:
  const Comm comm = Comm::world();
  const std::shared_ptr<const Blocking> blocking = blocks_of(ring(24, {6, 2, 4}, 0.28, 1.1));
};

TEST_P(Function, is_that_of_dense_diagonalisation) {
  const Dense dense = overlap();
  const auto eigen = diagonalise(dense);
  ASSERT_GT(eigen.value.front(), 0.02);
  const Dense exact = function_of(eigen, GetParam());
  const double largest =
      std::max(std::abs(GetParam()(eigen.value.front())), std::abs(GetParam()(eigen.value.back())));
  const BlockMatrix s = distribute(comm, dense, blocking);
  for (const double threshold : {1e-3, 1e-5, 1e-7}) {
    const auto f = evaluate_function(s, GetParam(), threshold);

    EXPECT_LT(largest_difference(collect(f), exact), 0.3 * threshold * largest) << GetParam().name();
  }
}

TEST_P(Function, leaves_out_what_a_threshold_allows) {
  const BlockMatrix s = distribute(comm, overlap(), blocking);

  const auto f = evaluate_function(s, GetParam(), 1e-2);

  const auto n = static_cast<long>(blocking->n_blocks());
  EXPECT_LT(comm.sum(static_cast<long>(f.n_blocks())), n * n * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(
    All, Function,
    ::testing::Values(MatrixFunction{Kind::inverse_root, 1}, MatrixFunction{Kind::inverse_root, 2},
                      MatrixFunction{Kind::inverse_root, 3}, MatrixFunction{Kind::inverse_root, 4},
                      MatrixFunction{Kind::square_root}, MatrixFunction{Kind::exponential, 1, 1.5},
                      MatrixFunction{Kind::exponential, 1, -0.7}, MatrixFunction{Kind::logarithm}));

class FunctionOfRing : public ::testing::Test {
 protected:
  const Comm comm = Comm::world();
  const Ring molecules = ring(24, {6, 2, 4}, 0.05, 0.9);
  const std::shared_ptr<const Blocking> blocking = blocks_of(molecules);

  template <class Error>
  std::string refusal(const Dense& a, const MatrixFunction& f, double threshold, int max_degree) const {
    try {
      static_cast<void>(evaluate_function(distribute(comm, a, blocking), f, threshold, max_degree));
    } catch (const Error& error) {
      return error.what();
    }
    return "no such error";
  }
};

TEST_F(FunctionOfRing, exponential_of_an_indefinite_matrix) {
  const MatrixFunction f{Kind::exponential, 1, 2.0};
  const Dense exact = function_of(diagonalise(molecules.a), f);

  const auto result = evaluate_function(distribute(comm, molecules.a, blocking), f, 1e-6);

  EXPECT_LT(largest_difference(collect(result), exact), 3e-6 * 4);
}

TEST_F(FunctionOfRing, multiple_of_the_identity) {
  Dense a(molecules.a.n);
  for (int i = 0; i < a.n; ++i) a(i, i) = 0.5;
  const BlockMatrix m = distribute(comm, a, blocking);
  for (const auto& f : {MatrixFunction{Kind::inverse_root, 3}, MatrixFunction{Kind::exponential, 1, 2.0}}) {
    const Dense result = collect(evaluate_function(m, f, 1e-6));

    EXPECT_NEAR(result(3, 3), f(0.5), 1e-7) << f.name();
    EXPECT_NEAR(trace(result), a.n * f(0.5), 1e-5) << f.name();
  }
}

TEST_F(FunctionOfRing, roots_and_logarithms_of_indefinite_matrices_are_refused) {
  const auto smallest = fmt::format("{:.2g}", diagonalise(molecules.a).value.front());
  for (const auto kind : {Kind::inverse_root, Kind::square_root, Kind::logarithm}) {
    const auto message = refusal<InputError>(molecules.a, {kind, 2}, 1e-5, 1000);

    EXPECT_NE(message.find("not positive definite"), std::string::npos) << message;
    EXPECT_NE(message.find(smallest.substr(0, 4)), std::string::npos) << message << smallest;
  }
}

TEST_F(FunctionOfRing, too_small_a_degree_is_named) {
  const auto message = refusal<NumericalError>(overlap(), {Kind::inverse_root, 2}, 1e-5, 5);

  EXPECT_NE(message.find("degree above 5"), std::string::npos) << message;
}

TEST_F(FunctionOfRing, bad_parameters_are_refused) {
  EXPECT_NE(refusal<InputError>(overlap(), {Kind::inverse_root, 0}, 1e-5, 9).find("p = 0"),
            std::string::npos);
  EXPECT_NE(refusal<InputError>(overlap(), {Kind::exponential, 1, -1e4}, 1e-5, 9).find("overflows"),
            std::string::npos);
  EXPECT_NE(refusal<InputError>(overlap(), {}, -1, 9).find("threshold"), std::string::npos);
}

}  // namespace
}  // namespace quintet::electronic
