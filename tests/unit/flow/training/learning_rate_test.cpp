#include "surrogates/flow/training/learning_rate.hpp"

#include <gtest/gtest.h>

namespace quintet::flow {
namespace {

TEST(LearningRate, follows_its_schedule) {
  FlowRateOptions options;
  options.schedule = RateKind::exponential;
  options.start = 0.1;
  options.factor = 0.5;
  options.interval = 10;
  EXPECT_DOUBLE_EQ(LearningRate(options).rate(20), 0.025);
  options.least = 0.05;
  EXPECT_DOUBLE_EQ(LearningRate(options).rate(20), 0.05);
  options.schedule = RateKind::plateau;
  options.patience = 2;
  LearningRate plateau(options);
  for (const double loss : {1., 0.5, 0.6, 0.6}) plateau.observe(loss);
  EXPECT_DOUBLE_EQ(plateau.rate(0), 0.1);
  LearningRate restored(options);
  restored.restore(plateau.state());
  for (auto* one : {&plateau, &restored}) {
    one->observe(0.6);
    EXPECT_DOUBLE_EQ(one->rate(0), 0.05);
  }
}

}  // namespace
}  // namespace quintet::flow
