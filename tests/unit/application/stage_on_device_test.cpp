#include "apps/application/training/stage_on_device.hpp"

#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"

/// The stage of a training by where its arrays are to lie. A GPU is imitated: a library that has 1 GB free;
/// what ranks may take is given, and what they take is counted, not allocated.
namespace quintet {
namespace {

constexpr double n_parameters = 16 * 6 * 1e6, number = 4;

struct Gpu {
  Gpu() { setenv("QUINTET_DEVICE_LIBRARY", LIBRARY_whole, 1); }
  ~Gpu() { unsetenv("QUINTET_DEVICE_LIBRARY"); }
};

ParallelOptions automatic() {
  ParallelOptions parallel;
  parallel.strategy = ParallelStrategy::automatic;
  return parallel;
}

/// Float and Adam, in `units` equal units.
StageNeeds needs_of(const DeviceSession& session, const ParallelOptions& parallel, int units = 4,
                    const OffloadOptions& offload = {}, const PrecisionOptions& precision = {}) {
  const std::vector<UnitSize> sizes(units, UnitSize(n_parameters / units));
  const OptimiserOptions adam;
  StageNeeds needs{division_of(parallel, offload, sizes, sizeof(float), n_states(adam)), 1e6, "fewer crops"};
  needs.there = {
      session, {sizes, sizeof(float), adam, Comm::world().size(), parallel, offload, precision}, 2e6};
  return needs;
}

ParallelInForce chosen(const StageNeeds& needs, const ParallelOptions& parallel,
                       const std::optional<RankMemory>& may_take) {
  return stage_in_force(
      Comm::world(), parallel, [&] { return needs; }, may_take);
}

std::string refusal(const StageNeeds& needs, const ParallelOptions& parallel,
                    const std::optional<RankMemory>& may_take) {
  try {
    static_cast<void>(chosen(needs, parallel, may_take));
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "not refused";
}

/// Values, gradient and two states of each parameter are on the GPU, nothing of them on the host.
TEST(StageOnDevice, counts_arrays_where_they_lie) {
  const Gpu gpu;
  setenv("QUINTET_GPU_AWARE_MPI", "1", 1);
  const DeviceSession session(Device::gpu, Comm::world());
  unsetenv("QUINTET_GPU_AWARE_MPI");
  const auto needs = needs_of(session, automatic());
  const auto bytes = bytes_on_device(needs, 0);
  const int ranks = Comm::world().size();
  EXPECT_EQ(bytes.host, 1e6);
  EXPECT_EQ(bytes.device, 2e6 + number * n_parameters * (4 + (ranks - 1.0) / ranks));
  const DeviceSession cores(Device::portable, Comm::world());
  const auto on_cores = bytes_on_device(needs_of(cores, automatic()), 0);
  EXPECT_EQ(on_cores.device, 0);
  EXPECT_GE(on_cores.host, 3e6 + number * n_parameters * 4);
}

/// What is divided more takes less.
TEST(StageOnDevice, takes_less_from_stage_to_stage) {
  if (Comm::world().size() == 1) GTEST_SKIP() << "one rank divides nothing";
  const Gpu gpu;
  const DeviceSession session(Device::gpu, Comm::world());
  const auto needs = needs_of(session, automatic(), 16);
  for (int stage = 1; stage <= 3; ++stage)
    EXPECT_LT(bytes_on_device(needs, stage).device, bytes_on_device(needs, stage - 1).device) << stage;
}

TEST(StageOnDevice, auto_takes_the_least_stage_that_the_gpu_holds) {
  const Gpu gpu;
  const DeviceSession session(Device::gpu, Comm::world());
  const auto needs = needs_of(session, automatic(), 16);
  const double unlimited = std::numeric_limits<double>::infinity();
  EXPECT_EQ(chosen(needs, automatic(), RankMemory{1e12, 1e12}).options.zero_stage(), 0);
  if (Comm::world().size() == 1) return;
  for (int stage = 0; stage <= 3; ++stage) {
    const auto taken = bytes_on_device(needs, stage);
    const auto choice = chosen(needs, automatic(), RankMemory{unlimited, taken.device});
    EXPECT_EQ(choice.options.zero_stage(), stage);
    EXPECT_NE(choice.reason.find("on the GPU and"), std::string::npos) << choice.reason;
  }
  const auto last = bytes_on_device(needs, 3);
  const std::string why = refusal(needs, automatic(), RankMemory{unlimited, last.device - 1});
  EXPECT_TRUE(why.starts_with("parallel.strategy: auto finds no stage that fits: data takes")) << why;
  EXPECT_NE(why.find("It fits with parallel.strategy: "), std::string::npos) << why;
  EXPECT_NE(why.find(", offload.optimiser: host."), std::string::npos) << why;
}

/// A budget of the host's memory counts as on the cores.
TEST(StageOnDevice, auto_keeps_to_the_budget_of_offloaded_states) {
  const Gpu gpu;
  const DeviceSession session(Device::gpu, Comm::world());
  OffloadOptions offload;
  offload.optimiser = OffloadKind::host;
  offload.budget.host = 1e-6 * 2 * number * n_parameters / Comm::world().size();  // MB
  const RankMemory much{1e12, 1e12};
  EXPECT_EQ(chosen(needs_of(session, automatic(), 4, offload), automatic(), much).options.zero_stage(),
            Comm::world().size() > 1 ? 1 : 0);
  offload.budget.host = 1e-3;
  EXPECT_NE(refusal(needs_of(session, automatic(), 4, offload), automatic(), much)
                .find("MB of states, offload.budget.host: 0.001 MB"),
            std::string::npos);
}

/// The host has room for its part alone, where its arrays would not fit.
TEST(StageOnDevice, little_memory_of_the_host_decides_nothing_where_the_arrays_are_on_a_gpu) {
  const Gpu gpu;
  setenv("QUINTET_GPU_AWARE_MPI", "1", 1);
  const DeviceSession session(Device::gpu, Comm::world());
  unsetenv("QUINTET_GPU_AWARE_MPI");
  const RankMemory little{2e6, 1e12};
  EXPECT_EQ(chosen(needs_of(session, automatic()), automatic(), little).options.zero_stage(), 0);
  EXPECT_EQ(chosen(needs_of(session, {}), {}, little).options.zero_stage(), 0);
  // What stays with the host is counted there.
  const PrecisionOptions halves{ParameterPrecision::split_bf16};
  EXPECT_NE(refusal(needs_of(session, {}, 4, {}, halves), {}, little), "not refused");
  // And so are states that are offloaded.
  OffloadOptions offload;
  offload.optimiser = OffloadKind::host;
  const auto offloaded = needs_of(session, {}, 4, offload);
  EXPECT_GE(bytes_on_device(offloaded, 0).host, 2 * number * n_parameters);
  EXPECT_NE(refusal(offloaded, {}, little), "not refused");
}

/// A stage that was asked for is refused with both numbers, and with what would fit.
TEST(StageOnDevice, says_what_is_lacking_and_what_would_fit) {
  const Gpu gpu;
  const DeviceSession session(Device::gpu, Comm::world());
  const auto needs = needs_of(session, {}, 16);
  const std::string why = refusal(needs, {}, RankMemory{1e12, 1.4e9});
  EXPECT_TRUE(
      why.starts_with("Not enough memory to train: weights, gradients, states and what a step takes "
                      "besides are 1.5"))
      << why;
  EXPECT_NE(why.find("on the GPU and "), std::string::npos) << why;
  EXPECT_NE(why.find(" of the 1.4 GB on the GPU"), std::string::npos) << why;
  EXPECT_NE(
      why.find(Comm::world().size() == 1 ? "It fits with parallel.strategy: data, offload.optimiser: host."
                                         : "It fits with parallel.strategy: sharded, stage: 1."),
      std::string::npos)
      << why;
}

/// Without a stand-in: the imitated GPU has 1 GB, which ranks share.
TEST(StageOnDevice, asks_the_gpu_for_what_is_free) {
  const Gpu gpu;
  const DeviceSession session(Device::gpu, Comm::world());
  EXPECT_NE(refusal(needs_of(session, {}), {}, {}), "not refused");
  // parallel.memory is of the GPU, too.
  auto parallel = automatic();
  parallel.memory = 1e-3;
  EXPECT_NE(refusal(needs_of(session, parallel), parallel, RankMemory{1e12, 1e12}), "not refused");
}

}  // namespace
}  // namespace quintet
