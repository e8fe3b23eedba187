#include "surrogates/bridge/device_torch.hpp"

#include <c10/core/AutogradState.h>
#include <gtest/gtest.h>

#include "tests/support/device/test_device.hpp"

namespace quintet {
namespace {

TEST(TorchDevice, gradients_are_formed_by_the_thread_that_asks_for_them) {
  auto& state = c10::AutogradState::get_tls_state();
  const bool before = state.get_multithreading_enabled();
  const TorchDevice cpu{DeviceSession()};
  EXPECT_EQ(state.get_multithreading_enabled(), before) << "no operators of LibTorch there";
  const TorchDevice device{test::device_session()};
  EXPECT_FALSE(state.get_multithreading_enabled());
  state.set_multithreading_enabled(before);
}

}  // namespace
}  // namespace quintet
