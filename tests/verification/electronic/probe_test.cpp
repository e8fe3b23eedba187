#include "physics/electronic/density/probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "physics/electronic/matrix/block_panel.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

/// What random vectors tell of a matrix, against dense diagonalisation.
namespace quintet::electronic {
namespace {

using namespace reference;

constexpr double mu = 0.01;

/// Odd blocks, levels in two bands around 0.
Ring sample() { return ring(30, {3, 1, 6, 5, 7, 2}, 0.1, 0.5); }

LevelsAtMu levels_of(const Eigen& e) {
  LevelsAtMu levels{-1e9, 1e-9, 1e9, 1e-9};
  for (const double x : e.value) {
    if (x < mu) levels.homo = std::max(levels.homo, x);
    if (x > mu) levels.lumo = std::min(levels.lumo, x);
  }
  return levels;
}

double distance(const Dense& p, const Dense& f) {
  double sum = 0;
  for (std::size_t i = 0; i < p.value.size(); ++i)
    sum += (p.value[i] - f.value[i]) * (p.value[i] - f.value[i]);
  return std::sqrt(sum);
}

BlockMatrix by_submatrices(const BlockMatrix& a, double threshold, double temperature) {
  SubmatrixOptions options;
  options.threshold = threshold;
  options.temperature = temperature;
  options.mu = mu;
  return evaluate_submatrices(a, options).p;
}

TEST(PanelProduct, is_the_dense_product_and_moves_each_needed_row_once) {
  const Comm comm = Comm::world();
  const Ring r = sample();
  auto a = distribute(comm, r.a, blocks_of(r));
  filter(a, 0.02);
  const Dense dense = collect(a);
  PanelProduct product(a);
  const int start = a.blocking->begin[a.first];
  std::vector<char> needed(a.blocking->n_rows(), 0);
  for (int j = start; j < start + product.n_own(); ++j)
    for (int i = 0; i < dense.n; ++i)
      if (dense(i, j) != 0 && (i < start || i >= start + product.n_own())) needed[i] = 1;
  EXPECT_EQ(std::count(needed.begin(), needed.end(), 1), product.n_foreign());
  for (const int f : {1, 5, 32, 35}) {
    const auto x = random_sign_panel(a, 7, 3, f);
    const auto all = comm.all_gather(std::span<const double>(x));
    AlignedVector<double> y;
    comm.reset_counters();
    product(x, y, f);
    const auto& counter = comm.counter(Comm::Call::all_to_all_into);
    EXPECT_EQ(counter.received, static_cast<std::int64_t>(sizeof(double)) * f * product.n_foreign());
    EXPECT_LE(counter.messages, comm.size() - 1);
    ASSERT_EQ(y.size(), x.size());
    for (int i = 0; i < product.n_own(); ++i)
      for (int c = 0; c < f; ++c) {
        double sum = 0;
        for (int k = 0; k < dense.n; ++k) sum += dense(start + i, k) * all[k * f + c];
        EXPECT_NEAR(y[i * f + c], sum, 1e-13);
      }
  }
}

/// ../shared/data/training/spmm.json: a matrix that is not symmetric, words and messages of `1d_sparse`.
TEST(PanelProduct, words_and_messages_are_those_of_the_reference) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string path =
      std::string(source != nullptr ? source : ".") + "/../shared/data/training/spmm.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "../shared/data/training is not here";
  const Comm comm = Comm::world();
  const Tree given = read_yaml(path);
  const int n = static_cast<int>(given.at("n").as_integer()),
            f = static_cast<int>(given.at("f").as_integer());
  std::vector<Triplet> transposed;  // whose transpose a product takes
  for (std::size_t p = 0; comm.is_root() && p < given.at("row").items().size(); ++p)
    transposed.push_back({static_cast<std::int32_t>(given.at("column").items()[p].as_integer()),
                          static_cast<std::int32_t>(given.at("row").items()[p].as_integer()),
                          given.at("value").items()[p].as_number()});
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(n, 1));
  auto a = assemble(comm, blocking, transposed, share_columns(comm, *blocking), -1);
  filter(a, 1e-6);  // the blocks of A^T that A lacks
  ASSERT_EQ(a.first, n * comm.rank() / comm.size());
  PanelProduct product(a);
  AlignedVector<double> x(static_cast<std::size_t>(product.n_own()) * f), z;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = given.at("dense").items()[static_cast<std::size_t>(a.first) * f + i].as_number();
  comm.reset_counters();
  product(x, z, f);
  const auto counter = comm.counter(Comm::Call::all_to_all_into);
  for (int i = 0; i < product.n_own(); ++i) {
    double sum = 0;
    for (int c = 0; c < f; ++c) sum += z[static_cast<std::size_t>(i) * f + c];
    EXPECT_NEAR(sum, given.at("product_row_sums").items()[a.first + i].as_number(), 1e-11);
  }
  int found = 0;
  for (const Tree& expected : given.at("cases").items()) {
    if (expected.at("algorithm").as_text() != "1d_sparse" || expected.at("ranks").as_integer() != comm.size())
      continue;
    ++found;
    EXPECT_EQ(counter.received, 8 * expected.at("dense_words").items()[comm.rank()].as_integer());
    std::int64_t messages = 0;
    for (const Tree& of_rank : expected.at("messages").items()) messages += of_rank.as_integer();
    EXPECT_EQ(comm.sum(static_cast<long>(counter.messages)), messages);
  }
  EXPECT_EQ(found, 1);
}

TEST(Probe, signs_do_not_depend_on_the_ranks_and_are_fair) {
  const Ring r = sample();
  const auto shared = distribute(Comm::world(), r.a, blocks_of(r));
  const auto alone = distribute(Comm::self(), r.a, blocks_of(r));
  const auto part = random_sign_panel(shared, 5, 2, 9), whole = random_sign_panel(alone, 5, 2, 9);
  const auto all = Comm::world().all_gather(std::span<const double>(part));
  ASSERT_EQ(all.size(), whole.size());
  EXPECT_TRUE(std::equal(all.begin(), all.end(), whole.begin()));
  double sum = 0;
  for (const double x : whole) sum += x;
  EXPECT_LT(std::abs(sum), 3 * std::sqrt(static_cast<double>(whole.size())));
}

class ProbedError_ : public testing::TestWithParam<double> {};

TEST_P(ProbedError_, is_the_true_one_within_three_standard_errors) {
  const double temperature = GetParam();
  const Ring r = sample();
  const auto a = distribute(Comm::world(), r.a, blocks_of(r));
  const Eigen e = diagonalise(r.a);
  const Occupation f{mu, temperature, 0};
  const Dense exact = function_of(e, f);
  double last = 1e9;
  for (const double threshold : {3e-2, 3e-3}) {
    const BlockMatrix p = by_submatrices(a, threshold, temperature);
    const double truth = distance(collect(p), exact);
    ProbeOptions options;
    options.vectors = 40;  // more than a panel
    const ProbedError probed = probe_error(p, a, f, levels_of(e), options);

    EXPECT_EQ(probed.refused, "");
    EXPECT_EQ(probed.vectors, 40);
    EXPECT_NEAR(probed.norm.value, truth, 3 * probed.norm.deviation);
    EXPECT_LT(probed.norm.deviation, 0.2 * truth);
    EXPECT_LT(probed.series_error, 1e-3 * truth);
    EXPECT_LT(probed.norm.value, last);
    last = probed.norm.value;
  }
}
INSTANTIATE_TEST_SUITE_P(Temperatures, ProbedError_, testing::Values(0.0, 0.03));

TEST(Probe, exact_p_has_no_error_but_that_of_the_series) {
  const Ring r = sample();
  const auto blocking = blocks_of(r);
  const auto a = distribute(Comm::world(), r.a, blocking);
  const Eigen e = diagonalise(r.a);
  const Occupation f{mu, 0, 0};
  const auto p = distribute(Comm::world(), function_of(e, f), blocking);
  const ProbedError probed = probe_error(p, a, f, levels_of(e), {});
  EXPECT_EQ(probed.refused, "");
  EXPECT_LE(probed.norm.value, probed.series_error);
}

TEST(Probe, what_cannot_be_accurate_is_refused) {
  const Ring r = sample();
  const auto a = distribute(Comm::world(), r.a, blocks_of(r));
  const Eigen e = diagonalise(r.a);
  const auto said = [&](const Occupation& f, const LevelsAtMu& levels, const char* why) {
    const ProbedError probed = probe_error(a, a, f, levels, {});
    EXPECT_EQ(probed.vectors, 0);
    EXPECT_NE(probed.refused.find(why), std::string::npos) << probed.refused;
  };
  LevelsAtMu missed = levels_of(e);
  const auto above = std::lower_bound(e.value.begin(), e.value.end(), missed.lumo);
  missed.lumo = *(above + 3);  // three levels are taken for a gap
  said({mu, 0, 0}, missed, "a level lies between");
  LevelsAtMu vague = levels_of(e);
  vague.homo_error = vague.lumo_error = vague.lumo - vague.homo;
  said({mu, 0, 0}, vague, "not apart");
  said({mu, 1e-5, 0}, levels_of(e), "k_B T");
  const double x = e.value[20];
  said({x, 0, 0}, {x - 1e-6, 0, x + 1e-6, 0}, "gap of");
  ProbeOptions one;
  one.vectors = 1;
  EXPECT_THROW(static_cast<void>(probe_error(a, a, {mu, 0, 0}, levels_of(e), one)), InputError);
}

TEST(SpectralDensity, integrates_to_the_levels_and_counts_electrons) {
  const Ring r = sample();
  const auto a = distribute(Comm::world(), r.a, blocks_of(r));
  const Eigen e = diagonalise(r.a);
  const SpectralDensity density = spectral_density(a, {});
  ASSERT_EQ(density.energies().size(), density.density().size());
  EXPECT_LE(density.resolution(), 0.01);
  double levels = 0, least = 0;
  for (std::size_t i = 0; i < density.energies().size(); ++i) {
    levels += density.weights()[i] * density.density()[i];
    least = std::min(least, density.density()[i]);
  }
  EXPECT_NEAR(levels, r.a.n, 1e-10 * r.a.n);
  EXPECT_GT(least, -1e-9 * r.a.n);
  const auto all = density.count(density.energies().back() + 1, 0);
  EXPECT_NEAR(all.value, r.a.n, 1e-10 * r.a.n);
  EXPECT_NEAR(density.count(density.energies().front() - 1, 0).value, 0, 1e-10 * r.a.n);
  for (const double temperature : {0.0, 0.05}) {
    double trace = 0;
    for (const double x : e.value) trace += Occupation{mu, temperature, 0}(x);
    const auto count = density.count(mu, temperature);
    EXPECT_GT(count.deviation, 0);
    EXPECT_LT(count.deviation, 0.02 * r.a.n);
    EXPECT_NEAR(count.value, trace, 3 * count.deviation) << "k_B T = " << temperature;
  }
}

TEST(SpectralDensity, and_the_probed_error_are_the_same_on_any_number_of_ranks) {
  const Ring r = sample();
  const Eigen e = diagonalise(r.a);
  const auto shared = distribute(Comm::world(), r.a, blocks_of(r));
  const auto alone = distribute(Comm::self(), r.a, blocks_of(r));
  const auto many = spectral_density(shared, {}), one = spectral_density(alone, {});
  ASSERT_EQ(many.n_moments(), one.n_moments());
  for (std::size_t i = 0; i < one.density().size(); ++i)
    EXPECT_NEAR(many.density()[i], one.density()[i], 1e-8 * r.a.n);
  const Occupation f{mu, 0, 0};
  const double of_many = probe_error(shared, shared, f, levels_of(e), {}).norm.value;
  const double of_one = probe_error(alone, alone, f, levels_of(e), {}).norm.value;
  EXPECT_NEAR(of_many, of_one, 1e-8 * of_one);
}

TEST(SpectralDensity, too_fine_a_resolution_is_refused) {
  const Ring r = sample();
  const auto a = distribute(Comm::world(), r.a, blocks_of(r));
  SpectrumOptions options;
  options.resolution = 1e-6;
  EXPECT_THROW(static_cast<void>(spectral_density(a, options)), InputError);
  options = {};
  options.vectors = 1;
  EXPECT_THROW(static_cast<void>(spectral_density(a, options)), InputError);
}

}  // namespace
}  // namespace quintet::electronic
