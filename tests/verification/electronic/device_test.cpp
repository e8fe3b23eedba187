#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "tests/support/electronic_samples.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

/// The device's engine, here on the host's space, beside the SIMD one.
namespace quintet::electronic {
namespace {

using namespace reference;

std::unique_ptr<DeviceSeries> engine(double batch_bytes = 1e8) {
  return std::unique_ptr<DeviceSeries>(quintet_make_device_series(batch_bytes));
}

class DeviceSeriesTest : public ::testing::Test {
 protected:
  const Comm comm = Comm::world();
  const Ring system = ring(24, {3, 1, 6, 23, 9, 4}, 0.06, 0.8);  // 23: three packs of columns
  const BlockMatrix a = distribute(comm, system.a, blocks_of(system));

  static SubmatrixOptions step_at(double mu, double threshold) {
    SubmatrixOptions options;
    options.mu = mu;
    options.threshold = threshold;
    options.kernel = SubmatrixKernel::polynomial;
    options.polynomial_error = 1e-9;
    return options;
  }
  /// The largest difference between the engines' P; their counts and costs are compared, too.
  double difference(SubmatrixOptions options, double batch_bytes = 1e8) const {
    const auto core = evaluate_submatrices(a, options);
    const auto device = engine(batch_bytes);
    options.device = device.get();
    const auto result = evaluate_submatrices(a, options);
    EXPECT_NEAR(result.n_pairs, core.n_pairs, 1e-6 * (options.single_precision ? 1e3 : 1e-3));
    EXPECT_EQ(result.degree, core.degree);
    EXPECT_EQ(result.n_polynomial, core.n_polynomial);
    EXPECT_GT(result.flops, 0);
    EXPECT_GT(device->kernel_seconds(), 0);
    return largest_difference(collect(result.p), collect(core.p));
  }
};

TEST_F(DeviceSeriesTest, EqualsTheCore) {
  for (const double threshold : {0.0, 3e-3, 3e-2})
    for (const int together : {0, 1, 5}) {
      auto options = step_at(0.01, threshold);
      options.columns_together = together;
      EXPECT_LT(difference(options), 2e-13) << threshold << " " << together;
    }
}

TEST_F(DeviceSeriesTest, CountsTheSameWork) {
  auto options = step_at(0.01, 3e-3);
  const double core = evaluate_submatrices(a, options).flops;
  const auto device = engine();
  options.device = device.get();
  EXPECT_EQ(evaluate_submatrices(a, options).flops, core);
}

TEST_F(DeviceSeriesTest, HoldsPairsByItsOtherFunctions) {
  auto options = step_at(0, 3e-3);
  options.n_pairs = std::lround(evaluate_submatrices(a, step_at(0.01, 0)).n_pairs);
  options.mu.reset();
  EXPECT_LT(difference(options), 1e-12);
  options.temperature = 0.02;
  EXPECT_LT(difference(options), 1e-12);
}

TEST_F(DeviceSeriesTest, SinglePrecisionIsAsGoodAsTheCores) {
  auto options = step_at(0.01, 3e-3);
  const auto exact = evaluate_submatrices(a, options);
  options.single_precision = true;
  const auto core = evaluate_submatrices(a, options);
  const auto device = engine();
  options.device = device.get();
  const auto result = evaluate_submatrices(a, options);
  const double error = largest_difference(collect(result.p), collect(exact.p)),
               of_core = largest_difference(collect(core.p), collect(exact.p));
  EXPECT_GT(error, 1e-10);  // it is float32
  EXPECT_LT(error, 3 * of_core);
}

TEST_F(DeviceSeriesTest, BatchesChangeNothing) {
  auto options = step_at(0.01, 3e-3);
  const auto whole = engine(1e8), one_by_one = engine(1);
  options.device = whole.get();
  const auto expected = collect(evaluate_submatrices(a, options).p);
  options.device = one_by_one.get();
  EXPECT_EQ(largest_difference(collect(evaluate_submatrices(a, options).p), expected), 0);
}

TEST_F(DeviceSeriesTest, SubmatricesWithLevelsInTheGapAreSentBack) {
  auto options = step_at(0.01, 3e-3);
  options.polynomial_error = 1e-12;
  options.kernel = SubmatrixKernel::automatic;
  EXPECT_LT(difference(options), 1e-10);
}

TEST_F(DeviceSeriesTest, ErrorEstimatesAreTheSame) {
  auto options = step_at(0.01, 3e-2);
  options.estimate_error = true;
  const auto core = evaluate_submatrices(a, options).error;
  const auto device = engine();
  options.device = device.get();
  const auto error = evaluate_submatrices(a, options).error;
  EXPECT_GT(core.p, 0);
  EXPECT_NEAR(error.p, core.p, 1e-9 * core.p);
  EXPECT_NEAR(error.energy.value, core.energy.value, 1e-9 * std::abs(core.energy.value) + 1e-13);
}

TEST_F(DeviceSeriesTest, StopsWhereItIsAsked) {
  auto options = step_at(0.01, 3e-3);
  const auto device = engine(1);
  options.device = device.get();
  options.interrupt = [] { return true; };
  EXPECT_THROW((void)evaluate_submatrices(a, options), Interrupted);
}

TEST(DeviceOrthogonalise, InverseSquareRootEqualsTheCores) {
  const Comm comm = Comm::world();
  MoleculeChain chain;
  chain.n_orbitals = 7;
  const auto pair = sample(comm, chain);
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(pair.n_rows, chain.n_orbitals));
  const auto shares = share_columns(comm, *blocking);
  const auto k = assemble(comm, blocking, pair.k, shares, 1e-9),
             s = assemble(comm, blocking, pair.s, shares, 1e-9);
  const auto device = engine();
  const auto core = orthogonalise(k, s, 1e-6), result = orthogonalise(k, s, 1e-6, {}, device.get());
  EXPECT_LT(largest_difference(collect(result.inverse_sqrt), collect(core.inverse_sqrt)), 1e-13);
  EXPECT_LT(largest_difference(collect(result.a), collect(core.a)), 1e-12);
  EXPECT_NEAR(result.residual, core.residual, 1e-12);
}

}  // namespace
}  // namespace quintet::electronic
