#include "surrogates/sequence/training/training.hpp"

#include <gtest/gtest.h>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/sequence/training/start_parameters.hpp"
#include "tests/unit/sequence/network_cases.hpp"
#include "tests/unit/sequence/waves.hpp"

namespace quintet::sequence {
namespace {

Architecture small(Head head = Head::lstm) {
  return test::network_of({{NodeKind::lstm, 16}, {NodeKind::lstm, 11}}, {{0, 2}}, head, 2, 2, steps);
}

TrainingOptions options_of_epochs(std::int64_t epochs, Precision precision = Precision::float32) {
  TrainingOptions options;
  options.epochs = epochs;
  options.batch = 16;
  options.learning_rate = 5e-3;
  options.precision = precision;
  return options;
}

double mean_square(const std::vector<double>& outputs, const std::vector<double>& targets) {
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) sum += std::pow(outputs[i] - targets[i], 2);
  return sum / outputs.size();
}

TEST(Training, waves_are_learnt_with_every_head_and_precision) {
  const Waves training(100), validation(30, 100);
  const double variance =
      mean_square(validation.targets, std::vector<double>(validation.targets.size(), 0.0));
  for (const Head head : {Head::lstm, Head::dense, Head::last_state})
    for (const Precision precision : {Precision::float32, Precision::float64, Precision::bf16}) {
      const auto result =
          train(small(head), steps, training.data(), validation.data(), options_of_epochs(150, precision), 1);
      EXPECT_LT(result.best_loss, 0.1 * variance) << static_cast<int>(head);
      EXPECT_EQ(result.stopped, Stopped::all_epochs);
      ASSERT_EQ(result.history.size(), 151u);  // and epoch 0
      // What is kept is the best epoch.
      const auto outputs = predict(small(head), steps, result.parameters, validation.inputs, precision);
      EXPECT_NEAR(mean_square(outputs, validation.targets), result.best_loss, 1e-7 * variance);
      for (const auto& losses : result.history) EXPECT_GE(losses.validation, result.best_loss);
      EXPECT_EQ(result.history[result.best_epoch].validation, result.best_loss);
    }
}

TEST(Training, the_same_seed_gives_the_same_bits_and_another_one_others) {
  const Waves training(50), validation(20, 50);
  const auto parameters = [&](std::uint64_t seed) {
    return train(small(), steps, training.data(), validation.data(), options_of_epochs(3), seed).parameters;
  };
  EXPECT_EQ(parameters(7), parameters(7));
  EXPECT_NE(parameters(7), parameters(8));
}

TEST(Training, a_resumed_training_is_the_uninterrupted_one_to_the_bit) {
  const Waves training(50), validation(20, 50);
  for (const Precision precision : {Precision::float32, Precision::float64, Precision::bf16}) {
    auto options = options_of_epochs(9, precision);
    options.weight_decay = 1e-2;
    const auto whole = train(small(), steps, training.data(), validation.data(), options, 3);
    Trainer first(small(), steps, training.data(), validation.data(), options, 3);
    for (int epoch = 0; epoch < 4; ++epoch) first.advance();
    Trainer second(small(), steps, training.data(), validation.data(), options, 3);
    second.restore(first.state());
    while (second.stopped() == Stopped::not_yet) second.advance();
    const auto resumed = second.result();
    EXPECT_EQ(resumed.parameters, whole.parameters);
    ASSERT_EQ(resumed.history.size(), whole.history.size());
    for (std::size_t i = 1; i < whole.history.size(); ++i) {
      EXPECT_EQ(resumed.history[i].training, whole.history[i].training);
      EXPECT_EQ(resumed.history[i].validation, whole.history[i].validation);
    }
    Trainer other(test::network_of({{}}, {}, Head::lstm, 2, 2, steps), steps, training.data(),
                  validation.data(), options, 3);
    EXPECT_THROW(other.restore(first.state()), InputError);
  }
}

TEST(Training, bf16_learns_what_float_does_and_is_for_our_kernels) {
  const Waves training(100), validation(30, 100);
  const auto loss = [&](Precision precision) {
    return train(small(), steps, training.data(), validation.data(), options_of_epochs(150, precision), 1)
        .best_loss;
  };
  EXPECT_NEAR(loss(Precision::bf16), loss(Precision::float64), 0.2 * loss(Precision::float64));
  auto options = options_of_epochs(1, Precision::bf16);
  options.engine = Engine::torch;
  EXPECT_THROW((void)train(small(), steps, training.data(), {}, options, 1), InputError);
}

TEST(Training, twin_biases_step_twice_as_far_and_nothing_else_does) {
  const Waves training(16);  // one step an epoch
  auto options = options_of_epochs(1, Precision::float64);
  options.keep_best = false;
  const auto graph = graph_of(small());
  const auto start = start_parameters(graph, options.start, false, 1);
  const auto one = train(small(), steps, training.data(), {}, options, 1).parameters;
  options.twin_biases = true;
  const auto two = train(small(), steps, training.data(), {}, options, 1).parameters;
  for (const auto& operation : graph.operations)
    for (std::size_t i = operation.first; i < operation.first + operation.n_parameters; ++i) {
      const bool bias =
          operation.kind == Operation::Kind::lstm &&
          i + 4 * static_cast<std::size_t>(operation.n_out) >= operation.first + operation.n_parameters;
      EXPECT_NEAR(two[i] - start[i], (bias ? 2 : 1) * (one[i] - start[i]), 1e-14) << i;
    }
  EXPECT_NE(one, start);
}

TEST(Training, an_epoch_visits_every_window_once) {
  const Waves training(50);
  auto options = options_of_epochs(1, Precision::float64);
  options.learning_rate = 1e-30;  // the network stays as it is
  const auto result = train(small(), steps, training.data(), {}, options, 3);
  EXPECT_NEAR(result.history.back().training,
              mean_square(predict(small(), steps, result.parameters, training.inputs, Precision::float64),
                          training.targets),
              1e-14);
  EXPECT_TRUE(std::isnan(result.history.back().validation));
}

TEST(Training, patience_and_the_callback_end_it) {
  const Waves training(50), validation(20, 50);
  auto options = options_of_epochs(1000);
  options.patience = 4;
  options.min_improvement = 1e9;  // nothing but the start can be the best
  const auto result = train(small(), steps, training.data(), validation.data(), options, 3);
  EXPECT_EQ(result.stopped, Stopped::patience);
  EXPECT_EQ(result.history.back().epoch, 4);
  EXPECT_EQ(result.best_epoch, 0);
  int called = 0;
  const auto two =
      train(small(), steps, training.data(), validation.data(), options_of_epochs(1000), 3,
            [&](const EpochReport& report) {
              EXPECT_EQ(report.epoch, ++called);
              EXPECT_NEAR(mean_square({report.validation_outputs.begin(), report.validation_outputs.end()},
                                      validation.targets),
                          report.validation, 1e-8);
              return called < 2;
            });
  EXPECT_EQ(two.stopped, Stopped::callback);
  EXPECT_EQ(two.history.size(), 3u);
}

TEST(Training, a_head_of_zeros_gives_zeros_and_learns) {
  const Waves training(100), validation(20, 50);
  for (const Head head : {Head::lstm, Head::dense, Head::last_state}) {
    auto options = options_of_epochs(20);
    options.zero_head = true;
    const auto result = train(small(head), steps, training.data(), validation.data(), options, 3);
    EXPECT_NEAR(result.history.front().validation,
                mean_square(validation.targets, std::vector<double>(validation.targets.size(), 0.0)), 1e-7);
    EXPECT_LT(result.best_loss, 0.7 * result.history.front().validation);
  }
}

TEST(Training, no_epochs_leave_the_start) {
  const Waves training(50), validation(20, 50);
  const auto result =
      train(small(), steps, training.data(), validation.data(), options_of_epochs(0, Precision::float64), 3);
  EXPECT_EQ(result.parameters, start_parameters(graph_of(small()), Start::keras, false, 3));
}

TEST(Training, numbers_that_are_none_are_refused_and_told) {
  Waves training(50), validation(20, 50);
  auto hot = options_of_epochs(50);
  hot.learning_rate = 1e38;
  try {
    (void)train(small(Head::dense), steps, training.data(), validation.data(), hot, 3);
    FAIL() << "a training that blows up went on";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("epoch "), std::string::npos) << error.what();
  }
  validation.targets[2 * steps * 3 + 1] = NAN;
  try {
    (void)train(small(), steps, training.data(), validation.data(), options_of_epochs(1), 3);
    FAIL() << "a NaN was taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("validation window 3: target 1 is nan"), std::string::npos)
        << error.what();
  }
  training.inputs[0] = 1e300;  // beyond float
  EXPECT_THROW((void)train(small(), steps, training.data(), {}, options_of_epochs(1), 3), InputError);
  EXPECT_THROW((void)train(small(), steps, {}, {}, options_of_epochs(1), 3), InputError);
}

TEST(Training, options_are_read_and_what_cannot_be_is_refused) {
  TrainingOptions options;
  parse_options(
      parse_yaml("{epochs: 5, precision: float64, engine: torch, start: pytorch, zero_head: true}", "test"),
      described(options));
  EXPECT_EQ(options.precision, Precision::float64);
  EXPECT_EQ(options.engine, Engine::torch);
  EXPECT_EQ(options.start, Start::pytorch);
  for (const char* bad : {"{epochs: -1}", "{batch: 0}", "{learning_rate: 0}", "{beta1: 1}", "{epsilon: 0}",
                          "{patience: -1}", "{engine: tensorflow}", "{learning_rate: .nan}"})
    EXPECT_THROW(parse_options(parse_yaml(bad, "test"), described(options)), InputError) << bad;
}

TEST(StartParameters, are_those_of_keras) {
  const Architecture architecture = test::network_of({{NodeKind::lstm, 16}}, {}, Head::dense);
  const auto p = start_parameters(graph_of(architecture), Start::keras, false, 5);
  const int n = 16, in = 5;
  const double bound = std::sqrt(6.0 / (in + 4 * n));
  double square = 0;
  for (int i = 0; i < in * 4 * n; ++i) {
    EXPECT_LE(std::abs(p[i]), bound);
    square += p[i] * p[i] / (in * 4 * n);
  }
  EXPECT_NEAR(square, bound * bound / 3, 0.2 * bound * bound / 3);  // 320 numbers: 5 % of deviation
  const double* u = p.data() + in * 4 * n;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double dot = 0;
      for (int k = 0; k < 4 * n; ++k) dot += u[i * 4 * n + k] * u[j * 4 * n + k];
      EXPECT_NEAR(dot, i == j, 1e-14);
    }
  const double* b = u + n * 4 * n;
  for (int j = 0; j < 4 * n; ++j) EXPECT_EQ(b[j], j >= n && j < 2 * n ? 1 : 0);
  const double* w = b + 4 * n;
  for (int i = 0; i < n * 5; ++i) EXPECT_LE(std::abs(w[i]), std::sqrt(6.0 / (n + 5)));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(w[n * 5 + i], 0);
}

TEST(StartParameters, are_those_of_pytorch) {
  const Architecture architecture = test::network_of({{NodeKind::lstm, 16}}, {}, Head::dense);
  const auto p = start_parameters(graph_of(architecture), Start::pytorch, false, 5);
  const std::size_t weights = 4 * 16 * (5 + 16);
  double largest = 0, largest_bias = 0;
  for (std::size_t i = 0; i < weights; ++i) largest = std::max(largest, std::abs(p[i]));
  for (std::size_t i = weights; i < weights + 64; ++i) largest_bias = std::max(largest_bias, std::abs(p[i]));
  EXPECT_LE(largest, 0.25);
  EXPECT_GT(largest, 0.24);
  EXPECT_LE(largest_bias, 0.5);  // of two
  EXPECT_GT(largest_bias, 0.25);
  const auto other = start_parameters(graph_of(architecture), Start::pytorch, false, 6);
  EXPECT_NE(p, other);
}

}  // namespace
}  // namespace quintet::sequence
