#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "surrogates/sequence/network/network.hpp"
#include "surrogates/sequence/network/torch/torch_network.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/unit/bridge/replay_observer.hpp"
#include "tests/unit/sequence/network_cases.hpp"

// Steps on a device are recorded where their number of windows comes again. Here the operators are called
// again in place of a GPU's graph, on the same tensors.
namespace quintet::sequence {
namespace {

constexpr int steps = 6;

/// Windows, targets and weights are others in each step; n of a batch: all, or this rank's share. Arrays of a
/// training are the host's here, which a GPU cannot read; replays of its graphs are seen by no observer.
void expect_the_kernels_steps(const Architecture& architecture, bool is_resident) {
  Network<double> ours(architecture, steps);
  std::vector<double> values = test::numbers<double>(ours.n_parameters(), 0.3, 0.5),
                      gradient(values.size(), 0), wanted(values.size(), 0);
  const double round_off = quintet::test::bound(1e-12, 1e-11);
  const DeviceSession& device = quintet::test::device_session();
  const auto torch =
      is_resident ? make_torch_network<double>(architecture, steps, device, values.data(), gradient.data())
                  : make_torch_network<double>(architecture, steps, device);
  ReplayObserver observer;
  std::set<const void*> first;
  struct Given {
    int n, batch;
  };
  const std::vector<Given> course{{9, 9}, {9, 9}, {2, 2}, {9, 18}, {9, 11}, {2, 5}, {2, 2}, {9, 9}};
  double phase = 1;
  for (const auto& [n, batch] : course) {
    const auto windows =
        test::numbers<double>(static_cast<std::size_t>(n * steps * architecture.n_inputs), phase);
    const auto targets = test::numbers<double>(std::int64_t{n} * ours.n_outputs(), 2 * phase);
    for (double& value : values) value *= 0.99;
    ours.refresh(values.data());
    torch->refresh(values.data());
    const double expected = ours.loss_and_gradient(windows.data(), targets.data(), n, wanted.data(), batch);
    EXPECT_NEAR(torch->loss_and_gradient(windows.data(), targets.data(), n, gradient.data(), batch), expected,
                round_off);
    for (std::size_t i = 0; i < gradient.size(); ++i) ASSERT_NEAR(gradient[i], wanted[i], round_off) << i;
    const auto places = observer.take_outside();
    if (n == 9 && !places.empty()) {
      if (first.empty()) first = places;
      EXPECT_EQ(places, first) << "a graph reads where it was recorded";
    }
    phase += 1;
  }
  if (!quintet::test::on_gpu()) {
    EXPECT_EQ(observer.n_replays, 4);
    EXPECT_GE(first.size(), 3U);
  }
  EXPECT_EQ(observer.refused, std::vector<std::string>());
  EXPECT_EQ(torch->take_notice(), "");
}

TEST(RecordedNetwork, takes_the_steps_of_our_kernels) {
  for (const auto& architecture : test::some_networks())
    for (const bool is_resident : {true, false}) {
      if (architecture.steps_out > steps || (is_resident && quintet::test::on_gpu())) continue;
      expect_the_kernels_steps(architecture, is_resident);
    }
  expect_the_kernels_steps(test::network_of({{NodeKind::lstm, 8}}, {}, Head::lstm, 5, 5, steps),
                           !quintet::test::on_gpu());
}

}  // namespace
}  // namespace quintet::sequence
