#include "surrogates/bridge/tensor.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::bridge {
namespace {

constexpr std::int64_t forces[] = {-1, 3};

/// What check() says of a tensor that should be [n, 3] in double.
std::string message_of(const at::Tensor& tensor) {
  try {
    check(tensor, {"forces", scalar_type<double>(), forces});
  } catch (const InternalError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST(TensorCheck, takes_row_major_memory_of_any_free_extent) {
  for (const std::int64_t n : {0, 1, 5})
    EXPECT_EQ(message_of(at::zeros({n, 3}, at::kDouble)), "no error") << n;
  EXPECT_EQ(message_of(at::zeros({4, 3}, at::kDouble).narrow(0, 1, 2)), "no error") << "rows of a matrix";
}

TEST(TensorCheck, wrong_shape_and_type_are_refused_with_both_sides) {
  EXPECT_EQ(message_of(at::zeros({5, 4}, at::kDouble)),
            "The tensor \"forces\" is Double [5, 4] on the host: Double [n, 3] on the host was expected.");
  EXPECT_EQ(message_of(at::zeros({5, 3}, at::kFloat)),
            "The tensor \"forces\" is Float [5, 3] on the host: Double [n, 3] on the host was expected.");
  EXPECT_EQ(message_of(at::zeros({15}, at::kDouble)),
            "The tensor \"forces\" is Double [15] on the host: Double [n, 3] on the host was expected.");
  EXPECT_EQ(message_of(at::Tensor()),
            "The tensor \"forces\" is undefined: Double [n, 3] on the host was expected.");
}

TEST(TensorCheck, strided_memory_is_refused) {
  const auto message = message_of(at::zeros({3, 2}, at::kDouble).t());

  EXPECT_NE(message.find("Double [n, 3] on the host is not contiguous in row-major order"), std::string::npos)
      << message;
}

TEST(TensorCheck, tensor_elsewhere_is_refused) {
  const auto tensor = at::empty({2, 3}, at::TensorOptions().dtype(at::kDouble).device(at::kMeta));

  EXPECT_NE(message_of(tensor).find("on the device: Double [n, 3] on the host was expected"),
            std::string::npos)
      << message_of(tensor);
}

}  // namespace quintet::bridge
