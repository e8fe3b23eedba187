#include "surrogates/flow/prediction/flow_predictor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <tuple>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/data/interpolate.hpp"
#include "surrogates/flow/decoder/decoder.hpp"
#include "surrogates/flow/model/flow_network.hpp"
#include "surrogates/flow/prediction/encoder_windows.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/unit/flow/prediction/small_flow.hpp"

namespace quintet::flow {
namespace {

struct Answer {
  std::vector<float> values, residuals;
};
Answer ask(FlowPredictor& predictor, const std::vector<double>& points) {
  const std::size_t n = points.size() / 3;
  Answer answer{std::vector<float>(2 * n), std::vector<float>(predictor.equation_names().size() * n)};
  predictor.predict(points, answer.values, answer.residuals);
  return answer;
}

double greatest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) greatest = std::max<double>(greatest, std::abs(a[i] - b[i]));
  return greatest;
}

TEST(EncoderWindows, cover_every_node_and_are_no_larger_than_a_block) {
  for (const bool periodic : {false, true})
    for (int n = 2; n < 23; ++n) {
      const auto windows = cover_axis(n, 8, periodic, false);
      EXPECT_LE(windows.length, 8);
      std::vector<double> weight(n, 0);
      for (const int start : windows.starts) {
        EXPECT_TRUE(periodic ? start < n : start + windows.length <= n);
        for (int i = 0; i < windows.length; ++i)
          weight[(start + i) % n] += AxisWindows::weight(i, windows.length);
      }
      EXPECT_GT(*std::min_element(weight.begin(), weight.end()), 0) << n;
    }
  EXPECT_EQ(cover_axis(8, 8, true, true).starts.size(), 1U);
  EXPECT_EQ(cover_axis(8, 8, true, false).starts.size(), 2U);
}

TEST(FlowPredictor, takes_no_more_memory_than_it_can_use_of_what_it_may) {
  const FlowPredictor some(small_model(), coarse_block(2, 4), known, {EncoderCover::blocks, true, 1e10});
  const FlowPredictor plenty(small_model(), coarse_block(2, 4), known, {EncoderCover::blocks, true, 1e20});
  EXPECT_GT(some.memory(), some.least_memory());
  EXPECT_EQ(plenty.memory(), some.memory());
}

TEST(FlowPredictor, products_in_bf16_are_compared_with_float) {
  const auto model = small_model();
  const auto coarse = coarse_block(4, 8);
  const auto points = random_points(coarse, 3000);
  PredictionOptions options{EncoderCover::blocks, true, 1e9};
  FlowPredictor exact(model, coarse, known, options);
  EXPECT_EQ(exact.precision_check(), nullptr);
  options.precision = ProductPrecision::bf16;
  options.precision_bound = 1;
  FlowPredictor rounded(model, coarse, known, options);
  const auto expected = ask(exact, points), found = ask(rounded, points);
  const auto* check = rounded.precision_check();
  ASSERT_NE(check, nullptr);
  EXPECT_GE(check->points, 64);
  EXPECT_LE(check->points, 200);
  for (std::size_t f = 0; f < 2; ++f) {
    double largest = 0;
    for (std::size_t p = 0; p < 3000; ++p)
      largest = std::max<double>(largest, std::abs(found.values[2 * p + f] - expected.values[2 * p + f]) /
                                              model.header.fields[f].deviation);
    EXPECT_GT(check->field_rms(f), 1e-6);
    EXPECT_LE(check->field_rms(f), check->field_largest[f]);
    EXPECT_LE(check->field_largest[f], largest * 1.001);
    EXPECT_GT(check->field_largest[f], largest / 10);
    EXPECT_LT(largest, 0.02);
  }
  EXPECT_GT(check->residual_rms(0), 1e-6);
  EXPECT_LE(check->residual_rms(0), check->worst());

  options.precision_bound = check->worst() / 2;
  FlowPredictor bounded(model, coarse, known, options);
  EXPECT_THROW(static_cast<void>(ask(bounded, points)), NumericalError);
}

TEST(FlowPredictor, gives_up_within_its_points_where_it_is_asked_and_else_answers_the_same) {
  const auto coarse = coarse_block(4, 8);
  const auto points = random_points(coarse, 3000);  // several tasks of the decoder
  FlowPredictor plain(small_model(), coarse, known, {.max_memory = 1e9});
  const auto expected = ask(plain, points);
  std::atomic<int> asked = 0, patience = 1000000;
  FlowPredictor watched(small_model(), coarse, known,
                        {.max_memory = 1e9, .interrupt = [&] { return ++asked > patience; }});
  const auto found = ask(watched, points);
  EXPECT_EQ(found.values, expected.values);
  EXPECT_EQ(found.residuals, expected.residuals);
  const int times = asked;
  EXPECT_GT(times, 3);
  for (const int allowed : {0, times / 2, times - 1}) {
    asked = 0, patience = allowed;
    EXPECT_THROW(static_cast<void>(ask(watched, points)), Interrupted) << allowed;
  }
  asked = 0, patience = times;
  EXPECT_EQ(ask(watched, points).values, expected.values);
}

/// What a GPU computes, or the same operators on the host's cores.
TEST(FlowPredictor, on_a_device_answers_are_those_of_the_host) {
  const DeviceSession device = test::device_session();
  const FieldBlock coarse = coarse_block(5, 7);
  const auto points = random_points(coarse, 700);
  for (const auto& model : {small_model(), small_model(DecoderKind::continuous, DecoderBase::interpolation),
                            small_model(DecoderKind::convolutional)}) {
    PredictionOptions options{.max_memory = 1e9};
    const auto predict = [&] {
      FlowPredictor predictor(model, coarse, known, options);
      std::vector<float> values(700 * 2), residuals(700 * predictor.equation_names().size());
      predictor.predict(points, values, residuals);
      values.insert(values.end(), residuals.begin(), residuals.end());
      return values;
    };
    const auto expected = predict();
    options.device = device;
    const auto found = predict();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
  }
  PredictionOptions rounded{.max_memory = 1e9, .precision = ProductPrecision::bf16, .device = device};
  EXPECT_THROW(FlowPredictor(small_model(), coarse, known, rounded), InputError);
}

TEST(FlowPredictor, one_block_is_what_encoder_and_decoder_make_of_it) {
  auto model = small_model();
  const auto coarse = coarse_block(2, 4);
  // All nodes at once: a single window.
  FlowPredictor predictor(model, coarse, known, {EncoderCover::whole, false, 1e9});
  const auto points = random_points(coarse, 50);
  const auto answer = ask(predictor, points);

  // Periodic x: two windows, whose latents are the mean weighted by place; with one start they are the
  // encoder's own.
  model.header.options.encoder.padding = {"zeros", "zeros", "circular"};
  FlowPredictor seamless(model, coarse, known, {EncoderCover::whole, false, 1e9});
  const auto latents = encode_fields(model, 1, {2, 4, 4}, coarse.values, std::vector<double>{1, 1000});
  Decoder<float> decoder(decoder_options(model.header.options, 2));
  decoder.refresh(model.parameters.data() + flow_network_size(model.header).encoder);
  DecoderQueries queries;
  queries.n_points = 50;
  queries.points = points;
  NodeGrid grid;
  for (std::size_t i = 0; i < 3; ++i)
    grid[i] = {coarse.axes[i].coordinates, coarse.axes[i].periodic, coarse.axes[i].lower,
               coarse.axes[i].upper};
  queries.grids = {grid};
  std::vector<float> jets(100);
  decoder.forward(latents.data(), queries, jets.data());
  const auto seamless_answer = ask(seamless, points);
  for (int p = 0; p < 50; ++p) {
    EXPECT_NEAR(seamless_answer.values[2 * p], 0.1 + 0.7 * jets[2 * p], 1e-5);
    EXPECT_NEAR(seamless_answer.values[2 * p + 1], -0.2 + 1.3 * jets[2 * p + 1], 1e-5);
  }
  EXPECT_GT(greatest_difference(answer.values, seamless_answer.values), 1e-6);
}

/// Kinds of decoder with each base; weights moved away from where a base starts.
class AnyDecoder : public testing::TestWithParam<std::tuple<DecoderKind, DecoderBase>> {
 protected:
  static FlowModel model() {
    FlowModel made = small_model(std::get<0>(GetParam()), std::get<1>(GetParam()));
    for (std::size_t i = 0; i < made.parameters.size(); ++i)
      made.parameters[i] += 0.05F * std::sin(static_cast<float>(i));
    return made;
  }
};

TEST_P(AnyDecoder, neither_memory_nor_the_order_of_points_changes_an_answer) {
  const auto coarse = coarse_block(11, 10);
  FlowPredictor roomy(model(), coarse, known, {EncoderCover::blocks, true, 1e9});
  FlowPredictor tight(model(), coarse, known, {EncoderCover::blocks, true, roomy.least_memory()});
  EXPECT_LT(tight.memory(), roomy.memory());
  const auto points = random_points(coarse, 700);
  const auto one = ask(roomy, points), other = ask(tight, points);
  EXPECT_LT(greatest_difference(one.values, other.values), 1e-6);
  EXPECT_LT(greatest_difference(one.residuals, other.residuals), 1e-4);

  std::vector<double> backwards;
  for (std::size_t p = points.size() / 3; p-- > 0;)
    backwards.insert(backwards.end(), &points[3 * p], &points[3 * p] + 3);
  const auto turned = ask(tight, backwards);
  for (std::size_t p = 0; p < 700; ++p)
    for (std::size_t f = 0; f < 2; ++f)
      EXPECT_NEAR(turned.values[2 * (699 - p) + f], one.values[2 * p + f], 1e-6);
}

TEST_P(AnyDecoder, a_flow_moved_along_a_periodic_axis_is_predicted_moved) {
  const auto coarse = coarse_block(3, 12), moved = coarse_block(3, 12, 2);  // by half a window: 2 nodes
  FlowPredictor one(model(), coarse, known, {EncoderCover::blocks, true, 1e9});
  FlowPredictor other(model(), moved, known, {EncoderCover::blocks, true, 1e9});
  auto points = random_points(coarse, 100);
  const auto here = ask(one, points);
  for (std::size_t p = 0; p < 100; ++p) points[3 * p + 2] = std::fmod(points[3 * p + 2] + 2 * 0.5, 6.0);
  const auto there = ask(other, points);
  EXPECT_LT(greatest_difference(here.values, there.values), 2e-5);
}

/// As a model of volumes along (y, z, x), of which y is periodic.
FlowModel of_volumes(FlowModel model) {
  model.header.axes[0] = {"y", "1", true, 0, 4, {0.5, 0.5}, {1.5, 1.5}};
  model.header.equations.interior = {{"other", FormulaText("dy(b) + u*dyy(u) + dzz(u)*b")}};
  model.header.equations.constants.clear();
  return model;
}
FieldBlock volume(int n_y, int shift = 0) {
  FieldBlock block = coarse_block(n_y, 8);
  block.axes[0].periodic = true;
  const auto values = block.values;
  const std::size_t row = 4 * 8;
  for (int f = 0; f < 2; ++f)
    for (int y = 0; y < n_y; ++y)
      std::copy_n(&values[(f * n_y + (y + n_y - shift) % n_y) * row], row,
                  &block.values[(f * n_y + y) * row]);
  return block;
}

TEST_P(AnyDecoder, volumes_do_not_depend_on_how_they_are_cut) {
  const auto coarse = volume(11);
  FlowPredictor roomy(of_volumes(model()), coarse, known, {EncoderCover::blocks, true, 1e9});
  FlowPredictor tight(of_volumes(model()), coarse, known, {EncoderCover::blocks, true, roomy.least_memory()});
  EXPECT_LT(tight.memory(), roomy.memory());
  const auto points = random_points(coarse, 700);
  const auto one = ask(roomy, points), other = ask(tight, points);
  EXPECT_LT(greatest_difference(one.values, other.values), 1e-6);
  EXPECT_LT(greatest_difference(one.residuals, other.residuals), 1e-4);
}

TEST_P(AnyDecoder, a_volume_moved_along_its_periodic_first_axis_is_predicted_moved) {
  FlowPredictor one(of_volumes(model()), volume(12), known, {EncoderCover::blocks, true, 1e9});
  auto points = random_points(volume(12), 200);
  const auto here = ask(one, points);
  for (const int nodes : {1, 5}) {  // windows begin at each node: half of two
    FlowPredictor other(of_volumes(model()), volume(12, nodes), known,
                        {EncoderCover::blocks, true, one.least_memory()});
    auto moved = points;
    for (std::size_t p = 0; p < 200; ++p) moved[3 * p] = std::fmod(moved[3 * p] + 0.5 * nodes, 6.0);
    const auto there = ask(other, moved);
    EXPECT_LT(greatest_difference(here.values, there.values), 2e-5) << nodes;
  }
}

TEST_P(AnyDecoder, the_next_volume_is_that_of_a_new_predictor) {
  FlowPredictor used(of_volumes(model()), volume(6), known, {EncoderCover::blocks, true, 1e9});
  const auto points = random_points(volume(6), 100);
  static_cast<void>(ask(used, points));
  used.replace(volume(6, 2));
  FlowPredictor fresh(of_volumes(model()), volume(6, 2), known, {EncoderCover::blocks, true, 1e9});
  EXPECT_EQ(ask(used, points).values, ask(fresh, points).values);
}

std::string decoder_name(const testing::TestParamInfo<std::tuple<DecoderKind, DecoderBase>>& info) {
  const bool continuous = std::get<0>(info.param) == DecoderKind::continuous,
             corrects = std::get<1>(info.param) != DecoderBase::none;
  return std::string(continuous ? "continuous" : "convolutional") + (corrects ? "_correction" : "");
}
INSTANTIATE_TEST_SUITE_P(FlowPredictor, AnyDecoder,
                         testing::Combine(testing::Values(DecoderKind::continuous,
                                                          DecoderKind::convolutional),
                                          testing::Values(DecoderBase::none, DecoderBase::interpolation)),
                         decoder_name);

TEST(FlowPredictor, a_correction_that_is_not_trained_is_interpolation) {
  const auto coarse = coarse_block(5, 10);
  FlowPredictor predictor(small_model(DecoderKind::continuous, DecoderBase::interpolation), coarse, known,
                          {EncoderCover::blocks, true, 1e9});
  const auto points = random_points(coarse, 200);
  std::vector<float> expected(400);
  interpolate(BlockView(coarse), points, expected);
  EXPECT_LT(greatest_difference(ask(predictor, points).values, expected), 2e-6);
}

TEST(FlowPredictor, residuals_are_those_of_the_values_by_finite_differences) {
  const auto coarse = coarse_block(5, 10);
  auto model = small_model();  // its decoder steeper than at random, for residuals that stand out
  for (std::size_t i = flow_network_size(model.header).encoder; i < model.parameters.size(); ++i)
    model.parameters[i] *= 3;
  FlowPredictor predictor(model, coarse, known, {EncoderCover::blocks, true, 1e9});
  ASSERT_EQ(predictor.equation_names(), (std::vector<std::string>{"buoyancy", "other"}));
  // In the middle of a cell, away from node planes, at which derivatives jump.
  const double h = 0.02, t = 1.0, z = -0.02, x = 2.53;
  const auto at = [&](double dt, double dz, double dx) {
    return ask(predictor, {t + dt, z + dz, x + dx}).values;
  };
  const auto centre = at(0, 0, 0), tp = at(h, 0, 0), tm = at(-h, 0, 0), zp = at(0, h, 0), zm = at(0, -h, 0),
             xp = at(0, 0, h), xm = at(0, 0, -h);
  const double b_t = (tp[0] - tm[0]) / (2 * h), b_x = (xp[0] - xm[0]) / (2 * h);
  const double lap = (xp[0] + xm[0] + zp[0] + zm[0] - 4.0 * centre[0]) / (h * h);
  const double expected = b_t + centre[1] * b_x - lap / std::sqrt(1000.0);
  EXPECT_NEAR(ask(predictor, {t, z, x}).residuals[0], expected, 0.02 * std::abs(expected));
  EXPECT_GT(std::abs(expected), 1e-2);
}

TEST(FlowPredictor, beyond_the_training_there_are_doubts) {
  const auto doubts_of = [](const FieldBlock& coarse, const std::map<std::string, double>& parameters) {
    return FlowPredictor(small_model(), coarse, parameters, {}).doubts();
  };
  auto fine = coarse_block(4, 4);
  EXPECT_EQ(doubts_of(fine, known).size(), 0U);
  EXPECT_EQ(doubts_of(fine, {{"Ra", 1e6}, {"Pr", 1}}).size(), 1U);
  EXPECT_EQ(doubts_of(coarse_block(4, 12), known).size(), 1U);  // another period
  for (auto& time : fine.axes[0].coordinates) time *= 2;
  fine.axes[0].upper *= 2;
  EXPECT_EQ(doubts_of(fine, known).size(), 1U);
}

/// Blocks of the training's size have its masks, wherever they lie; all nodes at once have them again and
/// again.
TEST(FlowPredictor, masks_are_those_of_a_crop_from_its_corner_on) {
  FlowModel model = small_model();
  model.header.options.encoder.block = ResidualMiddle::perturb;
  model.header.options.encoder.padding = {"zeros", "zeros", "circular"};
  const FlowNetwork<float> network(model.header);
  const auto parameters = network.initial_parameters(1);
  model.parameters.assign(parameters.begin(), parameters.end());
  model.statistics = network.initial_statistics();
  const auto difference = [&](int moved, EncoderCover cover) {
    const auto coarse = coarse_block(2, 12), other = coarse_block(2, 12, moved);
    FlowPredictor here(model, coarse, known, {cover, false, 1e9}),
        there(model, other, known, {cover, false, 1e9});
    auto points = random_points(coarse, 60);
    const auto expected = ask(here, points);
    for (std::size_t p = 0; p < 60; ++p) points[3 * p + 2] = std::fmod(points[3 * p + 2] + moved * 0.5, 6.0);
    return greatest_difference(expected.values, ask(there, points).values);
  };
  EXPECT_LT(difference(2, EncoderCover::blocks), 2e-5) << "blocks begin every two nodes";
  EXPECT_GT(difference(1, EncoderCover::blocks), 1e-3);
  EXPECT_LT(difference(4, EncoderCover::whole), 2e-5) << "masks repeat after four nodes";
  EXPECT_GT(difference(2, EncoderCover::whole), 1e-3);
  EXPECT_THROW(FlowPredictor(model, coarse_block(2, 3), known, {}), InputError);
}

TEST(FlowPredictor, what_cannot_be_answered_is_refused) {
  const auto coarse = coarse_block(4, 4);
  EXPECT_THROW(FlowPredictor(small_model(), coarse, {{"Pr", 1}}, {}), InputError);
  FlowPredictor predictor(small_model(), coarse, known, {});
  EXPECT_THROW(FlowPredictor(small_model(), coarse, known,
                             {EncoderCover::blocks, true, 0.99 * predictor.least_memory()}),
               InputError);
  EXPECT_THROW((void)ask(predictor, {0.5, 0.51, 1}), InputError);
  EXPECT_THROW((void)ask(predictor, {-0.1, 0, 1}), InputError);
  EXPECT_THROW((void)ask(predictor, {0.5, std::nan(""), 1}), InputError);
  auto single = coarse_block(4, 4);
  single.n_fields = 1;
  EXPECT_THROW(FlowPredictor(small_model(), single, known, {}), InputError);
}

}  // namespace
}  // namespace quintet::flow
