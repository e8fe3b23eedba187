#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/skill/comparison.hpp"
#include "tests/verification/sequence/weekly_coefficients.hpp"

/// The forecast model with all its defaults on the real weekly coefficients: trained to 2007, chosen on
/// 2008-2011, judged on 2012-2014.
namespace quintet::sequence {
namespace {

constexpr int out = 8, block = 24;

/// Forecasts of one period, and what came.
class Period {
 public:
  Period(const CoefficientSeries& series, const Windows& windows)
      : comparison_(targets(series, windows), {windows.size(), out, series.n_modes},
                    subspace_metric(series.n_modes, sea_points), block) {}
  [[nodiscard]] Score score(const std::vector<double>& forecast) const {
    return comparison_.score(comparison_.sample({"", forecast}));
  }
  [[nodiscard]] Gain gain(const std::vector<double>& forecast, const std::vector<double>& reference) const {
    return comparison_.gain(comparison_.sample({"", forecast}), comparison_.sample({"", reference}));
  }

 private:
  Comparison comparison_;
};

TEST(ocean_skill, five_seeds_beat_damped_persistence_and_the_linear_inverse_model) {
  NEEDS_COEFFICIENTS(series);
  SplitOptions options;
  options.train_until = "2007-12-31", options.validation_until = "2011-12-31";
  const auto split = make_split(series, {8, out}, options);
  const auto trained = train_forecast(Comm::self(), series, split, Irregular::avoid, {}, {});
  ASSERT_EQ(trained.model.members.size(), 5U);
  const Period validation(series, split.validation), test(series, split.test);
  const auto validated = forecast(trained.model, series, split.validation),
             tested = forecast(trained.model, series, split.test);

  for (int k = 0; k < 5; ++k) {
    const auto score = test.score(tested.members[k]);
    const double valid = validation.score(validated.members[k]).r2.value;
    fmt::print("seed {}: R2 {:.4f} validation, {:.4f} test; RMSE {:.4f}\n", k + 1, valid, score.r2.value,
               score.rmse.value);
    EXPECT_GE(score.r2.value, .900);
    EXPECT_LE(score.rmse.value, .115);
    EXPECT_GE(valid, .910);
  }
  const auto mean = test.score(tested.mean);
  EXPECT_GE(mean.r2.value, .908);
  EXPECT_LE(mean.rmse.value, .110);

  // Errors of validation are those to expect: of normal deviates 95 % lie within two.
  const auto truth = targets(series, split.test);
  const auto products =
      error_products(targets(series, split.validation), validated.mean, out, series.n_modes);
  double within_two = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto output = i % (out * series.n_modes);
    const auto mode = output % series.n_modes;
    const double variance = products[output * series.n_modes + mode];
    if (std::abs(tested.mean[i] - truth[i]) < 2 * std::sqrt(variance)) within_two += 1.0 / truth.size();
  }
  fmt::print("{:.3f} of the errors within two of validation\n", within_two);
  EXPECT_GT(within_two, .90);
  EXPECT_LT(within_two, .98);

  const FitData data{series, split.constants, split.train, Irregular::avoid};
  for (const auto reference : {Reference::damped_persistence, Reference::lim}) {
    const auto other = fit_reference(reference, data, {});
    const auto gain = test.gain(tested.mean, other.forecast(series, split.test));
    EXPECT_GT(gain.r2.value, 0) << other.name;
    for (int lead = 4; lead <= out; ++lead)
      EXPECT_EQ(verdict_of(gain.rmse_at[lead - 1]), Verdict::better)
          << other.name << ", lead " << lead << ": " << gain.rmse_at[lead - 1].value << " +- "
          << gain.rmse_at[lead - 1].error;
  }
}

/// Plain networks of raw coefficients as PyTorch trains them, three seeds, windows drawn at random from the
/// weeks up to a day: mean R2 of validation and of all later weeks.
struct PaperScores {
  double validation = 0, test = 0;
};
PaperScores paper_scores(const CoefficientSeries& series, const std::string& until, const std::string& node,
                         Head head, int epochs) {
  constexpr int seeds = 3;
  SplitOptions options;
  options.kind = SplitKind::random, options.train_until = until, options.irregular = Irregular::cross;
  const auto split = make_split(series, {8, out}, options);
  ForecastOptions raw;
  raw.kind = ForecastKind::raw;
  raw.members = seeds;
  static_cast<ArchitectureOptions&>(raw.network) = {{node}, {}, head};
  raw.training = TrainingOptions{};
  raw.training.epochs = epochs;
  raw.training.epsilon = 1e-8;
  raw.training.keep_best = false;
  raw.training.start = Start::pytorch;
  raw.training.twin_biases = true;
  const auto trained = train_forecast(Comm::self(), series, split, Irregular::cross, raw, {});
  const auto mean_r2 = [&](const Windows& windows) {
    const auto truth = targets(series, windows);
    double sum = 0;
    for (const auto& member : forecast(trained.model, series, windows).members)
      sum += r2_uniform(truth, member, {windows.size(), out, series.n_modes}) / seeds;
    return sum;
  };
  const PaperScores scores{mean_r2(split.validation), mean_r2(split.test)};
  fmt::print("{} up to {}, {} epochs: R2 {:.3f} validation, {:.3f} test\n", node, until, epochs,
             scores.validation, scores.test);
  return scores;
}

// Rows of ../shared/anchors/podlstm.md that were measured with PyTorch.
TEST(ocean_skill, plain_networks_score_as_the_peers_and_below_the_linear_forecasts) {
  NEEDS_COEFFICIENTS(series);
  const auto paper = paper_scores(series, "1989-12-30", "80", Head::lstm, 100);
  EXPECT_NEAR(paper.validation, .83, .05);  // 82 windows
  EXPECT_NEAR(paper.test, .67, .05);
  const auto dense = paper_scores(series, "1989-12-30", "80", Head::dense, 100);
  EXPECT_NEAR(dense.validation, .87, .05);
  EXPECT_NEAR(dense.test, .73, .05);
  const auto workshop = paper_scores(series, "2003-05-31", "128", Head::dense, 20);
  EXPECT_NEAR(workshop.validation, .756, .03);
  EXPECT_NEAR(workshop.test, .671, .05);
  for (const auto& scores : {paper, dense, workshop}) EXPECT_LT(scores.test, .86);  // they: .858 to .907
}

}  // namespace
}  // namespace quintet::sequence
