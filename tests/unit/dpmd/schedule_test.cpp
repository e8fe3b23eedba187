#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "apps/dpmd/train/train_schedule.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {
namespace {

LearningRateOptions rate(double start, double stop, std::int64_t decay_steps, bool smooth = false) {
  LearningRateOptions options;
  options.start = start;
  options.stop = stop;
  options.decay_steps = decay_steps;
  options.smooth = smooth;
  return options;
}

TEST(TrainingSchedule, rate_falls_in_steps_from_start_to_stop) {
  const TrainingSchedule schedule(rate(1e-3, 3.51e-8, 5000), {}, 1000000);

  EXPECT_EQ(schedule.learning_rate(0), 1e-3);
  EXPECT_EQ(schedule.learning_rate(4999), 1e-3);
  const double r = std::pow(3.51e-5, 5000.0 / 1000000);
  EXPECT_NEAR(schedule.learning_rate(5000), 1e-3 * r, 1e-15);
  EXPECT_NEAR(schedule.learning_rate(14999), 1e-3 * r * r, 1e-15);
  EXPECT_NEAR(schedule.learning_rate(1000000), 3.51e-8, 1e-17);
}

TEST(TrainingSchedule, rate_never_falls_below_stop) {
  const TrainingSchedule schedule(rate(1e-3, 1e-5, 7), {}, 50);

  EXPECT_EQ(schedule.learning_rate(500), 1e-5);
}

TEST(TrainingSchedule, smooth_rate_is_the_exponential_itself) {
  const TrainingSchedule schedule(rate(1e-2, 1e-4, 10, true), {}, 100);

  EXPECT_NEAR(schedule.learning_rate(50), 1e-3, 1e-15);
  EXPECT_NEAR(schedule.learning_rate(25), 1e-2 * std::pow(10, -0.5), 1e-15);
}

TEST(TrainingSchedule, the_curve_begins_after_the_warm_up_and_ends_with_the_steps) {
  for (const RateKind kind : {RateKind::exponential, RateKind::cosine}) {
    auto options = rate(1e-2, 1e-4, 10, kind == RateKind::exponential);
    options.schedule = kind;
    options.warmup_steps = 20;
    options.warmup_factor = 0.25;
    const TrainingSchedule schedule(options, {}, 120);

    EXPECT_DOUBLE_EQ(schedule.learning_rate(0), 0.25e-2);
    EXPECT_DOUBLE_EQ(schedule.learning_rate(10), 0.625e-2);
    EXPECT_DOUBLE_EQ(schedule.learning_rate(20), 1e-2);
    EXPECT_NEAR(schedule.learning_rate(70), kind == RateKind::cosine ? 0.505e-2 : 1e-3, 1e-15);
    EXPECT_NEAR(schedule.learning_rate(120), 1e-4, 1e-15);
  }
}

TEST(TrainingSchedule, steps_multiply_by_the_factor_down_to_stop) {
  auto options = rate(1e-2, 1e-3, 10);
  options.schedule = RateKind::step;
  options.factor = 0.5;
  const TrainingSchedule schedule(options, {}, 5);  // decay_steps are as given, however few steps there are

  EXPECT_EQ(schedule.learning_rate(9), 1e-2);
  EXPECT_EQ(schedule.learning_rate(10), 0.5e-2);
  EXPECT_EQ(schedule.learning_rate(39), 0.125e-2);
  EXPECT_EQ(schedule.learning_rate(40), 1e-3);
}

TEST(TrainingSchedule, a_warm_up_that_leaves_no_step_is_refused) {
  auto options = rate(1e-2, 1e-4, 10);
  options.warmup_steps = 50;
  EXPECT_NO_THROW(TrainingSchedule(options, {}, 51));
  EXPECT_THROW(TrainingSchedule(options, {}, 50), InputError);
  options.warmup_steps = 0;
  EXPECT_NO_THROW(TrainingSchedule(options, {}, 0));
}

TEST(TrainingSchedule, prefactors_of_the_warm_up_are_those_of_the_first_step) {
  auto options = rate(1e-2, 1e-4, 10, true);
  options.warmup_steps = 100;
  LossOptions loss;
  loss.energy = {0.02, 1};
  loss.force = {1000, 1, 0.3};
  const TrainingSchedule schedule(options, loss, 200);

  for (const std::int64_t step : {0, 50, 100}) {
    EXPECT_NEAR(schedule.prefactors(step).energy, 0.02, 1e-15);
    EXPECT_DOUBLE_EQ(schedule.prefactors(step).force, 1000);
  }
  EXPECT_NEAR(schedule.prefactors(150).force, 1 + 999 * 0.1, 1e-9);
  EXPECT_EQ(schedule.prefactors(150).force_huber, 0.3);
  EXPECT_EQ(schedule.last_prefactors().force, 1);
  EXPECT_EQ(schedule.last_prefactors().energy, 1);
  EXPECT_EQ(schedule.last_prefactors().virial, 0);
}

TEST(TrainingSchedule, too_long_decay_steps_are_replaced_as_deepmd_does) {
  EXPECT_EQ(TrainingSchedule(rate(1e-3, 1e-8, 5000), {}, 300).decay_steps(), 4);
  EXPECT_EQ(TrainingSchedule(rate(1e-3, 1e-8, 5000), {}, 5000).decay_steps(), 100);
  EXPECT_EQ(TrainingSchedule(rate(1e-3, 1e-8, 5000), {}, 1009).decay_steps(), 11);
  EXPECT_EQ(TrainingSchedule(rate(1e-3, 1e-8, 5000), {}, 1010).decay_steps(), 100);
  EXPECT_EQ(TrainingSchedule(rate(1e-3, 1e-8, 5000), {}, 5001).decay_steps(), 5000);
}

TEST(TrainingSchedule, prefactors_follow_the_rate_and_half_terms_are_off) {
  LossOptions loss;
  loss.energy = {0.02, 1};
  loss.force = {1000, 1};
  loss.virial = {0, 5};
  const TrainingSchedule schedule(rate(1e-2, 1e-4, 10, true), loss, 100);

  EXPECT_NEAR(schedule.prefactors(0).energy, 0.02, 1e-15);
  EXPECT_DOUBLE_EQ(schedule.prefactors(0).force, 1000);
  EXPECT_NEAR(schedule.prefactors(50).energy, 1 - 0.98 * 0.1, 1e-12);
  EXPECT_NEAR(schedule.prefactors(50).force, 1 + 999 * 0.1, 1e-9);
  EXPECT_EQ(schedule.prefactors(50).virial, 0);
}

const potential::LossPrefactors ones{1, 0, 0, false};

/// The step at which the watch gives up, or 0.
std::int64_t gives_up_at(DivergenceWatch& watch, std::int64_t first, std::int64_t last, double loss) {
  for (std::int64_t step = first; step <= last; ++step) try {
      watch.add(step, loss, ones, {});
    } catch (const NumericalError&) {
      return step;
    }
  return 0;
}

TEST(DivergenceWatch, gives_up_at_once_where_the_loss_is_no_number) {
  DivergenceWatch watch(1000);

  EXPECT_EQ(gives_up_at(watch, 1, 5, std::numeric_limits<double>::quiet_NaN()), 1);
  EXPECT_EQ(gives_up_at(watch, 1, 5, std::numeric_limits<double>::infinity()), 1);
}

TEST(DivergenceWatch, gives_up_when_the_loss_stays_high_not_for_a_peak) {
  DivergenceWatch watch(10);

  EXPECT_EQ(gives_up_at(watch, 1, 200, 1.0), 0);
  EXPECT_EQ(gives_up_at(watch, 201, 201, 5000.0), 0);
  EXPECT_EQ(gives_up_at(watch, 202, 2000, 1.0), 0);
  const auto step = gives_up_at(watch, 2001, 3000, 100.0);
  EXPECT_GT(step, 2200);
  EXPECT_LT(step, 2300);
}

TEST(DivergenceWatch, gives_up_at_once_when_the_loss_explodes) {
  DivergenceWatch watch(10);

  EXPECT_EQ(gives_up_at(watch, 1, 200, 1.0), 0);
  EXPECT_EQ(gives_up_at(watch, 201, 300, 1e8), 201);
}

TEST(DivergenceWatch, does_not_take_rising_prefactors_for_a_rising_loss) {
  DivergenceWatch watch(10);

  EXPECT_EQ(gives_up_at(watch, 1, 200, 1.0), 0);
  for (int step = 201; step < 2000; ++step) EXPECT_NO_THROW(watch.add(step, 1e4, {1e4, 0, 0, false}, {}));
}

TEST(DivergenceWatch, restored_gives_up_at_the_same_step) {
  DivergenceWatch whole(10), first(10), second(10);
  static_cast<void>(gives_up_at(whole, 1, 150, 1.0));
  static_cast<void>(gives_up_at(first, 1, 150, 1.0));
  static_cast<void>(gives_up_at(whole, 151, 200, 100.0));
  static_cast<void>(gives_up_at(first, 151, 200, 100.0));

  second.restore(first.state());

  const auto step = gives_up_at(whole, 201, 3000, 100.0);
  EXPECT_GT(step, 0);
  EXPECT_EQ(gives_up_at(second, 201, 3000, 100.0), step);
}

TEST(TrainOptions, batch_sizes) {
  EXPECT_EQ(parse_batch_size({"auto"}).atoms, 32);
  EXPECT_EQ(parse_batch_size({"auto"}).frames, 0);
  EXPECT_EQ(parse_batch_size({"auto:64"}).atoms, 64);
  EXPECT_EQ(parse_batch_size({"4"}).frames, 4);
  for (const char* wrong : {"0", "-1", "auto:", "auto:0", "4.5", "many"})
    EXPECT_THROW(static_cast<void>(parse_batch_size({wrong})), InputError) << wrong;
}

TEST(TrainOptions, sel) {
  EXPECT_TRUE(parse_sel({"auto"}).sel.empty());
  EXPECT_DOUBLE_EQ(parse_sel({"auto"}).factor, 1.1);
  EXPECT_DOUBLE_EQ(parse_sel({"auto:1.5"}).factor, 1.5);
  EXPECT_EQ(parse_sel({"46", "92"}).sel, (std::vector<int>{46, 92}));
  for (const char* wrong : {"0", "-4", "auto:0.5", "auto:x", "4.5"})
    EXPECT_THROW(static_cast<void>(parse_sel({wrong})), InputError) << wrong;
  EXPECT_THROW(static_cast<void>(parse_sel({"46", "auto"})), InputError);
}

}  // namespace
}  // namespace quintet::dpmd
