#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/energy_weighted_density.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;

/// Couplings of a random part of all pairs.
Dense sparse(int n, double part, double size, int seed) {
  Dense m(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (std::abs(noise(i + 1000 * seed, j)) < part) m(i, j) = m(j, i) = size * noise(j, i + 77 * seed);
  return m;
}

struct Exact {
  Dense d, w;
  double energy;
};
Exact exact_density(const Dense& k, const Dense& s) {
  const Dense z = function_of(diagonalise(s), [](double x) { return 1 / std::sqrt(x); });
  const Dense p = function_of(diagonalise(z * k * z), [](double x) { return x < 0 ? 1.0 : 0.0; });
  const Dense d = z * p * z;
  return {d, d * k * d, trace(d * k)};
}

/// K and S, their blocks' size, and the largest error that the submatrices' finite range leaves an element.
struct System {
  const char* name;
  Dense k, s;
  int size;
  double error = 1e-6;
};

/// The smallest case: S couples what K does not.
System pair() {
  Dense k(2), s(2);
  k(0, 0) = -0.5, k(1, 1) = 0.5;
  s(0, 0) = s(1, 1) = 1;
  s(0, 1) = s(1, 0) = 0.3;
  return {"pair", k, s, 1};
}

/// Patterns of K and S that have nothing to do with each other.
System random_system(const char* name, double part_of_k, double part_of_s, int size, int seed,
                     double error = 1e-6) {
  constexpr int n = 48;
  System r{name, sparse(n, part_of_k, 0.03, seed), sparse(n, part_of_s, 0.08, seed + 1), size, error};
  for (int i = 0; i < n; ++i) r.k(i, i) = (i % 2 == 0 ? -0.5 : 0.5) + 0.1 * noise(i, seed), r.s(i, i) = 1;
  return r;
}

class Patterns : public ::testing::TestWithParam<System> {};

TEST_P(Patterns, of_k_and_s_may_differ) {
  const auto& [name, k_dense, s_dense, size, error] = GetParam();
  const Comm comm = Comm::world();
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(k_dense.n, size));
  const auto k = distribute(comm, k_dense, blocking), s = distribute(comm, s_dense, blocking);
  const Exact exact = exact_density(k_dense, s_dense);
  const auto basis = orthogonalise(k, s, 1e-8);
  for (const bool fixed_pairs : {false, true}) {
    SubmatrixOptions options;
    options.threshold = 1e-8;
    // which columns share a submatrix does then not depend on the processor
    options.kernel = SubmatrixKernel::eigen;
    (fixed_pairs ? options.n_pairs : options.mu) = fixed_pairs ? k_dense.n / 2 : 0;

    const auto sign = evaluate_submatrices(basis.a, options);
    const auto density = density_matrix(sign, basis, k, s, options.threshold);
    const auto w = energy_weighted_density(sign, basis, density.d, options.threshold);

    EXPECT_NEAR(density.tr_dk, exact.energy, error);
    EXPECT_NEAR(density.n_pairs, k_dense.n / 2, error);
    EXPECT_NEAR(density.n_pairs_unscaled, sign.n_pairs, error);
    EXPECT_NEAR(dot(w, s), exact.energy, error);
    const Dense d = collect(density.d), has = collect(add(1, k, 1, s));
    for (int i = 0; i < d.n; ++i)
      for (int j = 0; j < d.n; ++j)
        if (has(i, j) != 0) {
          EXPECT_NEAR(d(i, j), exact.d(i, j), error);
        }
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, Patterns,
                         ::testing::Values(pair(), random_system("sparse_k", 0.02, 0.06, 4, 1),
                                           random_system("sparse_s", 0.06, 0.02, 4, 2),
                                           random_system("single_rows", 0.03, 0.03, 1, 3, 1e-4),
                                           random_system("orthogonal_but_for_a_few", 0.05, 0.002, 3, 4,
                                                         1e-4)),
                         [](const auto& info) { return std::string(info.param.name); });

/// D S D is not D where blocks of Z are missing: what Tr(D S) lacks of Tr P must not be scaled away.
TEST(Patterns, an_overlap_that_its_root_does_not_fit_is_not_scaled_away) {
  const System system = random_system("", 0.05, 0.05, 4, 5);
  const Comm comm = Comm::world();
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(system.k.n, system.size));
  const auto k = distribute(comm, system.k, blocking), s = distribute(comm, system.s, blocking);
  const auto basis = orthogonalise(k, s, 1e-8);
  SubmatrixOptions options;
  options.threshold = 1e-8;
  options.n_pairs = system.k.n / 2;
  const auto sign = evaluate_submatrices(basis.a, options);
  const auto identity =
      distribute(comm, function_of(diagonalise(system.s), [](double) { return 1.0; }), blocking);
  const auto other = add(1, s, 0.01, identity);

  EXPECT_THROW(static_cast<void>(density_matrix(sign, basis, k, other, options.threshold)), NumericalError);
}

}  // namespace
}  // namespace quintet::electronic
