#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "surrogates/sequence/training/training.hpp"
#include "tests/verification/sequence/weekly_coefficients.hpp"

/// Plain LSTMs on the real weekly coefficients, trained as the peers train them: what another program
/// (PyTorch,
/// ../shared/anchors/podlstm.md) measured, our training must give as well, within its spread over seeds.
namespace quintet::sequence {
namespace {

constexpr int steps = 8, n_modes = 5, seeds = 3;

/// Windows of weeks w .. w + 15, each mode scaled to [0, 1] over the first `n_scaled` weeks.
struct Part {
  std::vector<double> inputs, targets;
  Part(const std::vector<double>& a, int n_scaled, const std::vector<int>& starts) {
    std::vector<double> least(n_modes, 1e300), most(n_modes, -1e300);
    for (int week = 0; week < n_scaled; ++week)
      for (int m = 0; m < n_modes; ++m) {
        least[m] = std::min(least[m], a[week * n_modes + m]);
        most[m] = std::max(most[m], a[week * n_modes + m]);
      }
    for (const int w : starts)
      for (int t = 0; t < 2 * steps; ++t)
        for (int m = 0; m < n_modes; ++m)
          (t < steps ? inputs : targets)
              .push_back((a[(w + t) * n_modes + m] - least[m]) / (most[m] - least[m]));
  }
  [[nodiscard]] SequenceData data() const {
    return {static_cast<int>(inputs.size()) / (steps * n_modes), inputs, targets};
  }
};

/// R2 of each of the 40 outputs over the windows, their mean.
double r2(const std::vector<double>& outputs, const std::vector<double>& targets) {
  constexpr int n_outputs = steps * n_modes;
  const auto n = static_cast<int>(targets.size()) / n_outputs;
  double sum = 0;
  for (int o = 0; o < n_outputs; ++o) {
    double mean = 0, error = 0, variance = 0;
    for (int b = 0; b < n; ++b) mean += targets[b * n_outputs + o] / n;
    for (int b = 0; b < n; ++b) {
      const double target = targets[b * n_outputs + o];
      error += (target - outputs[b * n_outputs + o]) * (target - outputs[b * n_outputs + o]);
      variance += (target - mean) * (target - mean);
    }
    sum += 1 - error / variance;
  }
  return sum / n_outputs;
}

struct Protocol {
  int n_scaled, n_windows, n_training, test_begin;
};
constexpr Protocol paper{427, 412, 330, 427}, workshop{1127, 1111, 889, 1127};

struct Scores {
  double training = 0, validation = 0, test = 0;
};

/// Means over seeds.
Scores measure(const std::vector<double>& a, const Protocol& protocol, int units, Head head, int epochs) {
  Scores mean;
  for (int seed = 1; seed <= seeds; ++seed) {
    std::vector<int> starts(protocol.n_windows), test;
    std::iota(starts.begin(), starts.end(), 0);
    std::shuffle(starts.begin(), starts.end(), std::mt19937(seed));
    for (int w = protocol.test_begin; w + 2 * steps <= static_cast<int>(a.size()) / n_modes; ++w)
      test.push_back(w);
    const Part training(a, protocol.n_scaled, {starts.begin(), starts.begin() + protocol.n_training});
    const Part validation(a, protocol.n_scaled, {starts.begin() + protocol.n_training, starts.end()});
    const Part tested(a, protocol.n_scaled, test);
    Architecture architecture{n_modes, {{NodeKind::lstm, units}}, {}, head, n_modes, steps};
    TrainingOptions options;
    options.epochs = epochs;
    options.keep_best = false;
    options.start = Start::pytorch;
    const auto result = train(architecture, steps, training.data(), validation.data(), options, seed);
    const auto score = [&](const Part& part) {
      return r2(predict(architecture, steps, result.parameters, part.inputs), part.targets) / seeds;
    };
    mean.training += score(training);
    mean.validation += score(validation);
    mean.test += score(tested);
  }
  fmt::print("LSTM-{} + {}, {} epochs: R2 {:.3f} training, {:.3f} validation, {:.3f} test\n", units,
             head == Head::lstm ? "LSTM(5)" : "dense", epochs, mean.training, mean.validation, mean.test);
  return mean;
}

class PeerTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto read = weekly_coefficients();
    if (!read) GTEST_SKIP() << "../shared/data/ocean is not here";
    a_ = read->values;
  }
  std::vector<double> a_;
};

TEST_F(PeerTraining, lstm_128_with_a_dense_head_scores_as_the_workshops) {
  const Scores s = measure(a_, workshop, 128, Head::dense, 20);
  EXPECT_NEAR(s.training, 0.765, 0.03);
  EXPECT_NEAR(s.validation, 0.756, 0.03);
  EXPECT_NEAR(s.test, 0.671, 0.05);
}

TEST_F(PeerTraining, lstm_80_with_an_lstm_head_scores_as_the_papers) {
  const Scores few = measure(a_, paper, 80, Head::lstm, 20), many = measure(a_, paper, 80, Head::lstm, 100);
  EXPECT_NEAR(many.training, 0.84, 0.03);
  EXPECT_NEAR(many.validation, 0.83, 0.05);  // 82 windows
  EXPECT_NEAR(many.test, 0.67, 0.05);
  // After 20 epochs it still climbs, and seeds differ: PyTorch with one bias a gate as here gives 0.20, -0.05
  // and 0.13 (with two, whose sum learns twice as fast, 0.27, 0.05 and 0.22).
  EXPECT_NEAR(few.training, 0.09, 0.15);
}

TEST_F(PeerTraining, lstm_80_with_a_dense_head_scores_as_the_papers) {
  const Scores s = measure(a_, paper, 80, Head::dense, 100);
  EXPECT_NEAR(s.training, 0.88, 0.03);
  EXPECT_NEAR(s.validation, 0.87, 0.05);
  EXPECT_NEAR(s.test, 0.73, 0.05);
}

}  // namespace
}  // namespace quintet::sequence
