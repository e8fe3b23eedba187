#include "physics/electronic/density/energy_weighted_density.hpp"

#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;

Dense symmetric(Dense m) {
  for (int j = 0; j < m.n; ++j)
    for (int i = 0; i < j; ++i) m(j, i) = m(i, j);
  return m;
}

/// K = S^1/2 A S^1/2 with A gapped at 0.
class EnergyWeighted : public ::testing::Test {
 protected:
  static Dense overlap() {
    Dense s_dense = ring(24, {6, 2, 4}, 0.28, 1.1).a;
    for (int i = 0; i < s_dense.n; ++i) s_dense(i, i) = 1;
    return s_dense;
  }
  const Comm comm = Comm::world();
  const Ring molecules = ring(24, {6, 2, 4}, 0.05, 0.9);
  const Dense dense_s = overlap();
  const Eigen eigen_s = diagonalise(dense_s);
  const Dense z = function_of(eigen_s, [](double x) { return 1 / std::sqrt(x); });
  const Dense root = function_of(eigen_s, [](double x) { return std::sqrt(x); });
  const Dense dense_k = symmetric(root * molecules.a * root);
  const std::shared_ptr<const Blocking> blocking = blocks_of(molecules);
  const BlockMatrix k = distribute(comm, dense_k, blocking), s = distribute(comm, dense_s, blocking);

  struct Result {
    BlockMatrix w;
    double band_energy;
  };
  [[nodiscard]] Result weighted(double threshold, double temperature) const {
    const auto basis = orthogonalise(k, s, threshold);
    SubmatrixOptions options;
    options.mu = 0;
    options.temperature = temperature;
    options.threshold = threshold;
    const auto sign = evaluate_submatrices(basis.a, options);
    const auto density = density_matrix(sign, basis, k, s, threshold);
    return {energy_weighted_density(sign, basis, density.d, threshold), density.tr_dk};
  }
};

TEST_F(EnergyWeighted, is_d_k_d_of_dense_orbitals) {
  const Dense p = function_of(diagonalise(molecules.a), [](double x) { return x < 0 ? 1.0 : 0.0; });
  const Dense d = z * p * z, exact = d * dense_k * d;
  for (const double threshold : {1e-3, 1e-5, 1e-7}) {
    const auto result = weighted(threshold, 0);

    EXPECT_LT(largest_difference(collect(result.w), exact), 3 * threshold);
    EXPECT_NEAR(dot(result.w, s), trace(d * dense_k), 30 * threshold);
    EXPECT_NEAR(dot(result.w, s), result.band_energy, 30 * threshold);
  }
}

TEST_F(EnergyWeighted, has_occupations_once_at_a_temperature) {
  const double temperature = 0.1;  // hartree: many levels partly full
  const Dense pa =
      function_of(diagonalise(molecules.a), [&](double x) { return x / (1 + std::exp(x / temperature)); });
  const Dense exact = z * pa * z;

  const auto result = weighted(1e-6, temperature);

  EXPECT_LT(largest_difference(collect(result.w), exact), 5e-6);
  EXPECT_NEAR(dot(result.w, s), trace(pa), 3e-5);
}

}  // namespace
}  // namespace quintet::electronic
