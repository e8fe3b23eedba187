#include <new>
#include <stdexcept>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_cholesky.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "surrogates/bridge/errors.hpp"

using namespace quintet;

namespace {

/// The message of the expected kind of error that `action` leads to.
template <class Expected, class Action>
std::string message_of(const Action& action, ExitCode otherwise = ExitCode::internal) {
  try {
    translate_torch_errors("Testing", action, otherwise);
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another kind of error: ") + error.what();
  }
  return "no error";
}

void multiply_what_does_not_fit() { static_cast<void>(at::zeros({2, 3}).matmul(at::zeros({4, 5}))); }

}  // namespace

TEST(TorchErrors, keep_the_text_and_drop_the_backtrace) {
  const auto message = message_of<InternalError>(multiply_what_does_not_fit);

  EXPECT_EQ(message.find("Testing failed: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"), 0U)
      << message;
  EXPECT_EQ(message.find("frame #"), std::string::npos) << message;
}

TEST(TorchErrors, become_the_kind_of_error_that_was_asked_for) {
  EXPECT_NE(message_of<InputError>(multiply_what_does_not_fit, ExitCode::input).find("2x3 and 4x5"),
            std::string::npos);
}

TEST(TorchErrors, out_of_memory_is_a_resource) {
  const auto message = message_of<ResourceError>([] { static_cast<void>(at::empty({1L << 50})); });
  EXPECT_NE(message.find("allocate"), std::string::npos) << message;
  EXPECT_EQ(message_of<ResourceError>([] { throw std::bad_alloc(); }), "Testing failed: out of memory");
  const auto on_a_gpu = message_of<ResourceError>([] {
    throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__},
                                "CUDA out of memory. Tried to allocate 2 GiB.");
  });
  EXPECT_NE(on_a_gpu.find("Tried to allocate 2 GiB"), std::string::npos) << on_a_gpu;
}

TEST(TorchErrors, failed_factorisation_is_numerical) {
  const auto message = message_of<NumericalError>([] {
    static_cast<void>(at::linalg_cholesky(-at::zeros({2, 2})));
  });
  EXPECT_NE(message.find("cholesky"), std::string::npos) << message;
}

TEST(TorchErrors, errors_of_ours_pass_unchanged) {
  EXPECT_EQ(message_of<UsageError>([] { throw UsageError("as it was"); }), "as it was");
}

TEST(TorchErrors, results_pass_as_they_are) {
  int value = 3;
  EXPECT_EQ(&translate_torch_errors("Testing", [&]() -> int& { return value; }), &value);
}
