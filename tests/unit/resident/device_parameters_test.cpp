#include "surrogates/resident/device_parameters.hpp"
#include "surrogates/bridge/operators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/bridge/torch_memory.hpp"
#include "surrogates/training/flat_parameters.hpp"
#include "surrogates/training/resident_arrays.hpp"
#include "tests/support/address_sanitizer.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/support/disk_scratch.hpp"

/// FlatParameters whose arrays are on the device of tests against those of the host.
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
  return std::cos(0.1 * i + rank + t + block) * std::pow(10.0, static_cast<double>((i + rank) % 3) - 1);
}

/// By a session of its own, beside that of all tests, which keeps the device.
TorchDevice device(bool sends_directly = true) {
  setenv("QUINTET_GPU_AWARE_MPI", test::may_send(sends_directly) ? "1" : "0", 1);
  const TorchDevice made{DeviceSession(test::device_session().device(), Comm::world())};
  unsetenv("QUINTET_GPU_AWARE_MPI");
  return made;
}

/// Numbers of a block where networks read them, as a tensor: the host cannot read those of a GPU.
template <class Real>
at::Tensor tensor_of(const FlatParameters<Real>& parameters, std::span<const Real> numbers) {
  const auto place =
      parameters.is_resident() ? TorchDevice(test::device_session()).place() : c10::Device(at::kCPU);
  return at::from_blob(const_cast<Real*>(numbers.data()), {std::ssize(numbers)},
                       at::TensorOptions(bridge::scalar_type<Real>()).device(place));
}

/// Adds to a block's gradient as networks do: by LibTorch.
template <class Real>
void add(FlatParameters<Real>& parameters, int block, std::vector<Real> numbers) {
  const std::span<Real> to = parameters.gradient(block);
  ASSERT_EQ(to.size(), numbers.size());
  const at::Tensor there = tensor_of(parameters, std::span<const Real>(to));
  there.add_(at::from_blob(numbers.data(), there.sizes(), there.scalar_type()).to(there.device()));
}

template <class Real>
std::vector<Real> values_in_pass(const FlatParameters<Real>& parameters, int block) {
  const at::Tensor here =
      tensor_of(parameters, std::span<const Real>(parameters.values(block))).to(at::kCPU).contiguous();
  const auto* const first = here.template const_data_ptr<Real>();
  return {first, first + here.numel()};
}

/// Units are blocks; at stage 3, of the host, ranks share nothing.
ParallelOptions at_stage(int stage, Progress progress = Progress::blocks) {
  ParallelOptions parallel;
  if (stage > 0) parallel.strategy = ParallelStrategy::sharded;
  parallel.stage = stage;
  parallel.bucket = 0;
  parallel.progress = progress;
  if (stage == 3) parallel.holder = Holder::rank;
  return parallel;
}
constexpr int all_stages[] = {0, 1, 2, 3};

template <class Real>
FlatParameters<Real> host_of(const OptimiserOptions& optimiser, int stage = 0) {
  return {Comm::world(), blocks(), start(), optimiser, at_stage(stage)};
}
template <class Real>
FlatParameters<Real> there_of(const OptimiserOptions& optimiser, int stage = 0, bool sends_directly = true,
                              Progress progress = Progress::blocks, const OffloadOptions& offload = {}) {
  return {Comm::world(),
          blocks(),
          start(),
          optimiser,
          at_stage(stage, progress),
          offload,
          PrecisionOptions{},
          device_parameters<Real>(device(sends_directly))};
}

/// The gradient depends on the values that a block has in a pass.
template <class Real>
void form_gradient(FlatParameters<Real>& parameters, std::int64_t t) {
  std::vector<std::vector<Real>> forward;
  for (int block = 0; block < 3; ++block) {
    parameters.enter(block, PassWay::forward);
    forward.push_back(values_in_pass(parameters, block));
  }
  parameters.leave();
  for (int block = 2; block >= 0; --block) {
    parameters.enter(block, PassWay::backward);
    auto numbers = values_in_pass(parameters, block);
    EXPECT_EQ(numbers, forward[block]);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = gradient_of<Real>(Comm::world().rank(), t, block, i) + Real(0.1) * numbers[i];
    add(parameters, block, std::move(numbers));
    parameters.finish(block);
  }
  parameters.leave();
}

template <class Real>
void step(FlatParameters<Real>& parameters, std::int64_t t) {
  form_gradient(parameters, t);
  parameters.step(t, 0.01);
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

template <class Real>
double round_off() {
  return std::is_same_v<Real, float> ? 2e-5 : test::bound(1e-13, 1e-12);
}

TYPED_TEST(DeviceParametersOf, make_the_steps_of_the_host_at_all_stages) {
  for (const auto& optimiser : optimisers_to_test())
    for (const int stage : all_stages) {
      auto host = host_of<TypeParam>(optimiser, stage), there = there_of<TypeParam>(optimiser, stage);
      EXPECT_TRUE(there.is_resident());
      EXPECT_EQ(difference(host, there), 0) << "at first";
      const auto begin = there.all_values();
      for (int t = 1; t <= 4; ++t) {
        step(host, t);
        step(there, t);
      }
      const auto end = there.all_values();
      if (Comm::world().is_root()) {
        EXPECT_NE(begin, end);
      }
      EXPECT_LT(difference(host, there), round_off<TypeParam>())
          << optimiser_row(optimiser.kind).name << " stage " << stage;
    }
}

/// Two equal numbers of which the sum is kept; they lie across the slices of ranks.
TYPED_TEST(DeviceParametersOf, count_the_updates_of_twins_twice) {
  OptimiserOptions optimiser;
  optimiser.kind = OptimiserKind::adamw;
  optimiser.weight_decay = 0.1;
  for (const int stage : all_stages) {
    auto host = host_of<TypeParam>(optimiser, stage), there = there_of<TypeParam>(optimiser, stage),
         plain = there_of<TypeParam>(optimiser, stage);
    host.count_twice({{5, 150}, {320, 4}});
    there.count_twice({{5, 150}, {320, 4}});
    for (int t = 1; t <= 3; ++t) {
      step(host, t);
      step(there, t);
      step(plain, t);
    }
    EXPECT_LT(difference(host, there), round_off<TypeParam>()) << stage;
    const double moved = difference(plain, there);
    if (Comm::world().is_root()) {
      EXPECT_GT(moved, 1e-3);
    }
  }
}

/// A training that goes on elsewhere, from the arrays that a checkpoint holds.
TYPED_TEST(DeviceParametersOf, go_on_on_the_host_and_back) {
  const Comm comm = Comm::world();
  const OptimiserOptions optimiser;
  const auto pass_on = [&](const FlatParameters<TypeParam>& from, FlatParameters<TypeParam>& to) {
    const auto same = [&](std::vector<TypeParam> numbers) {
      numbers.resize(to.size());
      comm.broadcast(std::span<TypeParam>(numbers));
      return numbers;
    };
    for (int s = 0; s < n_states(optimiser); ++s) to.assign_state(s, same(from.all_states(s)));
    to.assign_values(same(from.all_values()));
    EXPECT_EQ(difference(from, to), 0);
  };
  auto host = host_of<TypeParam>(optimiser);
  for (int t = 1; t <= 12; ++t) step(host, t);
  OffloadOptions on_host;
  on_host.optimiser = OffloadKind::host;
  std::int64_t t = 0;
  const auto two_steps = [&](FlatParameters<TypeParam>& parameters) {
    for (int i = 0; i < 2; ++i) step(parameters, ++t);
  };
  const auto go_on = [&](const FlatParameters<TypeParam>& before, FlatParameters<TypeParam>& parameters) {
    pass_on(before, parameters);
    two_steps(parameters);
  };
  auto first = there_of<TypeParam>(optimiser, 2), second = host_of<TypeParam>(optimiser, 1),
       third = there_of<TypeParam>(optimiser, 3),
       fourth = there_of<TypeParam>(optimiser, 1, true, Progress::none, on_host),
       fifth = host_of<TypeParam>(optimiser, 3), sixth = there_of<TypeParam>(optimiser, 0);
  two_steps(first);
  go_on(first, second);
  go_on(second, third);
  go_on(third, fourth);
  go_on(fourth, fifth);
  go_on(fifth, sixth);
  EXPECT_LT(difference(host, sixth), round_off<TypeParam>());
}

TYPED_TEST(DeviceParametersOf, send_the_same_from_their_memory_and_through_the_host) {
  const std::int64_t n = start().size(), ranks = std::int64_t{Comm::world().size()};
  if (ranks > 1 && !test::may_send(true)) GTEST_SKIP() << "this MPI reads no memory of a GPU";
  const std::int64_t width = sizeof(TypeParam);
  for (const int stage : all_stages)
    for (const Progress progress : {Progress::blocks, Progress::none}) {
      auto direct = there_of<TypeParam>({}, stage, true, progress),
           staged = there_of<TypeParam>({}, stage, false, progress);
      const bool divides = stage > 1 && ranks > 1;
      const std::int64_t slices = direct.layout().slices();
      const std::int64_t slice = divides ? slices : (n + ranks - 1) / ranks;
      const std::int64_t begin = direct.account().bytes_copied, staged_begin = staged.account().bytes_copied;
      for (int t = 1; t <= 3; ++t) {
        step(direct, t);
        step(staged, t);
      }
      // Sums, and values once; at stage 3 in both passes.
      const std::int64_t gathers = stage == 3 && ranks > 1 ? 2 : 1;
      EXPECT_EQ(direct.account().bytes_sent, 3 * (1 + gathers) * (ranks - 1) * slice * width) << stage;
      EXPECT_EQ(direct.account().bytes_sent, staged.account().bytes_sent);
      EXPECT_EQ(direct.account().bytes_copied, begin) << "nothing passes through the host's memory";
      // Gradients out and sums of a slice back, then one slice out and all back.
      EXPECT_EQ(staged.account().bytes_copied - staged_begin,
                ranks == 1 ? 0 : 3 * (ranks + 1 + gathers * (1 + ranks)) * slice * width)
          << stage;
      EXPECT_EQ(difference(direct, staged), 0);
    }
}

/// What travels while blocks compute and what waits between them are the same numbers.
TYPED_TEST(DeviceParametersOf, make_the_same_steps_with_messages_on_their_way_and_without) {
  for (const int stage : {2, 3}) {
    auto ahead = there_of<TypeParam>({}, stage, true, Progress::blocks),
         waiting = there_of<TypeParam>({}, stage, true, Progress::none);
    for (int t = 1; t <= 4; ++t) {
      step(ahead, t);
      step(waiting, t);
    }
    EXPECT_EQ(difference(ahead, waiting), 0) << stage;
  }
}

/// On a device a holder is a rank, so that stage 3 needs no `holder: rank`.
TEST(DeviceParameters, divide_values_of_ranks_of_one_node) {
  auto parallel = at_stage(3);
  parallel.holder = Holder::node;
  const FlatParameters<double> there(Comm::world(), blocks(), start(), {}, parallel, {}, {},
                                     device_parameters<double>(device()));
  EXPECT_TRUE(there.is_resident());
  EXPECT_EQ(difference(there, there_of<double>({})), 0);
}

/// Of one rank alone no gradient, value or state leaves the device in a step.
TYPED_TEST(DeviceParametersOf, travel_when_they_are_read_alone) {
  auto there = there_of<TypeParam>({});
  const std::int64_t bytes = there.size() * sizeof(TypeParam);
  const std::int64_t begin = there.account().bytes_copied;
  EXPECT_EQ(begin, bytes) << "values to start from";
  for (int t = 1; t <= 3; ++t) step(there, t);
  EXPECT_EQ(there.account().bytes_copied, begin);
  const bool is_root = Comm::world().is_root();
  static_cast<void>(there.all_values());
  EXPECT_EQ(there.account().bytes_copied, begin + (is_root ? bytes : 0));
  const std::int64_t block = there.copied_values(1).size() * sizeof(TypeParam);
  EXPECT_GT(block, 0);
  EXPECT_EQ(there.account().bytes_copied, begin + (is_root ? bytes : 0) + block);
}

std::vector<UnitSize> unit_sizes() {
  std::vector<UnitSize> units;
  for (const auto& block : blocks()) units.emplace_back(static_cast<double>(block.size()));
  return units;
}

/// The host has none of them, and what is told before they are made is what they take.
TYPED_TEST(DeviceParametersOf, take_the_bytes_that_are_told_and_none_beside) {
  const int ranks = Comm::world().size();
  OffloadOptions on_host;
  on_host.optimiser = OffloadKind::host;
  for (const auto& optimiser : optimisers_to_test())
    for (const int stage : all_stages)
      for (const bool sends_directly : {true, false})
        for (const Progress progress : {Progress::blocks, Progress::none})
          for (const auto& offload : {OffloadOptions{}, on_host}) {
            const PlannedArrays planned{unit_sizes(), sizeof(TypeParam),         optimiser,
                                        ranks,        at_stage(stage, progress), offload};
            const auto needs = resident_needs(planned, test::may_send(sends_directly));
            Ledger ledger;
            const TorchMemory memory(ledger);
            const auto there = there_of<TypeParam>(optimiser, stage, sends_directly, progress, offload);
            const auto account = there.account();
            EXPECT_EQ(account.held.total(), needs.device.total()) << stage;
            EXPECT_EQ(account.held.optimiser, needs.device.optimiser);
            const std::size_t of_host = (test::on_gpu() ? 0 : needs.device.total()) + needs.host.total();
            EXPECT_EQ(account.host_bytes, of_host);
            if (!test::on_gpu()) {  // pinned memory is none of its
              EXPECT_EQ(static_cast<std::size_t>(memory.held()), of_host - needs.host.optimiser)
                  << "as LibTorch's allocator counts";
            }
            EXPECT_EQ(account.ledger.peak(Tier::host), account.host_bytes) << "no array of FlatParameters";
          }
}

/// States on the host or in a file, everything else on the device.
TYPED_TEST(DeviceParametersOf, make_the_same_steps_with_states_that_are_offloaded) {
  const test::DiskScratch scratch("resident_states");
  for (const auto& optimiser : optimisers_to_test())
    for (const int stage : all_stages)
      for (const OffloadKind kind : {OffloadKind::host, OffloadKind::file}) {
        if (kind == OffloadKind::file && optimiser.clip == 0) continue;  // disks are slow; one will do
        OffloadOptions offload;
        offload.optimiser = kind;
        if (kind == OffloadKind::file) offload.path = scratch.path();
        auto host = host_of<TypeParam>(optimiser, stage),
             there = there_of<TypeParam>(optimiser, stage, true, Progress::blocks, offload);
        EXPECT_TRUE(there.is_resident());
        EXPECT_EQ(there.account().held.optimiser, 0);
        host.count_twice({{5, 150}, {320, 4}});
        there.count_twice({{5, 150}, {320, 4}});
        for (int t = 1; t <= 4; ++t) {
          step(host, t);
          step(there, t);
        }
        EXPECT_LT(difference(host, there), round_off<TypeParam>()) << stage;
        if (kind == OffloadKind::file && n_states(optimiser) > 0) {
          EXPECT_GT(there.account().offload.writes.bytes, 0);
        }
      }
}

/// As the system counts them, of arrays that are large beside all else.
TEST(DeviceParameters, take_no_memory_on_the_host_beside_the_devices) {
  if (QUINTET_ADDRESS_SANITIZER) GTEST_SKIP() << "the sanitizer's own memory comes on top";
  const std::size_t n = 4'000'000;
  const std::vector<double> begin(n, 0.5);
  const auto growth = [&](const ResidentMaker<float>& maker) {
    const double before = resident_memory_mb();
    FlatParameters<float> parameters(Comm::self(), one_block("a", n), begin, {}, {}, {}, {}, maker);
    parameters.clear_gradient();
    return resident_memory_mb() - before;
  };
  const auto maker = device_parameters<float>(device());
  static_cast<void>(there_of<float>({}));  // what LibTorch makes once
  const double arrays = 4 * sizeof(float) * 1e-6 * n;
  EXPECT_NEAR(growth(maker), test::on_gpu() ? 0 : arrays, 0.2 * arrays);
  EXPECT_GT(growth({}), 0.8 * arrays) << "the host's are seen as well";
}

/// Twins of ranks must not drift apart: what each has is the same to the last bit.
TYPED_TEST(DeviceParametersOf, all_ranks_have_the_same_values) {
  for (const int stage : all_stages) {
    auto there = there_of<TypeParam>({}, stage);
    for (int t = 1; t <= 3; ++t) step(there, t);
    there.enter(1, PassWay::forward);
    const auto own = there.copied_values(1);
    auto of_root = own;
    Comm::world().broadcast(std::span<TypeParam>(of_root));
    EXPECT_EQ(own, of_root);
  }
}

template <class Real>
void add_one(FlatParameters<Real>& parameters, int block, std::size_t i, Real number) {
  std::vector<Real> numbers(blocks()[block].size());
  numbers[i] = number;
  add(parameters, block, std::move(numbers));
}

TYPED_TEST(DeviceParametersOf, sum_gradients_and_refuse_what_is_no_number) {
  const Comm comm = Comm::world();
  for (const int stage : all_stages) {
    auto there = there_of<TypeParam>({}, stage);
    const auto form = [&](int in, TypeParam what, bool here) {
      for (int block = 2; block >= 0; --block) {
        if (here && block == in) add_one(there, block, 3, what);
        there.finish(block);
      }
    };
    form(1, TypeParam(comm.rank() + 1), true);
    const auto total = there.total_gradient();
    EXPECT_EQ(total[7 + 3], comm.size() * (comm.size() + 1) / 2);
    EXPECT_EQ(total[7 + 4], 0);
    there.clear_gradient();
    EXPECT_EQ(there.total_gradient()[7 + 3], 0);
    using Limits = std::numeric_limits<TypeParam>;
    for (const TypeParam bad : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
      form(2, bad, comm.rank() == comm.size() - 1);
      try {
        there.step(5, 0.01);
        FAIL();
      } catch (const NumericalError& error) {
        EXPECT_EQ(std::string(error.what()), bad_gradient_text(5, "c"));
      }
      EXPECT_EQ(there.total_gradient()[7 + 320 + 3], 0);
    }
    EXPECT_EQ(difference(there, host_of<TypeParam>({})), 0) << "the values of before";
  }
}

TEST(DeviceParameters, stay_with_the_host_where_the_options_ask_for_what_is_its_alone) {
  const auto kept = [](int stage, const OffloadOptions& offload, PrecisionOptions precision = {}) {
    const FlatParameters<float> parameters(Comm::world(), blocks(), start(), {}, at_stage(stage), offload,
                                           precision, device_parameters<float>(device()));
    const auto account = parameters.account();
    EXPECT_EQ(account.is_resident, account.residence.starts_with("on the device"));
    EXPECT_EQ(account.is_resident, parameters.is_resident());
    return account.residence.substr(0, account.residence.find(';'));
  };
  EXPECT_EQ(kept(0, {}), "on the device");
  EXPECT_EQ(kept(1, {}), "on the device");
  EXPECT_EQ(kept(2, {}), "on the device");
  EXPECT_EQ(kept(3, {}), "on the device");
  OffloadOptions offload;
  offload.delayed_update.emplace();
  EXPECT_EQ(kept(0, offload), "on the host, for offload.delayed_update");
  offload.delayed_update.reset();
  offload.optimiser = OffloadKind::host;
  EXPECT_EQ(kept(0, offload), "on the device but for states, which are offloaded");
  EXPECT_EQ(kept(0, {}, {ParameterPrecision::split_bf16}),
            "on the host, for precision.parameters split_bf16");
  EXPECT_EQ(host_of<float>({}).account().residence, "");
}

}  // namespace
}  // namespace quintet
