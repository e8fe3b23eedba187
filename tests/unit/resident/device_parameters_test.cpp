#include "surrogates/resident/device_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

/// Arrays on a device (here the host's cores, by the same operators) against FlatParameters.
namespace quintet {
namespace {

/// Sizes are no multiples of any slice.
std::vector<BlockTensors> blocks() {
  return {
      {"a", {{"weight", {1, 7}}}}, {"b", {{"weight", {10, 31}}, {"bias", {10}}}}, {"c", {{"bias", {17}}}}};
}

std::vector<double> start() {
  std::size_t n = 0;
  for (const auto& block : blocks()) n += block.size();
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(static_cast<double>(i));
  return values;
}

template <class Real>
Real gradient_of(int rank, std::int64_t t, int block, std::size_t i) {
  return static_cast<Real>(std::cos(0.1 * static_cast<double>(i) + rank + static_cast<double>(t) + block) *
                           std::pow(10.0, static_cast<double>((i + static_cast<std::size_t>(rank)) % 3) - 1));
}

TorchDevice device(bool sends_directly = true) {
  setenv("QUINTET_GPU_AWARE_MPI", sends_directly ? "1" : "0", 1);
  const TorchDevice made{DeviceSession(Device::portable, Comm::world())};
  unsetenv("QUINTET_GPU_AWARE_MPI");
  return made;
}

ParallelOptions at_stage(int stage) {
  ParallelOptions parallel;
  if (stage > 0) parallel.strategy = ParallelStrategy::sharded;
  parallel.stage = stage;
  return parallel;
}

template <class Real>
FlatParameters<Real> host_of(const OptimiserOptions& optimiser, int stage = 0) {
  return {Comm::world(), blocks(), start(), optimiser, at_stage(stage)};
}

template <class Real>
void step(FlatParameters<Real>& host, std::int64_t t) {
  for (int block = 2; block >= 0; --block) {
    const auto gradient = host.gradient(block);
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient[i] += gradient_of<Real>(Comm::world().rank(), t, block, i);
    host.finish(block);
  }
  host.step(t, 0.01);
}

template <class Real>
void step(DeviceParameters<Real>& there, std::int64_t t) {
  for (int block = 2; block >= 0; --block) {
    const at::Tensor gradient = there.gradient(block);
    auto* const numbers = gradient.data_ptr<Real>();
    for (std::size_t i = 0; i < static_cast<std::size_t>(gradient.numel()); ++i)
      numbers[i] += gradient_of<Real>(Comm::world().rank(), t, block, i);
  }
  there.step(t, 0.01);
}

/// Greatest difference of values and states, on rank 0.
template <class Real>
double difference(const FlatParameters<Real>& a, const FlatParameters<Real>& b) {
  double most = 0;
  const auto compare = [&](const std::vector<Real>& x, const std::vector<Real>& y) {
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      most = std::max(most,
                      std::abs(static_cast<double>(x[i] - y[i])) / (1 + std::abs(static_cast<double>(x[i]))));
  };
  compare(a.all_values(), b.all_values());
  for (int s = 0; s < n_states(a.optimiser()); ++s) compare(a.all_states(s), b.all_states(s));
  return most;
}

std::vector<OptimiserOptions> optimisers_to_test() {
  std::vector<OptimiserOptions> all(5);
  all[1].clip = 0.5;
  all[2].kind = OptimiserKind::adamw;
  all[2].weight_decay = 0.1;
  all[3].kind = OptimiserKind::sgd;
  all[4].kind = OptimiserKind::sgd;
  all[4].momentum = 0.8;
  return all;
}

template <class Real>
class DeviceParametersOf : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceParametersOf, Reals);

TYPED_TEST(DeviceParametersOf, make_the_steps_of_the_host_at_both_stages) {
  const double round_off = std::is_same_v<TypeParam, float> ? 2e-5 : 1e-13;
  for (const auto& optimiser : optimisers_to_test())
    for (const int stage : {0, 1}) {
      auto host = host_of<TypeParam>(optimiser, stage), copy = host_of<TypeParam>(optimiser, stage);
      DeviceParameters<TypeParam> there(Comm::world(), device(), copy, at_stage(stage));
      for (int t = 1; t <= 4; ++t) {
        step(host, t);
        step(there, t);
      }
      const auto begin = copy.all_values();
      there.give(copy);
      if (Comm::world().is_root()) {
        EXPECT_NE(begin, copy.all_values());
      }
      EXPECT_LT(difference(host, copy), round_off)
          << optimiser_row(optimiser.kind).name << " stage " << stage;
    }
}

/// A training that goes on elsewhere, from the arrays that a checkpoint holds.
TYPED_TEST(DeviceParametersOf, go_on_on_the_host_and_back) {
  const double round_off = std::is_same_v<TypeParam, float> ? 2e-5 : 1e-13;
  OptimiserOptions optimiser;
  auto host = host_of<TypeParam>(optimiser), moved = host_of<TypeParam>(optimiser, 1);
  DeviceParameters<TypeParam> first(Comm::world(), device(), moved, at_stage(1));
  for (int t = 1; t <= 6; ++t) step(host, t);
  for (int t = 1; t <= 2; ++t) step(first, t);
  first.give(moved);
  for (int t = 3; t <= 4; ++t) step(moved, t);
  DeviceParameters<TypeParam> second(Comm::world(), device(), moved, at_stage(0));
  for (int t = 5; t <= 6; ++t) step(second, t);
  second.give(moved);
  EXPECT_LT(difference(host, moved), round_off);
  first.take(moved);
  auto same = host_of<TypeParam>(optimiser);
  first.give(same);
  EXPECT_EQ(difference(same, moved), 0);
}

TYPED_TEST(DeviceParametersOf, send_the_same_from_their_memory_and_through_the_host) {
  const auto n = static_cast<std::int64_t>(start().size()), ranks = std::int64_t{Comm::world().size()};
  for (const int stage : {0, 1}) {
    auto direct = host_of<TypeParam>({}, stage), staged = host_of<TypeParam>({}, stage);
    DeviceParameters<TypeParam> a(Comm::world(), device(true), direct, at_stage(stage)),
        b(Comm::world(), device(false), staged, at_stage(stage));
    for (int t = 1; t <= 3; ++t) {
      step(a, t);
      step(b, t);
    }
    EXPECT_EQ(a.bytes_sent(),
              3 * 2 * (ranks - 1) * ((n + ranks - 1) / ranks) * static_cast<std::int64_t>(sizeof(TypeParam)));
    EXPECT_EQ(a.bytes_sent(), b.bytes_sent());
    a.give(direct);
    b.give(staged);
    EXPECT_EQ(difference(direct, staged), 0);
    EXPECT_GT(a.bytes().values, 0U);
    EXPECT_EQ(a.bytes().optimiser,
              (stage == 0 ? 2 : 2.0 / static_cast<double>(ranks)) * static_cast<double>(a.bytes().values));
  }
}

/// Twins of ranks must not drift apart: what each has is the same to the last bit.
TYPED_TEST(DeviceParametersOf, all_ranks_have_the_same_values) {
  const Comm comm = Comm::world();
  for (const int stage : {0, 1}) {
    auto host = host_of<TypeParam>({}, stage);
    DeviceParameters<TypeParam> there(comm, device(), host, at_stage(stage));
    for (int t = 1; t <= 3; ++t) step(there, t);
    const at::Tensor& values = there.values(1);
    const std::vector<TypeParam> own(values.data_ptr<TypeParam>(),
                                     values.data_ptr<TypeParam>() + values.numel());
    auto of_root = own;
    comm.broadcast(std::span<TypeParam>(of_root));
    EXPECT_EQ(own, of_root);
  }
}

TYPED_TEST(DeviceParametersOf, sum_gradients_and_refuse_what_is_no_number) {
  const Comm comm = Comm::world();
  auto host = host_of<TypeParam>({});
  DeviceParameters<TypeParam> there(comm, device(), host, at_stage(0));
  const auto put = [&](int block, TypeParam value) {
    const at::Tensor gradient = there.gradient(block);
    gradient.data_ptr<TypeParam>()[3] = value;
  };
  put(1, TypeParam(comm.rank() + 1));
  const auto total = there.total_gradient();
  EXPECT_EQ(total[7 + 3], comm.size() * (comm.size() + 1) / 2);
  EXPECT_EQ(total[7 + 4], 0);
  there.clear_gradient();
  EXPECT_EQ(there.total_gradient()[7 + 3], 0);
  if (comm.rank() == comm.size() - 1) put(2, std::numeric_limits<TypeParam>::infinity());
  try {
    there.step(5, 0.01);
    FAIL();
  } catch (const NumericalError& error) {
    EXPECT_EQ(std::string(error.what()), bad_gradient_text(5, "c"));
  }
  EXPECT_EQ(there.total_gradient()[7 + 10 + 3], 0);
  there.give(host);
  EXPECT_EQ(difference(host, host_of<TypeParam>({})), 0) << "the values of before";
}

TEST(DeviceParameters, say_what_keeps_arrays_with_the_host) {
  using Parameters = DeviceParameters<float>;
  const FlatLayout layout(blocks(), 1, 0);
  EXPECT_EQ(Parameters::lacks(Comm::world(), layout, at_stage(0), {}, {}), "");
  EXPECT_EQ(Parameters::lacks(Comm::world(), layout, at_stage(1), {}, {}), "");
  EXPECT_EQ(Parameters::lacks(Comm::world(), layout, at_stage(2), {}, {}),
            Comm::world().size() > 1 ? "parallel.stage 2" : "");
  OffloadOptions offload;
  offload.delayed_update.emplace();
  EXPECT_EQ(Parameters::lacks(Comm::world(), layout, at_stage(0), offload, {}), "offload.delayed_update");
  offload.optimiser = OffloadKind::host;
  EXPECT_EQ(Parameters::lacks(Comm::world(), layout, at_stage(0), offload, {}), "offload.optimiser");
  EXPECT_EQ(Parameters::lacks(Comm::world(), layout, at_stage(0), {}, {ParameterPrecision::split_bf16}),
            "precision.parameters split_bf16");
}

}  // namespace
}  // namespace quintet
