#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/block_vector.hpp"
#include "physics/electronic/submatrix/block_multiply.hpp"
#include "physics/electronic/submatrix/frontier.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/support/electronic_samples.hpp"
#include "tests/support/kokkos_count.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

/// The device's engine beside the SIMD one.
namespace quintet::electronic {
namespace {

using namespace reference;

std::unique_ptr<DeviceSubmatrices> engine(double batch_bytes = 1e8) {
  return std::unique_ptr<DeviceSubmatrices>(
      QUINTET_DEVICE_FUNCTION(quintet_make_device_submatrices)(batch_bytes));
}

class DeviceSubmatricesTest : public ::testing::Test {
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
    options.columns_together = 1;  // which go together else depends on how fast core and device are
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

template <class Value>
void expect_the_product_of_the_core(const BlockMatrix& a, DeviceSubmatrices* device) {
  BlockProduct<Value> on_core(a), on_device(a, device, 0);
  std::vector<Value> x, y, z;
  constexpr std::size_t lanes = sizeof(Value) / sizeof(double);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto signs = random_signs(a, lane);
    x.resize(signs.size());
    for (std::size_t i = 0; i < signs.size(); ++i)
      reinterpret_cast<double*>(x.data())[lanes * i + lane] = signs[i] + 0.01 * lane;
  }
  for (int repeat = 0; repeat < 2; ++repeat) {
    on_core(x, y);
    {  // what a product takes was taken before, where it could still be refused
      const KokkosCount count("submatrix::");
      on_device(x, z);
      EXPECT_EQ(count.so_far().allocations, 0);
    }
    ASSERT_EQ(z.size(), y.size());
    for (std::size_t i = 0; i < lanes * y.size(); ++i)
      EXPECT_NEAR(reinterpret_cast<const double*>(z.data())[i], reinterpret_cast<const double*>(y.data())[i],
                  test::bound(1e-13, 1e-12));
    x.swap(y);
  }
}

TEST_F(DeviceSubmatricesTest, MultipliesVectorsAsTheCoreDoes) {
  const auto device = engine();
  expect_the_product_of_the_core<double>(a, device.get());
  expect_the_product_of_the_core<Lanes8>(a, device.get());
}

/// An engine that has no memory left for a matrix.
class Full final : public DeviceSubmatrices {
 public:
  void set_matrix(const BlockRowsView&) override {}
  void evaluate(std::span<const WantedColumns>, const SeriesView&, bool, const Done&) override {}
  void newton_schulz(std::span<const WantedColumns>, double, double, int, const DoneSign&) override {}
  void eigenpairs(std::span<const WantedColumns>, const DonePairs&) override {}
  std::unique_ptr<DeviceProduct> product_with(const BlockColumnsView&, std::size_t, int) override {
    throw std::runtime_error("no memory is left");
  }
  void multiply(const BlockFactorsView&, std::span<double>) override {
    throw std::runtime_error("no memory is left");
  }
  double kernel_seconds() const override { return 0; }
};

TEST_F(DeviceSubmatricesTest, LeavesVectorsToTheCoreWhereItHasNoMemory) {
  Full full;
  expect_the_product_of_the_core<double>(a, &full);
}

/// Products of two matrices with and without each of the options; `device` sums their terms.
void expect_the_products_of_the_core(const BlockMatrix& a, DeviceSubmatrices* device) {
  BlockMatrix b = a;  // another pattern, not symmetric
  for (std::size_t i = 0; i < b.value.size(); ++i) b.value[i] *= 1 + 0.1 * std::sin(static_cast<double>(i));
  filter(b, 0.02);
  BlockMatrix pattern = a;
  filter(pattern, 0.1);
  const auto same = [&](const BlockMatrix& of, ProductOptions options) {
    const BlockMatrix core = multiply(a, of, options);
    options.device = device;
    options.least_on_device = 0;
    const BlockMatrix found = multiply(a, of, options);
    EXPECT_EQ(found.column_begin, core.column_begin);
    EXPECT_EQ(found.row, core.row);
    EXPECT_EQ(found.offset, core.offset);
    ASSERT_EQ(found.value.size(), core.value.size());
    for (std::size_t i = 0; i < core.value.size(); ++i) EXPECT_NEAR(found.value[i], core.value[i], 1e-13);
  };
  same(b, {.threshold = 1e-3});
  same(b, {.threshold = 0.05, .error = 0.01});
  same(b, {.error = 0.02, .pattern = &pattern});
  same(a, {.threshold = 0.01, .error = 1e-3, .symmetric = true});
  same(a, {.symmetric = true, .pattern = &pattern});
}

TEST_F(DeviceSubmatricesTest, MultipliesMatricesAsTheCoreDoes) {
  expect_the_products_of_the_core(a, engine().get());
}

TEST_F(DeviceSubmatricesTest, LeavesMatricesToTheCoreWhereItHasNoMemory) {
  Full full;
  expect_the_products_of_the_core(a, &full);
}

TEST_F(DeviceSubmatricesTest, FindsTheLevelsThatTheCoreFinds) {
  const auto sign = evaluate_submatrices(a, step_at(0.01, 3e-3));
  const auto device = engine();
  FrontierOptions options{.dense_rows = 0};
  options.least_on_device = 0;
  const auto core = frontier_levels(a, sign.p, 0.01, options);
  options.device = device.get();
  const auto found = frontier_levels(a, sign.p, 0.01, options);
  EXPECT_NEAR(found.homo, core.homo, 1e-9);
  EXPECT_NEAR(found.lumo, core.lumo, 1e-9);
  EXPECT_LT(found.homo_error + found.lumo_error, 2e-4);
}

TEST_F(DeviceSubmatricesTest, EqualsTheCore) {
  for (const double threshold : {0.0, 3e-3, 3e-2})
    for (const int together : {0, 1, 5}) {
      auto options = step_at(0.01, threshold);
      options.columns_together = together;
      EXPECT_LT(difference(options), test::bound(2e-13, 2e-12)) << threshold << " " << together;
    }
}

TEST_F(DeviceSubmatricesTest, CountsTheSameWork) {
  auto options = step_at(0.01, 3e-3);
  const double core = evaluate_submatrices(a, options).flops;
  const auto device = engine();
  options.device = device.get();
  EXPECT_EQ(evaluate_submatrices(a, options).flops, core);
}

TEST_F(DeviceSubmatricesTest, HoldsPairsByItsOtherFunctions) {
  auto options = step_at(0, 3e-3);
  options.n_pairs = std::lround(evaluate_submatrices(a, step_at(0.01, 0)).n_pairs);
  options.mu.reset();
  for (const double temperature : {0.0, 0.02})
    for (const int together : {1, 4}) {
      options.temperature = temperature;
      options.columns_together = together;
      EXPECT_LT(difference(options), test::bound(1e-12, 1e-11)) << temperature << " " << together;
    }
}

TEST_F(DeviceSubmatricesTest, SinglePrecisionIsAsGoodAsTheCores) {
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

TEST_F(DeviceSubmatricesTest, BatchesChangeNothing) {
  auto options = step_at(0.01, 3e-3);
  const auto whole = engine(1e8), one_by_one = engine(1);
  options.device = whole.get();
  const auto expected = collect(evaluate_submatrices(a, options).p);
  options.device = one_by_one.get();
  EXPECT_LE(largest_difference(collect(evaluate_submatrices(a, options).p), expected), test::bound(0, 1e-13));
}

TEST_F(DeviceSubmatricesTest, SubmatricesWithLevelsInTheGapAreSentBack) {
  auto options = step_at(0.01, 3e-3);
  options.polynomial_error = 1e-12;
  options.kernel = SubmatrixKernel::eigen;
  const auto core = evaluate_submatrices(a, options);
  options.kernel = SubmatrixKernel::automatic;
  const auto device = engine();
  options.device = device.get();
  const auto result = evaluate_submatrices(a, options);
  EXPECT_NEAR(result.n_pairs, core.n_pairs, 1e-9);
  EXPECT_LT(largest_difference(collect(result.p), collect(core.p)), 1e-10);
}

TEST_F(DeviceSubmatricesTest, ErrorEstimatesAreTheSame) {
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

TEST_F(DeviceSubmatricesTest, StopsWhereItIsAsked) {
  auto options = step_at(0.01, 3e-3);
  const auto device = engine(1);
  options.device = device.get();
  options.interrupt = [] { return true; };
  EXPECT_THROW((void)evaluate_submatrices(a, options), Interrupted);
}

/// A system by each dense kernel, on this core and on the device.
class DeviceDenseTest : public ::testing::Test {
 protected:
  const Comm comm = Comm::world();

  /// Blocks of unlike sizes, so that submatrices are, too.
  [[nodiscard]] BlockMatrix insulator() const {
    const Ring system = ring(15, {3, 1, 6, 11, 4}, 0.06, 0.8);
    return distribute(comm, system.a, blocks_of(system));
  }
  /// A chain of equal bonds, without a gap: k_B T alone makes f smooth.
  [[nodiscard]] BlockMatrix metal(int block) const {
    DimerChain chain;
    chain.n_cells = 30;
    chain.t_inside = chain.t_between = -1;
    const auto pair = sample(comm, chain);
    const auto blocking = std::make_shared<const Blocking>(uniform_blocking(pair.n_rows, block));
    return assemble(comm, blocking, pair.k, share_columns(comm, *blocking), 0);
  }
  static SubmatrixOptions with(SubmatrixKernel kernel, double threshold) {
    SubmatrixOptions options;
    options.kernel = kernel;
    options.threshold = threshold;
    options.mu = 0.01;
    return options;
  }
  static double difference(const BlockMatrix& a, SubmatrixOptions options, double batch_bytes = 1e8) {
    const auto core = evaluate_submatrices(a, options);
    const auto device = engine(batch_bytes);
    options.device = device.get();
    const auto result = evaluate_submatrices(a, options);
    EXPECT_GT(a.comm.sum(device->kernel_seconds()), 0);
    EXPECT_EQ(result.kernel, options.kernel);
    EXPECT_NEAR(result.n_pairs, core.n_pairs, 1e-10);
    EXPECT_NEAR(result.mu, core.mu, 1e-10);
    EXPECT_NEAR(result.homo, core.homo, 1e-10);
    EXPECT_NEAR(result.lumo, core.lumo, 1e-10);
    EXPECT_NEAR(result.entropy, core.entropy, 1e-9);
    return largest_difference(collect(result.p), collect(core.p));
  }
};

TEST_F(DeviceDenseTest, NewtonSchulzEqualsTheCores) {
  const auto a = insulator();
  for (const double threshold : {0.0, 3e-3, 3e-2})
    for (const int order : {2, 3, 4}) {
      auto options = with(SubmatrixKernel::newton_schulz, threshold);
      options.newton_schulz_order = order;
      EXPECT_LT(difference(a, options), 1e-11) << threshold << " " << order;
    }
}

TEST_F(DeviceDenseTest, EigenpairsEqualTheCores) {
  const auto a = insulator();
  for (const double threshold : {0.0, 3e-3, 3e-2})
    for (const double temperature : {0.0, 0.02}) {
      auto options = with(SubmatrixKernel::eigen, threshold);
      options.temperature = temperature;
      EXPECT_LT(difference(a, options), 1e-11) << threshold << " " << temperature;
    }
}

TEST_F(DeviceDenseTest, EigenpairsHoldPairs) {
  const auto a = insulator();
  auto options = with(SubmatrixKernel::eigen, 3e-3);
  options.n_pairs = std::lround(evaluate_submatrices(a, options).n_pairs);
  options.mu.reset();
  EXPECT_LT(difference(a, options), 1e-11);
}

// Levels of a ring come in equal pairs: their eigenvectors are any two of a plane, functions are not.
TEST_F(DeviceDenseTest, MetalsWithEqualLevels) {
  for (const int block : {20, 6}) {  // a submatrix is the whole ring, or 18 of its 60 rows
    const auto a = metal(block);
    auto options = with(SubmatrixKernel::eigen, 0);
    options.temperature = 0.05;
    EXPECT_LT(difference(a, options), 1e-11) << block;
    options.n_pairs = 30;
    options.mu.reset();
    EXPECT_LT(difference(a, options), 1e-11) << block;
  }
}

TEST_F(DeviceDenseTest, BatchesChangeNothing) {
  const auto a = insulator();
  for (const auto kernel : {SubmatrixKernel::newton_schulz, SubmatrixKernel::eigen}) {
    auto options = with(kernel, 3e-3);
    const auto whole = engine(1e8), one_by_one = engine(1);
    options.device = whole.get();
    const auto expected = collect(evaluate_submatrices(a, options).p);
    options.device = one_by_one.get();
    EXPECT_LE(largest_difference(collect(evaluate_submatrices(a, options).p), expected),
              test::bound(0, 1e-13));
  }
}

TEST_F(DeviceDenseTest, ALevelAtMuIsRefusedAsOnTheCore) {
  if (comm.size() > 1) GTEST_SKIP() << "an error of one rank ends all";
  const auto a = metal(5);
  auto options = with(SubmatrixKernel::newton_schulz, 0);
  options.columns_together = 1;
  options.mu = 0.0;  // the middle level of an odd number of rows
  EXPECT_THROW((void)evaluate_submatrices(a, options), NumericalError);
  const auto device = engine();
  options.device = device.get();
  try {
    (void)evaluate_submatrices(a, options);
    ADD_FAILURE() << "gave a step at a level";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("did not converge on a submatrix of 15 rows"), std::string::npos)
        << error.what();
  }
}

TEST_F(DeviceDenseTest, EigenpairsOfZerosAreZeroAndOfNoNumbersNone) {
  const std::vector<std::int32_t> size{3}, column{0}, blocks{0};
  const std::vector<std::int64_t> row_begin{0, 1}, offset{0};
  const std::vector<int> own{0, 1, 2};
  const std::vector<WantedColumns> tasks{{blocks, own}};
  const auto device = engine();
  for (const double value : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    const std::vector<double> matrix{0, 0, 0, 0, value, 0, 0, 0, 0};
    device->set_matrix({size, row_begin, column, offset, matrix});
    device->eigenpairs(tasks, [&](std::size_t, std::span<const double> values, std::span<const double>) {
      EXPECT_EQ(values.size(), value == 0 ? 3U : 0U);
      for (const double one : values) EXPECT_NEAR(one, 0, 1e-15);
      return true;
    });
  }
}

TEST_F(DeviceDenseTest, StopsWhereItIsAsked) {
  for (const auto kernel : {SubmatrixKernel::newton_schulz, SubmatrixKernel::eigen}) {
    auto options = with(kernel, 3e-3);
    const auto device = engine(1);
    options.device = device.get();
    options.interrupt = [] { return true; };
    EXPECT_THROW((void)evaluate_submatrices(insulator(), options), Interrupted);
  }
}

/// Overlaps ever nearer to singular: right as long as S^-1/2 is, then refused as on the core.
TEST(DeviceOrthogonalise, IllConditionedOverlapsAreRightOrRefused) {
  const Comm comm = Comm::world();
  const auto device = engine();
  int right = 0, refused = 0;
  for (const double overlap : {0.45, 0.499, 0.4999999, 0.5}) {
    DimerChain chain;
    chain.n_cells = 24;
    chain.s_inside = chain.s_between = overlap;
    const auto pair = sample(comm, chain);
    const auto blocking = std::make_shared<const Blocking>(uniform_blocking(pair.n_rows, 16));
    const auto shares = share_columns(comm, *blocking);
    const auto k = assemble(comm, blocking, pair.k, shares, 0),
               s = assemble(comm, blocking, pair.s, shares, 0);
    try {
      const auto core = orthogonalise(k, s, 1e-7);
      const auto result = orthogonalise(k, s, 1e-7, {}, device.get());
      const double size = 1 / std::sqrt(1 - 2 * overlap + 1e-12);
      // the cores leave rows out of the high degrees
      EXPECT_LT(largest_difference(collect(result.inverse_sqrt), collect(core.inverse_sqrt)),
                0.1 * 1e-7 * size);
      EXPECT_LT(result.residual, 1e-3);
      EXPECT_NEAR(result.residual, core.residual, 1e-8 * size);
      ++right;
    } catch (const IllConditioned&) {
      EXPECT_THROW((void)orthogonalise(k, s, 1e-7, {}, device.get()), IllConditioned);
      ++refused;
    }
  }
  EXPECT_GE(right, 1);
  EXPECT_GE(refused, 1);
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
  // the cores leave rows out of the high degrees
  EXPECT_LT(largest_difference(collect(result.inverse_sqrt), collect(core.inverse_sqrt)), 0.1 * 1e-6);
  EXPECT_LT(largest_difference(collect(result.a), collect(core.a)), 0.1 * 1e-6);
  EXPECT_NEAR(result.residual, core.residual, 0.1 * 1e-6);
}

}  // namespace
}  // namespace quintet::electronic
