#include "surrogates/flow/prediction/error_bars.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "io/log/error.hpp"
#include "tests/unit/flow/prediction/small_flow.hpp"

namespace quintet::flow {
namespace {

const PredictionOptions ample{.residuals = false, .max_memory = 1e9};

/// Bars of both fields at some points, and the model's values there.
struct Bars {
  std::vector<float> values, bars;
};
Bars bars_of(const FlowModel& model, std::vector<FlowModel> members, std::vector<double> scale) {
  const auto coarse = coarse_block(6, 8);
  const auto points = random_points(coarse, 100);
  Bars result{std::vector<float>(200), std::vector<float>(200)};
  FlowPredictor predictor(model, coarse, known, ample);
  predictor.predict(points, result.values, {});
  ErrorBars(std::move(members), model.header, coarse, known, ample, std::move(scale))
      .predict(points, result.values, result.bars);
  return result;
}

/// The model with one field of its answers moved by so much: by the decoder's last bias.
FlowModel moved(FlowModel model, std::size_t field, double by) {
  const std::size_t first_bias = model.parameters.size() - model.header.fields.size();
  model.parameters[first_bias + field] += static_cast<float>(by / model.header.fields[field].deviation);
  return model;
}

TEST(ErrorBars, are_the_root_mean_square_distance_of_the_members_times_the_scale) {
  const auto model = small_model();
  const auto [values, bars] = bars_of(model, {moved(model, 0, 3), moved(moved(model, 0, -4), 1, 1)}, {2, 5});
  for (std::size_t p = 0; p < 100; ++p) {
    EXPECT_NEAR(bars[2 * p], 2 * std::sqrt((9 + 16) / 2.0), 1e-5);
    EXPECT_NEAR(bars[2 * p + 1], 5 * std::sqrt(1 / 2.0), 1e-5);
  }
}

TEST(ErrorBars, follow_members_from_point_to_point) {
  const auto model = small_model();
  const auto member = small_model(DecoderKind::continuous, DecoderBase::none, 2);
  const auto [values, bars] = bars_of(model, {member}, {});
  const auto other = bars_of(member, {model}, {});
  double least = 1e9, most = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    EXPECT_NEAR(bars[i], std::abs(values[i] - other.values[i]), 1e-5);
    least = std::min<double>(least, bars[i]), most = std::max<double>(most, bars[i]);
  }
  EXPECT_GT(most, 1.2 * least);
}

TEST(ErrorBars, refuse_members_of_other_fields_and_scales_of_another_number) {
  const auto model = small_model();
  auto member = model;
  member.header.fields[0].name = "temperature";
  EXPECT_THROW(bars_of(model, {member}, {}), InputError);
  EXPECT_THROW(bars_of(model, {moved(model, 0, 1)}, {1}), InputError);
  EXPECT_NO_THROW(bars_of(model, {moved(model, 0, 1)}, {1, 1}));
}

TEST(ErrorBars, refuse_members_in_other_units_or_less_another_offset) {
  const auto model = small_model();
  auto other_units = moved(model, 0, 1), other_offset = other_units;
  other_units.header.fields[1].units = "m/s";
  other_offset.header.fields[1].offset = 300;
  EXPECT_THROW(bars_of(model, {other_units}, {}), InputError);
  EXPECT_THROW(bars_of(model, {other_offset}, {}), InputError);
}

TEST(ErrorBarScore, of_normal_errors_has_the_shares_of_a_normal_law) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  ErrorBarScore score, too_small;
  for (int i = 0; i < 100000; ++i) {
    const double bar = 0.1 + i % 7, error = bar * normal(random);
    score.add(error, bar);
    too_small.add(error, bar / 3);
  }
  EXPECT_NEAR(score.ratio(), 1, 0.02);
  EXPECT_NEAR(score.within(1), 0.683, 0.01);
  EXPECT_NEAR(score.within(2), 0.954, 0.01);
  EXPECT_NEAR(too_small.ratio(), 3, 0.06);
  EXPECT_LT(too_small.within(1), 0.3);
}

}  // namespace
}  // namespace quintet::flow
