#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "surrogates/sequence/hindcast/combine.hpp"
#include "surrogates/sequence/hindcast/pooled_scores.hpp"
#include "tests/unit/sequence/hindcast_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

using namespace quintet::sequence::hindcasts;

TEST(hindcast, pooled_scores_are_those_of_the_windows_one_by_one) {
  Deviates deviate(11);
  std::vector<double> noise;
  for (int i = 0; i < 6 * 36; ++i) noise.push_back(deviate());
  const auto all = by_hand(
      6, 36, [&](int k, int w) { return k == 0 ? noise[w] : 0.5; }, 1);
  const PooledScores scores(all, 2, 36);
  ASSERT_EQ(scores.n_windows(), 4 * 36);
  double square = 0, crossed = 0, truths = 0, forecasts = 0;
  for (int i = 2; i < 6; ++i)
    for (int w = 0; w < 36; ++w) {
      const double truth = all.origins[i].truth[w], mean = all.origins[i].methods[0].mean[w];
      square += (mean - truth) * (mean - truth) / (4 * 36);
      crossed += truth * mean, truths += truth * truth, forecasts += mean * mean;
    }
  const auto& seasons = start_seasons();
  const auto year = scores.sums(0, 0, seasons[0]);
  EXPECT_NEAR(scores.score(year, score_row("rmse"), {1, 1}).value, std::sqrt(square), 1e-12);
  EXPECT_NEAR(scores.score(year, score_row("acc"), {1, 1}).value, crossed / std::sqrt(truths * forecasts),
              1e-12);
  EXPECT_NEAR(scores.score(year, score_row("r2"), {1, 1}).value, 1 - square * 4 * 36 / truths, 1e-12);
  // The index is the coefficient itself.
  EXPECT_NEAR(scores.score(scores.sums(0, 1, seasons[0]), score_row("rmse"), {1, 1}).value, std::sqrt(square),
              1e-12);
  EXPECT_EQ(scores.score(scores.sums(1, 0, seasons[0]), score_row("rmse"), {1, 1}).value, 0.5);
  // Four seasons make a year.
  double windows = 0;
  for (int s = 1; s < 5; ++s) windows += scores.sums(0, 0, seasons[s])[0];
  EXPECT_EQ(windows, year[0]);
  // A method gains nothing over itself, without any error.
  const auto self = scores.gain(year, year, score_row("rmse"), {1, 1});
  EXPECT_EQ(self.value, 0);
  EXPECT_EQ(self.error, 0);
}

TEST(hindcast, a_spread_that_is_not_known_scores_nothing) {
  auto all = by_hand(
      6, 36, [](int, int) { return 0.5; }, 1);
  const PooledScores known(all, 0, 36);
  all.origins[2].methods[0].covariance[3] = std::nan("");
  const PooledScores scores(all, 0, 36);
  const auto& year = start_seasons()[0];
  for (const int measure : {0, 1})
    for (const auto& row : score_rows()) {
      const std::string name = row.name;
      if (name == "rpss" && measure == 0) continue;  // of an index alone
      const bool asks = name != "rmse" && name != "r2" && name != "acc";
      const auto value = [&](const PooledScores& of, int method) {
        return of.score(of.sums(method, measure, year), row, {1, 1}).value;
      };
      EXPECT_EQ(std::isnan(value(scores, 0)), asks) << name << " of measure " << measure;
      EXPECT_EQ(value(scores, 1), value(known, 1)) << name;
    }
}

TEST(hindcast, probabilities_without_knowledge_have_no_skill_and_are_reliable) {
  Deviates deviate(13);
  Hindcasts all = by_hand(
      20, 36, [](int, int) { return 0.0; }, 1);
  for (auto& one : all.origins)
    for (std::size_t w = 0; w < one.truth.size(); ++w) {
      const double known = deviate();
      one.truth[w] = known + deviate();
      one.methods[0].mean[w] = 0, one.methods[0].covariance[w] = 2;
      one.methods[1].mean[w] = known, one.methods[1].covariance[w] = 1;
    }
  const PooledScores scores(all, 0, 36);
  const auto& year = start_seasons()[0];
  const auto none = scores.sums(0, 1, year), some = scores.sums(1, 1, year);
  EXPECT_NEAR(scores.score(none, score_row("rpss"), {1, 1}).value, 0, 0.03);
  EXPECT_GT(scores.score(some, score_row("rpss"), {1, 1}).value, 0.2);
  EXPECT_NEAR(scores.skill(some, none, score_row("crps"), {1, 1}).value, 1 - 1 / std::numbers::sqrt2, 0.03);
  for (const auto& bin : scores.reliability(1, 1, {1, 1})) {
    if (bin.forecasts > 60) {
      EXPECT_NEAR(bin.frequency, bin.probability, 4 * 0.5 / std::sqrt(bin.forecasts));
    }
  }
}
