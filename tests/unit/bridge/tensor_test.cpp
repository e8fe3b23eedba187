#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/tensor.hpp"

using namespace quintet;

namespace {

using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
template <class DataType, class Layout = LayoutRight>
using HostView = Kokkos::View<DataType, Layout, Kokkos::HostSpace>;

template <class DataType>
auto host_view_of(const at::Tensor& tensor, const std::string& name = "x") {
  return as_view<DataType, Kokkos::HostSpace>(tensor, name);
}

template <class Action>
std::string message_of(const Action& action) {
  try {
    static_cast<void>(action());
  } catch (const InternalError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::int64_t> sizes_of(const at::Tensor& tensor) { return tensor.sizes().vec(); }

}  // namespace

TEST(AsTensor, shares_memory_in_every_number_of_dimensions_and_type) {
  const HostView<double> v0("v0");
  const HostView<float*> v1("v1", 5);
  const HostView<std::int32_t* [3]> v2("v2", 7);
  const HostView<std::int64_t***> v3("v3", 2, 1, 3);
  const HostView<double** [2][3]> v4("v4", 3, 5);

  const auto t0 = as_tensor(v0), t1 = as_tensor(v1), t2 = as_tensor(v2), t3 = as_tensor(v3),
             t4 = as_tensor(v4);

  EXPECT_EQ(t0.data_ptr(), v0.data());
  EXPECT_EQ(t1.data_ptr(), v1.data());
  EXPECT_EQ(t2.data_ptr(), v2.data());
  EXPECT_EQ(t3.data_ptr(), v3.data());
  EXPECT_EQ(t4.data_ptr(), v4.data());
  EXPECT_EQ(sizes_of(t0), (std::vector<std::int64_t>{}));
  EXPECT_EQ(sizes_of(t2), (std::vector<std::int64_t>{7, 3}));
  EXPECT_EQ(sizes_of(t4), (std::vector<std::int64_t>{3, 5, 2, 3}));
  EXPECT_EQ(t0.scalar_type(), at::kDouble);
  EXPECT_EQ(t1.scalar_type(), at::kFloat);
  EXPECT_EQ(t2.scalar_type(), at::kInt);
  EXPECT_EQ(t3.scalar_type(), at::kLong);
}

TEST(AsTensor, writes_are_seen_on_both_sides) {
  const HostView<double**> view("x", 3, 5);
  auto tensor = as_tensor(view);

  view(2, 3) = 7.0;
  tensor[0][1].fill_(-2.0);

  EXPECT_EQ(tensor[2][3].item<double>(), 7.0);
  EXPECT_EQ(view(0, 1), -2.0);
}

TEST(AsTensor, keeps_the_view_alive) {
  at::Tensor part;
  {
    HostView<double*> view("x", 100);
    Kokkos::deep_copy(view, 3.0);
    const auto tensor = as_tensor(view);
    EXPECT_EQ(view.use_count(), 2);
    part = tensor.narrow(0, 10, 5);
  }

  EXPECT_EQ(part.sum().item<double>(), 15.0) << "a slice outlives both the tensor and the View";
}

TEST(AsTensor, lets_go_of_the_view_when_the_last_tensor_dies) {
  const HostView<double*> view("x", 4);
  {
    const auto tensor = as_tensor(view);
    const auto slice = tensor.narrow(0, 0, 2);
    EXPECT_EQ(view.use_count(), 2);
  }
  EXPECT_EQ(view.use_count(), 1);
}

TEST(AsTensor, empty_views_are_empty_tensors) {
  const HostView<float* [3]> view("nobody", 0);

  const auto tensor = as_tensor(view);

  EXPECT_EQ(sizes_of(tensor), (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(host_view_of<float* [3]>(tensor).view.extent(0), 0U);
}

TEST(AsTensor, contiguous_parts_are_accepted) {
  const HostView<double**> view("x", 4, 3);

  const auto rows = as_tensor(Kokkos::subview(view, std::pair(1, 3), Kokkos::ALL()));
  const auto row = as_tensor(Kokkos::subview(view, 2, Kokkos::ALL()));

  EXPECT_EQ(rows.data_ptr(), &view(1, 0));
  EXPECT_EQ(sizes_of(rows), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(row.data_ptr(), &view(2, 0));
}

TEST(AsTensor, column_major_view_is_refused_with_both_strides) {
  const HostView<double**, LayoutLeft> view("momenta", 4, 3);

  const auto message = message_of([&] { return as_tensor(view); });

  EXPECT_EQ(
      message,
      "The View \"momenta\" [4, 3] with strides [1, 4] cannot be a tensor: row-major strides [3, 1] were "
      "expected. Copy it into a LayoutRight View first.");
}

TEST(AsTensor, strided_parts_are_refused) {
  const HostView<double**> view("x", 4, 3);

  EXPECT_NE(message_of([&] {
              return as_tensor(Kokkos::subview(view, Kokkos::ALL(), std::pair(0, 2)));
            }).find("[4, 2] with strides [3, 1]"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              return as_tensor(Kokkos::subview(view, Kokkos::ALL(), 1));
            }).find("[4] with strides [3]"),
            std::string::npos);
}

TEST(AsView, shares_memory_in_every_number_of_dimensions) {
  const auto tensor = at::arange(24, at::kDouble);

  const auto v0 = host_view_of<double>(tensor[5]);
  const auto v1 = host_view_of<double*>(tensor);
  const auto v2 = host_view_of<double* [3]>(tensor.view({8, 3}));
  const auto v3 = host_view_of<double***>(tensor.view({2, 3, 4}));
  const auto v4 = host_view_of<double** [2][3]>(tensor.view({2, 2, 2, 3}));

  EXPECT_EQ(v0.view(), 5.0);
  EXPECT_EQ(v1.view.data(), tensor.data_ptr());
  EXPECT_EQ(v2.view(7, 1), 22.0);
  EXPECT_EQ(v3.view(1, 2, 3), 23.0);
  EXPECT_EQ(v4.view(1, 0, 1, 2), 17.0);
  EXPECT_EQ(v2.view.extent(0), 8U);
}

TEST(AsView, writes_are_seen_on_both_sides) {
  auto tensor = at::zeros({3, 2}, at::kFloat);
  const auto held = host_view_of<float**>(tensor);

  held.view(2, 1) = 4.0f;
  tensor[0][0].fill_(9.0);

  EXPECT_EQ(tensor[2][1].item<float>(), 4.0f);
  EXPECT_EQ(held.view(0, 0), 9.0f);
}

TEST(AsView, keeps_the_tensor_alive) {
  auto tensor = at::ones({1000}, at::kDouble);
  const auto held = host_view_of<const double*>(tensor);
  const auto storage = tensor.storage();  // one user: the storage handle itself
  const auto users = storage.use_count();

  tensor.reset();

  EXPECT_EQ(storage.use_count(), users) << "the tensor is still held";
  EXPECT_EQ(held.view(999), 1.0);
}

TEST(AsView, gradients_of_a_view_are_read_back) {
  const HostView<double* [3]> positions("positions", 4);
  for (int i = 0; i < 12; ++i) positions.data()[i] = 0.5 * i;
  auto input = as_tensor(positions).requires_grad_(true);

  auto energy = input.mul(input).sum();  // gradient: 2 x
  energy.backward();
  const auto gradient = host_view_of<const double* [3]>(input.grad(), "gradient");

  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j) EXPECT_EQ(gradient.view(i, j), 2.0 * positions(i, j));
  }
}

TEST(AsView, tensor_in_a_graph_may_be_read_but_not_written) {
  const auto tensor = at::ones({2}, at::kDouble).requires_grad_(true);

  EXPECT_EQ(host_view_of<const double*>(tensor).view(1), 1.0);
  EXPECT_NE(message_of([&] {
              return host_view_of<double*>(tensor, "energy");
            }).find("\"energy\" Double [2] on the host requires gradients"),
            std::string::npos);
}

TEST(AsView, wrong_shape_and_type_are_refused_with_both_sides) {
  const auto message = [](const at::Tensor& tensor) {
    return message_of([&] { return host_view_of<double* [3]>(tensor, "forces"); });
  };

  EXPECT_EQ(message(at::zeros({5, 4}, at::kDouble)),
            "The tensor \"forces\" is Double [5, 4] on the host: Double [n, 3] on the host was expected.");
  EXPECT_EQ(message(at::zeros({5, 3}, at::kFloat)),
            "The tensor \"forces\" is Float [5, 3] on the host: Double [n, 3] on the host was expected.");
  EXPECT_EQ(message(at::zeros({15}, at::kDouble)),
            "The tensor \"forces\" is Double [15] on the host: Double [n, 3] on the host was expected.");
  EXPECT_EQ(message(at::Tensor()),
            "The tensor \"forces\" is undefined: Double [n, 3] on the host was expected.");
}

TEST(AsView, transposed_tensor_is_refused) {
  const auto message = message_of([] {
    return host_view_of<double**>(at::zeros({3, 2}, at::kDouble).t(), "forces");
  });

  EXPECT_NE(message.find("Double [2, 3] on the host is not contiguous in row-major order"), std::string::npos)
      << message;
  EXPECT_NE(message.find("Double [n, n]"), std::string::npos) << message;
}

TEST(AsView, tensor_elsewhere_is_refused) {
  const auto tensor = at::empty({2}, at::TensorOptions().dtype(at::kDouble).device(at::kMeta));

  const auto message = message_of([&] { return host_view_of<double*>(tensor); });

  EXPECT_NE(message.find("Double [n] on the host was expected"), std::string::npos) << message;
}
