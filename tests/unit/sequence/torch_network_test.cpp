#include "surrogates/sequence/network/torch/torch_network.hpp"

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/sequence/network/network.hpp"
#include "surrogates/sequence/training/training.hpp"
#include "tests/unit/sequence/network_cases.hpp"

/// Our kernels beside LibTorch's operators and automatic differentiation.
namespace quintet::sequence {
namespace {

using test::numbers;

constexpr int steps = 8, n = 70;

TEST(TorchNetwork, agrees_to_1e_10_in_double_outputs_and_gradients) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  auto networks = test::some_networks();
  networks.push_back(test::network_of({{NodeKind::lstm, 80}}, {}, Head::lstm));  // the default size
  for (const Architecture& architecture : networks) {
    Network<double> ours(architecture, steps);
    const auto torch = make_torch_network<double>(architecture, steps);
    const auto parameters = numbers<double>(ours.n_parameters(), 0.3, 0.5);
    const auto windows = numbers<double>(std::int64_t{n} * steps * architecture.n_inputs, 1.0);
    const auto targets = numbers<double>(std::int64_t{n} * ours.n_outputs(), 2.0);
    std::vector<double> outputs(targets.size()), wanted(targets.size());
    ours.refresh(parameters.data());
    torch->refresh(parameters.data());
    ours.forward(windows.data(), n, outputs.data());
    torch->forward(windows.data(), n, wanted.data());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      ASSERT_NEAR(outputs[i], wanted[i], 1e-10) << summary(architecture);
    std::vector<double> gradient(parameters.size(), 0), wanted_gradient(parameters.size(), 0);
    const double loss = ours.loss_and_gradient(windows.data(), targets.data(), n, gradient.data());
    ASSERT_NEAR(loss, torch->loss_and_gradient(windows.data(), targets.data(), n, wanted_gradient.data()),
                1e-10);
    for (std::size_t i = 0; i < gradient.size(); ++i)
      ASSERT_NEAR(gradient[i], wanted_gradient[i], 1e-10) << summary(architecture) << ", parameter " << i;
  }
}

TEST(TorchNetwork, agrees_to_1e_6_over_an_epoch_in_double) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  for (const auto& nodes : {std::vector<Node>{{}}, {{}, {}}}) {
    const auto architecture = test::network_of(nodes, {}, Head::lstm);
    const auto inputs = numbers<double>(330 * steps * 5, 1.0),
               targets = numbers<double>(330 * steps * 5, 2.0);
    TrainingOptions options;
    options.epochs = 1;
    options.keep_best = false;
    options.precision = Precision::float64;
    const SequenceData data{330, inputs, targets};
    const auto ours = train(architecture, steps, data, {}, options, 4);
    options.engine = Engine::torch;
    const auto torch = train(architecture, steps, data, {}, options, 4);
    EXPECT_EQ(ours.engine, Engine::kernels);
    EXPECT_EQ(torch.engine, Engine::torch);
    EXPECT_NEAR(ours.best_loss, torch.best_loss, 1e-6);
    double moved = 0;
    for (std::size_t i = 0; i < ours.parameters.size(); ++i)
      ASSERT_NEAR(ours.parameters[i], torch.parameters[i], 1e-6) << "parameter " << i;
    options.epochs = 0;
    const auto start = train(architecture, steps, data, {}, options, 4);
    for (std::size_t i = 0; i < start.parameters.size(); ++i)
      moved = std::max(moved, std::abs(start.parameters[i] - torch.parameters[i]));
    EXPECT_GT(moved, 1e-3);  // Adam's steps: what agrees to 1e-6 has moved a thousand times as far
  }
}

TEST(TorchNetwork, is_refused_where_there_is_no_libtorch) {
  if (has_torch()) GTEST_SKIP() << "built with LibTorch";
  EXPECT_THROW((void)make_torch_network<double>(test::network_of({{}}, {}, Head::lstm), steps), InputError);
}

}  // namespace
}  // namespace quintet::sequence
