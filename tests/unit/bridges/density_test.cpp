#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "bridges/density/quintet_density.h"
#include "physics/electronic/functions/occupation.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

/// libquintet_density as a host program sees it: the C functions alone.
namespace quintet {
namespace {

using namespace electronic::reference;

/// K and S of a ring, hopping t1 and t2 in turn, on a pattern that reaches `reach` neighbours.
struct Matrices {
  Dense k, s;
  int reach = 1;
  Matrices(int n, double t1, double t2, double s1, double s2, double next = 0)
      : k(n), s(n), reach(next == 0 ? 1 : 2) {
    for (int i = 0; i < n; ++i) {
      const int j = (i + 1) % n, l = (i + 2) % n;
      k(i, j) = k(j, i) = i % 2 == 0 ? t1 : t2;
      s(i, j) = s(j, i) = i % 2 == 0 ? s1 : s2;
      if (next != 0) k(i, l) = k(l, i) = next;
      s(i, i) = 1;
    }
  }
};

/// D of one spin, exactly.
struct Exact {
  Dense z, d, w;
  double energy;
  Exact(const Matrices& m, double mu, double temperature) {
    z = function_of(diagonalise(m.s), [](double x) { return 1 / std::sqrt(x); });
    const Eigen eigen = diagonalise(z * m.k * z);
    const electronic::Occupation f{mu, temperature, 0};
    d = z * function_of(eigen, f) * z;
    w = z * function_of(eigen, [&](double e) { return e * f(e); }) * z;
    energy = trace(d * m.k);
  }
};

/// This rank's columns, as a host has them.
struct Columns {
  int n = 0, first = 0;
  std::vector<int> row, begin;
  std::vector<double> k, s;
  Columns(const Matrices& m, int rank, int size, int base = 1) : n(m.k.n), first(n * rank / size) {
    begin.push_back(base);
    for (int j = first; j < n * (rank + 1) / size; ++j) {
      for (int i = n - 1; i >= 0; --i) {  // no order may be relied on
        const int distance = std::min((i - j + n) % n, (j - i + n) % n);
        if (distance > m.reach) continue;
        row.push_back(i + base);
        k.push_back(m.k(i, j));
        s.push_back(m.s(i, j));
      }
      begin.push_back(static_cast<int>(row.size()) + base);
    }
  }
  [[nodiscard]] int nnz() const { return row.size(); }
  [[nodiscard]] int n_columns() const { return static_cast<int>(begin.size()) - 1; }
};

class QuintetDensity : public ::testing::Test {
 protected:
  QuintetDensity() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    density = quintet_density_open_mpi(MPI_Comm_c2f(MPI_COMM_WORLD));
  }
  ~QuintetDensity() override { quintet_density_close(density); }
  QuintetDensity(const QuintetDensity&) = delete;
  QuintetDensity& operator=(const QuintetDensity&) = delete;

  void set(const char* name, double value) const {
    ASSERT_EQ(quintet_density_set(density, name, value), 0) << quintet_density_error(density);
  }
  [[nodiscard]] int set_csc(const Columns& c) const {
    return quintet_density_set_csc(density, c.n, c.nnz(), c.n_columns(), c.row.data(), c.begin.data());
  }
  [[nodiscard]] double number(const char* name) const { return quintet_density_number(density, name); }
  [[nodiscard]] std::string error() const { return quintet_density_error(density); }

  /// D, W and the energy are the exact ones within `tolerance`.
  void expect_exact(const Columns& c, const Exact& exact, double tolerance) const {
    std::vector<double> dm(c.row.size()), edm(c.row.size());
    double energy = 0;
    ASSERT_EQ(quintet_density_dm_real_sparse(density, c.k.data(), c.s.data(), dm.data(), &energy), 0)
        << error();
    ASSERT_EQ(quintet_density_edm_real_sparse(density, edm.data()), 0) << error();
    EXPECT_STREQ(quintet_density_warning(density), "");
    EXPECT_NEAR(energy, 2 * exact.energy, tolerance * c.n);
    EXPECT_EQ(number("energy"), energy);
    EXPECT_LT(std::abs(energy - 2 * exact.energy), 3 * number("energy_error") + 1e-10);
    double largest = 0, largest_w = 0, electrons = 0, of_w = 0;
    for (int j = 0; j < c.n_columns(); ++j)
      for (int p = c.begin[j] - c.begin[0]; p < c.begin[j + 1] - c.begin[0]; ++p) {
        const int i = c.row[p] - c.begin[0];
        largest = std::max(largest, std::abs(dm[p] - 2 * exact.d(i, c.first + j)));
        largest_w = std::max(largest_w, std::abs(edm[p] - 2 * exact.w(i, c.first + j)));
        electrons += dm[p] * c.s[p];
        of_w += edm[p] * c.s[p];
      }
    double sums[] = {electrons, of_w};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_LT(largest, tolerance);
    EXPECT_LT(largest_w, tolerance);
    EXPECT_NEAR(sums[0], number("electrons"), 1e-8);
    EXPECT_NEAR(sums[1], energy, tolerance * c.n);
  }

  int rank = 0, size = 1;
  quintet_density* density = nullptr;
};

TEST_F(QuintetDensity, density_matrix_is_that_of_dense_diagonalisation) {
  const Matrices m(252, -0.3, -0.12, 0.12, 0.05);
  const Exact exact(m, 0.0, 0);
  set("electrons", 252);
  for (const int base : {0, 1}) {
    const Columns c(m, rank, size, base);
    ASSERT_EQ(set_csc(c), 0) << error();
    for (const double dense : {-1, 1}) {
      set("dense", dense);
      set("threshold", 1e-6);

      expect_exact(c, exact, 1e-5);

      EXPECT_EQ(number("dense"), dense > 0 ? 1 : 0);
      EXPECT_GT(number("gap"), 0.1);
      EXPECT_GT(number("density_error"), 0);
    }
  }
}

TEST_F(QuintetDensity, inverse_root_is_kept_while_the_overlap_stays) {
  const Matrices first(252, -0.3, -0.12, 0.12, 0.05), second(252, -0.28, -0.1, 0.12, 0.05),
      moved(252, -0.3, -0.12, 0.11, 0.05);
  set("electrons", 252);
  set("dense", -1);
  set("threshold", 1e-6);
  const Columns c(first, rank, size);
  ASSERT_EQ(set_csc(c), 0) << error();
  expect_exact(c, Exact(first, 0, 0), 1e-5);
  EXPECT_EQ(number("overlap_kept"), 0);

  expect_exact(Columns(second, rank, size), Exact(second, 0, 0), 1e-5);
  EXPECT_EQ(number("overlap_kept"), 1);

  expect_exact(Columns(moved, rank, size), Exact(moved, 0, 0), 1e-5);
  EXPECT_EQ(number("overlap_kept"), 0);

  set("threshold", 1e-7);
  expect_exact(Columns(moved, rank, size), Exact(moved, 0, 0), 1e-6);
  EXPECT_EQ(number("overlap_kept"), 0);
}

TEST_F(QuintetDensity, pattern_may_change) {
  const Matrices near(252, -0.3, -0.12, 0.12, 0.05), far(252, -0.3, -0.12, 0.12, 0.05, 0.01);
  set("electrons", 252);
  set("dense", -1);
  set("threshold", 1e-6);
  const Columns c(near, rank, size), d(far, rank, size);
  ASSERT_EQ(set_csc(c), 0) << error();
  expect_exact(c, Exact(near, 0, 0), 1e-5);

  ASSERT_EQ(set_csc(d), 0) << error();
  expect_exact(d, Exact(far, 0.01, 0), 1e-5);

  ASSERT_EQ(set_csc(c), 0) << error();
  expect_exact(c, Exact(near, 0, 0), 1e-5);
}

/// S = 1 looks the same in any order of functions, S^-1/2 in the old order is no good in the new one.
TEST_F(QuintetDensity, pattern_may_change_under_a_unit_overlap) {
  constexpr int n = 252, stride = 5;  // of functions that are bound
  Matrices ring(n, -0.3, -0.12, 0, 0);
  Matrices strided = ring;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) strided.k(stride * i % n, stride * j % n) = ring.k(i, j);
  strided.reach = stride;
  set("electrons", n);
  set("dense", -1);
  set("threshold", 1e-6);
  for (Matrices* m : {&ring, &strided, &ring}) {
    const Columns c(*m, rank, size);
    ASSERT_EQ(set_csc(c), 0) << error();
    std::vector<double> dm(c.row.size());
    double energy = 0;

    ASSERT_EQ(quintet_density_dm_real_sparse(density, c.k.data(), nullptr, dm.data(), &energy), 0) << error();

    EXPECT_NEAR(energy, 2 * Exact(*m, 0, 0).energy, 1e-5 * n);
  }
}

TEST_F(QuintetDensity, metal_at_a_temperature) {
  const Matrices m(260, -0.09, -0.09, 0.1, 0.1);
  const double temperature = 0.01, mu = 0.02;
  const Exact exact(m, mu, temperature);
  const double electrons = 2 * trace(exact.d * m.s);
  set("electrons", electrons);
  set("temperature", temperature);
  set("threshold", 1e-6);
  const Columns c(m, rank, size);
  ASSERT_EQ(set_csc(c), 0) << error();
  for (const double dense : {-1, 1}) {
    set("dense", dense);

    expect_exact(c, exact, 3e-4);  // elements: energies are compared with their estimated error

    EXPECT_NEAR(number("mu"), mu, 1e-5);
    EXPECT_NEAR(number("free_energy"), number("energy") - temperature * number("entropy"), 1e-10);
  }
}

TEST_F(QuintetDensity, blocks_of_the_hosts_choice) {
  const Matrices m(252, -0.3, -0.12, 0.12, 0.05);
  set("electrons", 252);
  set("dense", -1);
  set("threshold", 1e-6);
  const Columns c(m, rank, size);
  ASSERT_EQ(set_csc(c), 0) << error();
  const std::vector<int> rows(63, 4), wrong(63, 5);

  ASSERT_EQ(quintet_density_set_blocks(density, 63, rows.data()), 0);
  expect_exact(c, Exact(m, 0, 0), 1e-5);
  EXPECT_EQ(number("blocks"), 63);

  ASSERT_EQ(quintet_density_set_blocks(density, 63, wrong.data()), 0);
  std::vector<double> dm(c.row.size());
  double energy = 7;
  EXPECT_EQ(quintet_density_dm_real_sparse(density, c.k.data(), c.s.data(), dm.data(), &energy), 2);
  EXPECT_NE(error().find("315 rows in all"), std::string::npos) << error();
  EXPECT_EQ(energy, 7);
  EXPECT_TRUE(std::isnan(number("energy")));
}

/// What a host gets wrong comes back as a text on all ranks, nothing is written, and the handle works on.
class QuintetDensityMistakes : public QuintetDensity {
 protected:
  QuintetDensityMistakes() {
    set("electrons", 252);
    set("dense", -1);
  }
  void expect_refused(int code, const std::string& words, int expected = 2) const {
    EXPECT_EQ(code, expected);
    EXPECT_NE(error().find(words), std::string::npos) << error();
  }
  [[nodiscard]] int compute(const Columns& c, const std::vector<double>& k,
                            const std::vector<double>& s) const {
    std::vector<double> dm(c.row.size(), 7);
    const int code = quintet_density_dm_real_sparse(density, k.data(), s.data(), dm.data(), nullptr);
    if (code != 0) {
      EXPECT_TRUE(std::all_of(dm.begin(), dm.end(), [](double x) { return x == 7; }));
    }
    return code;
  }
  const Matrices m{252, -0.3, -0.12, 0.12, 0.05};
  const Columns c{m, rank, size};
};

TEST_F(QuintetDensityMistakes, of_settings) {
  expect_refused(quintet_density_set(density, "electron", 8), "there is no setting 'electron'");
  expect_refused(quintet_density_set(density, nullptr, 8), "NULL");
  expect_refused(quintet_density_set(density, "electrons", -1), "electrons = -1: expected 0 or more");
  expect_refused(quintet_density_set(density, "temperature", std::numeric_limits<double>::quiet_NaN()),
                 "temperature");
  expect_refused(quintet_density_set(density, "threshold", 1.5), "expected 0 to 1");
  expect_refused(quintet_density_set(density, "spin_degeneracy", 1.5), "whole number from 1 to 2");
  EXPECT_EQ(set_csc(c), 0);
  EXPECT_EQ(error(), "");
  set("electrons", 253);
  expect_refused(compute(c, c.k, c.s), "no whole number");
  set("electrons", 506);
  expect_refused(compute(c, c.k, c.s), "do not fit into 252 orbitals");
  set("electrons", 504);
  EXPECT_EQ(compute(c, c.k, c.s), 0) << error();  // all are full
  set("electrons", 252);
  EXPECT_EQ(compute(c, c.k, c.s), 0) << error();
}

TEST_F(QuintetDensityMistakes, of_the_pattern) {
  expect_refused(compute(c, c.k, c.s), "the pattern of the matrices is not known");
  expect_refused(quintet_density_edm_real_sparse(density, nullptr), "there is no result yet");
  Columns wrong = c;
  wrong.row[3] = 253;
  expect_refused(set_csc(wrong), "row_ind holds 253");
  wrong = c;
  wrong.row[1] = wrong.row[0];
  expect_refused(set_csc(wrong), "is there twice");
  wrong = c;
  wrong.begin[2] = wrong.begin[1] - 1;
  expect_refused(set_csc(wrong), "falls");
  wrong = c;
  wrong.begin[0] = 2;
  expect_refused(set_csc(wrong), "expected 0 or 1");
  wrong = c;
  wrong.n = 253;
  expect_refused(set_csc(wrong), "252 columns in all, but the matrix has 253 rows");
  expect_refused(quintet_density_set_csc(density, c.n, c.nnz(), c.n_columns(), nullptr, c.begin.data()),
                 "NULL");
  if (size > 1) {  // on one rank alone
    wrong = c;
    if (rank == 1) wrong.row[3] = 0;
    expect_refused(set_csc(wrong), "row_ind holds 0");
  }
  EXPECT_EQ(set_csc(c), 0) << error();
  EXPECT_EQ(compute(c, c.k, c.s), 0) << error();
}

TEST_F(QuintetDensityMistakes, of_the_matrices) {
  ASSERT_EQ(set_csc(c), 0);
  auto k = c.k, s = c.s;
  k[5] = std::numeric_limits<double>::quiet_NaN();
  expect_refused(compute(c, k, c.s), "ham: element (");
  k = c.k;
  k[1] += 0.01;
  expect_refused(compute(c, k, c.s), "ham: ");
  for (double& x : s) x = -x;
  expect_refused(compute(c, c.k, s), "not positive definite");
  expect_refused(quintet_density_dm_real_sparse(density, nullptr, c.s.data(), k.data(), nullptr),
                 "ham is NULL");
  expect_refused(quintet_density_dm_real_sparse(density, c.k.data(), c.s.data(), nullptr, nullptr),
                 "dm is NULL");
  EXPECT_EQ(compute(c, c.k, c.s), 0) << error();
}

TEST_F(QuintetDensityMistakes, of_a_band_that_is_cut) {
  const Matrices metal(252, -0.2, -0.2, 0.1, 0.1);
  const Columns columns(metal, rank, size);
  ASSERT_EQ(set_csc(columns), 0);
  set("electrons", 248);
  EXPECT_EQ(compute(columns, columns.k, columns.s), 2);
  EXPECT_NE(error().find("give a temperature"), std::string::npos) << error();

  set("dense", 0);  // which the text advises
  EXPECT_EQ(compute(columns, columns.k, columns.s), 2) << "the level is two-fold and would be filled in part";
  set("temperature", 0.01);
  EXPECT_EQ(compute(columns, columns.k, columns.s), 0) << error();
  set("temperature", 0);
  set("electrons", 250);
  EXPECT_EQ(compute(columns, columns.k, columns.s), 0) << error();
  const double energy = number("energy"), estimate = number("energy_error");
  set("dense", 1);
  EXPECT_EQ(compute(columns, columns.k, columns.s), 0) << error();
  EXPECT_NEAR(number("energy"), energy, 3 * estimate + 1e-8);
}

TEST_F(QuintetDensityMistakes, are_told_with_settings_and_not_with_keys_of_the_input_file) {
  const Matrices metal(252, -0.2, -0.2, 0.1, 0.1);
  const Columns columns(metal, rank, size);
  ASSERT_EQ(set_csc(columns), 0);
  set("threshold", 1e-2);
  set("electrons", 178);
  EXPECT_EQ(compute(columns, columns.k, columns.s), 2);
  EXPECT_NE(error().find("diagonalise it once (\"dense\" 1)"), std::string::npos) << error();
  EXPECT_EQ(error().find("method."), std::string::npos) << error();

  set("dense", 1);
  EXPECT_EQ(compute(columns, columns.k, columns.s), 0) << error();
}

/// Estimated errors are told where submatrices are all that is allowed; else the whole matrix is
/// diagonalised.
TEST_F(QuintetDensityMistakes, of_a_threshold_that_is_too_coarse) {
  const Matrices metal(252, -0.2, -0.2, 0.1, 0.1);
  const Columns columns(metal, rank, size);
  ASSERT_EQ(set_csc(columns), 0);
  set("threshold", 1e-2);
  set("electrons", 146);
  ASSERT_EQ(compute(columns, columns.k, columns.s), 0) << error();
  const std::string doubt = quintet_density_warning(density);
  const double energy = number("energy"), estimate = number("energy_error");
  EXPECT_EQ(number("dense"), 0);
  EXPECT_NE(doubt.find("% of the density matrix is wrong by estimate"), std::string::npos) << doubt;

  set("dense", 0);
  ASSERT_EQ(compute(columns, columns.k, columns.s), 0) << error();
  EXPECT_EQ(number("dense"), 1);
  const std::string said = quintet_density_warning(density);
  if (!said.empty()) {  // empty where one diagonalisation is predicted to be the faster way in any case
    EXPECT_EQ(said, "the whole matrix was diagonalised, as submatrices were refused: " + doubt);
  }
  EXPECT_NEAR(energy, number("energy"), 3 * estimate);

  const Matrices gapped(252, -0.3, -0.12, 0.12, 0.05);
  const Columns others(gapped, rank, size);
  ASSERT_EQ(set_csc(others), 0);
  set("threshold", 1e-3);
  set("electrons", 252);
  ASSERT_EQ(compute(others, others.k, others.s), 0) << error();
  EXPECT_STREQ(quintet_density_warning(density), "");
}

/// Solvers of processes of their own: no communicator, each in a thread.
TEST(QuintetDensityThreads, two_handles_work_at_once) {
  const Matrices m(252, -0.3, -0.12, 0.12, 0.05);
  const Columns c(m, 0, 1);
  const auto energy_of = [&] {
    quintet_density* density = quintet_density_open();
    std::vector<double> dm(c.row.size());
    double energy = 0;
    EXPECT_EQ(quintet_density_set(density, "electrons", 252), 0);
    EXPECT_EQ(quintet_density_set(density, "dense", -1), 0);
    EXPECT_EQ(quintet_density_set_csc(density, c.n, c.nnz(), c.n_columns(), c.row.data(), c.begin.data()), 0);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(quintet_density_dm_real_sparse(density, c.k.data(), c.s.data(), dm.data(), &energy), 0)
          << quintet_density_error(density);
    }
    quintet_density_close(density);
    return energy;
  };
  const double alone = energy_of();
  double of_thread = 0;

  std::thread thread([&] { of_thread = energy_of(); });
  const double here = energy_of();
  thread.join();

  EXPECT_EQ(here, alone);
  EXPECT_EQ(of_thread, alone);
}

TEST_F(QuintetDensityMistakes, of_handles_and_communicators) {
  EXPECT_STREQ(quintet_density_error(nullptr), "the handle is NULL");
  EXPECT_EQ(quintet_density_set(nullptr, "electrons", 1), 2);
  EXPECT_TRUE(std::isnan(quintet_density_number(nullptr, "mu")));
  EXPECT_TRUE(std::isnan(number("no such number")));
  quintet_density_close(nullptr);
  quintet_density* nowhere = quintet_density_open_mpi(MPI_Comm_c2f(MPI_COMM_NULL));
  EXPECT_NE(std::string(quintet_density_error(nowhere)).find("no Fortran handle"), std::string::npos);
  EXPECT_EQ(quintet_density_set(nowhere, "electrons", 1), 2);
  EXPECT_NE(std::string(quintet_density_error(nowhere)).find("no Fortran handle"), std::string::npos);
  quintet_density_close(nowhere);
  if (size > 1) {
    ASSERT_EQ(set_csc(c), 0);
    for (const int more : {2, 400}) {  // 652 would not fit
      set("electrons", 252 + more * rank);
      expect_refused(compute(c, c.k, c.s), "settings of the ranks differ");
    }
    set("electrons", 252);
    std::vector<int> rows(2, 126);
    ASSERT_EQ(quintet_density_set_blocks(density, 2, rows.data()), 0);
    EXPECT_EQ(compute(c, c.k, c.s), 0) << error();
    rows = {126 + rank, 126 - rank};
    ASSERT_EQ(quintet_density_set_blocks(density, 2, rows.data()), 0);
    expect_refused(compute(c, c.k, c.s), "settings of the ranks differ");
  }
}

}  // namespace
}  // namespace quintet
