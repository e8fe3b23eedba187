#include "tests/support/electronic_samples.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/electronic/dense_twin.hpp"

extern "C" void dsygv_(const int* type, const char* job, const char* triangle, const int* n, double* a,
                       const int* lda, double* b, const int* ldb, double* w, double* work, const int* lwork,
                       int* info);

namespace quintet::electronic {
namespace {

/// Eigenvalues of K x = e S x.
std::vector<double> eigenvalues(Dense k, Dense s) {
  const int n = k.n, type = 1, n_work = 10 * n;
  int info = 0;
  std::vector<double> w(k.n), work(n_work);
  dsygv_(&type, "N", "U", &n, k.m.data(), &n, s.m.data(), &n, w.data(), work.data(), &n_work, &info);
  EXPECT_EQ(info, 0);
  return w;
}

void expect_symmetric(const Dense& m) {
  for (std::size_t i = 0; i < m.n; ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(m.m[i * m.n + j], m.m[j * m.n + i]);
}

TEST(DimerChain, has_the_stated_spectrum) {
  const auto comm = Comm::world();
  DimerChain plain, overlapping;
  overlapping.n_cells = 11;
  overlapping.level = -0.3;
  overlapping.s_inside = 0.3;
  overlapping.s_between = 0.1;
  for (const auto& chain : {plain, overlapping}) {
    const auto pair = sample(comm, chain);
    const auto k = dense_of(comm, pair.n_rows, pair.k), s = dense_of(comm, pair.n_rows, pair.s);

    const auto expected = eigenvalues(k, s);

    const auto found = spectrum(chain);
    ASSERT_EQ(found.eigenvalues.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found.eigenvalues[i], expected[i], 1e-13);
    expect_symmetric(k);
    expect_symmetric(s);
  }
  EXPECT_NEAR(spectrum(plain).lumo() - spectrum(plain).homo(), 2 * 0.4, 1e-14);
}

TEST(MoleculeChain, has_the_stated_gap_and_count) {
  const auto comm = Comm::world();
  for (const int n_molecules : {1, 2, 3, 12, 25}) {
    MoleculeChain chain;
    chain.n_molecules = n_molecules;
    const auto pair = sample(comm, chain);
    const auto k = dense_of(comm, pair.n_rows, pair.k), s = dense_of(comm, pair.n_rows, pair.s);

    const auto e = eigenvalues(k, s);

    const auto below = std::count_if(e.begin(), e.end(), [](double x) { return x < 0; });
    EXPECT_LT(chain.coupling_norm(), 1.0);
    EXPECT_EQ(below, 4 * n_molecules);
    for (const double x : e) EXPECT_GE(std::abs(x), chain.half_gap());
    expect_symmetric(k);
    expect_symmetric(s);
    const auto alone = sample(Comm::self(), chain);
    EXPECT_EQ(dense_of(Comm::self(), alone.n_rows, alone.k).m, k.m);
  }
}

}  // namespace
}  // namespace quintet::electronic
