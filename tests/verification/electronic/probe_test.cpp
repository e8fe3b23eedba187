#include "physics/electronic/density/probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/electronic/matrix/block_panel.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/sparse/sparse_product.hpp"
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

TEST(SparseRowsOfBlocks, give_the_dense_product_and_move_each_needed_row_once) {
  const Comm comm = Comm::world();
  const Ring r = sample();
  auto a = distribute(comm, r.a, blocks_of(r));
  filter(a, 0.02);
  const Dense dense = collect(a);
  SparseProduct<double> product(comm, sparse_rows(a), layout_1d(comm.size(), true));
  const int start = a.blocking->begin[a.first], n_own = product.part().n_rows();
  std::vector<char> needed(a.blocking->n_rows(), 0);
  for (int j = start; j < start + n_own; ++j)
    for (int i = 0; i < dense.n; ++i)
      if (dense(i, j) != 0 && (i < start || i >= start + n_own)) needed[i] = 1;
  EXPECT_EQ(std::count(needed.begin(), needed.end(), 1), product.n_foreign());
  for (const int f : {1, 5, 32, 35}) {
    const auto x = random_sign_panel(product.part(), 7, 3, f);
    const auto all = comm.all_gather(std::span<const double>(x));
    AlignedVector<double> y;
    product(x, y, f);
    EXPECT_EQ(product.received().dense_words, std::int64_t{f} * product.n_foreign());
    EXPECT_LE(product.received().messages, comm.size() - 1);
    ASSERT_EQ(y.size(), x.size());
    for (int i = 0; i < n_own; ++i)
      for (int c = 0; c < f; ++c) {
        double sum = 0;
        for (int k = 0; k < dense.n; ++k) sum += dense(start + i, k) * all[k * f + c];
        EXPECT_NEAR(y[i * f + c], sum, 1e-13);
      }
  }
}

TEST(Probe, signs_do_not_depend_on_the_ranks_and_are_fair) {
  const Ring r = sample();
  const auto shared = distribute(Comm::world(), r.a, blocks_of(r));
  const auto alone = distribute(Comm::self(), r.a, blocks_of(r));
  const auto signs = [](const BlockMatrix& a) {
    return random_sign_panel(panel_part(sparse_rows(a).shares, layout_1d(a.comm.size(), true), a.comm.rank()),
                             5, 2, 9);
  };
  const auto part = signs(shared), whole = signs(alone);
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

/// The ring of inputs/submatrix/chain_gap.yaml, shorter: hopping -1.5 and -1 in turn, a gap of 1.
TEST(Probe, error_of_a_chain_of_pairs_is_the_true_one) {
  Dense chain(240);
  for (int i = 0; i < chain.n; ++i) {
    const int j = (i + 1) % chain.n;
    chain(i, j) = chain(j, i) = i % 2 == 0 ? -1.5 : -1;
  }
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(chain.n, 12));
  const auto a = distribute(Comm::world(), chain, blocking);
  SubmatrixOptions by_submatrices;
  by_submatrices.threshold = 1e-6;
  by_submatrices.mu = 0;
  by_submatrices.columns_together = 1;
  const BlockMatrix p = evaluate_submatrices(a, by_submatrices).p;
  const Occupation f{0, 0, 0};
  const double truth = distance(collect(p), function_of(diagonalise(chain), f));
  ProbeOptions options;
  const ProbedError probed = probe_error(p, a, f, {-0.5, 1e-6, 0.5, 1e-6}, options);
  EXPECT_EQ(probed.refused, "");
  EXPECT_GT(truth, 1e-3);
  EXPECT_NEAR(probed.norm.value, truth, 3 * probed.norm.deviation);
  EXPECT_LT(probed.norm.deviation, 0.2 * truth);
}

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
    ProbeOptions options;
    options.most_degree = 600;  // the time of a fit that fails grows with its square
    const ProbedError probed = probe_error(a, a, f, levels, options);
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

TEST(Probe, error_and_spectrum_are_the_same_in_every_layout) {
  const Ring r = sample();
  const Eigen e = diagonalise(r.a);
  const Occupation f{mu, 0.03, 0};
  const auto a = distribute(Comm::world(), r.a, blocks_of(r));
  const BlockMatrix p = by_submatrices(a, 3e-2, 0.03);
  std::vector<double> norms, states;
  for (const auto& layout : layouts_of(SpmmKind::automatic, a.comm.size())) {
    ProbeOptions probe;
    probe.vectors = 5;
    probe.layout = layout;
    norms.push_back(probe_error(p, a, f, levels_of(e), probe).norm.value);
    SpectrumOptions spectrum;
    spectrum.vectors = 5;
    spectrum.resolution = 0.1;
    spectrum.layout = layout;
    states.push_back(spectral_density(a, spectrum).count(mu, 0.03).value);
  }
  EXPECT_GT(norms[0], 0);
  for (std::size_t i = 1; i < norms.size(); ++i) {
    EXPECT_NEAR(norms[i], norms[0], 1e-9 * norms[0]);
    EXPECT_NEAR(states[i], states[0], 1e-9 * states[0]);
  }
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
