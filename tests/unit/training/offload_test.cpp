#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/training/flat_parameters.hpp"
#include "tests/support/disk_scratch.hpp"

namespace quintet {
namespace {

namespace fs = std::filesystem;

/// Units end within chunks of states: 64 kB, 8192 numbers of float.
std::vector<BlockTensors> blocks() {
  return {{"a", {{"weight", {70, 700}}}},
          {"b", {{"weight", {10, 99}}, {"bias", {10}}}},
          {"c", {{"weight", {30, 900}}}},
          {"d", {{"weight", {17}}}}};
}

std::vector<double> start() {
  std::size_t n = 0;
  for (const auto& block : blocks()) n += block.size();
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(0.1 * i);
  return values;
}

/// Of a rank at a step, by the values: a stale one shows.
template <class Real>
void add_gradients(FlatParameters<Real>& parameters, int rank, std::int64_t t) {
  for (int b = static_cast<int>(blocks().size()) - 1; b >= 0; --b) {
    parameters.enter(b, FlatParameters<Real>::Way::backward);
    const auto to = parameters.gradient(b);
    const auto values = parameters.values(b);
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] += values[i] * static_cast<Real>(1 + rank) + static_cast<Real>(std::cos(0.01 * i + t));
    parameters.finish(b);
  }
  parameters.leave();
}

/// All that a training is at a step.
template <class Real>
struct Whole {
  std::vector<Real> values;
  std::vector<std::vector<Real>> states;
  typename FlatParameters<Real>::Pending pending;

  explicit Whole(const FlatParameters<Real>& from) : values(from.all_values()), pending(from.pending()) {
    for (int s = 0; s < n_states(from.optimiser()); ++s) states.push_back(from.all_states(s));
  }
  void expect(const Whole& other, const std::string& what) const {
    ASSERT_EQ(values, other.values) << what;
    ASSERT_EQ(states, other.states) << what;
    ASSERT_EQ(pending.t, other.pending.t) << what;
    ASSERT_EQ(pending.gradient, other.pending.gradient) << what;
  }
};

double rate_of(std::int64_t t) { return 0.01 / t; }

template <class Real>
void take_steps(FlatParameters<Real>& parameters, std::int64_t from, std::int64_t to) {
  for (std::int64_t t = from; t <= to; ++t) {
    parameters.begin_step();
    add_gradients(parameters, Comm::world().rank(), t);
    parameters.step(t, rate_of(t));
  }
}

OffloadOptions in_file(const std::string& path, double host_mb) {
  OffloadOptions options;
  options.optimiser = OffloadKind::file;
  options.path = path;
  options.budget.host = host_mb;
  return options;
}

ParallelOptions at_stage(int stage) {
  ParallelOptions options;
  options.strategy = stage == 0 ? ParallelStrategy::data : ParallelStrategy::sharded;
  options.stage = stage;
  options.bucket = 0;
  if (stage >= 2) options.holder = Holder::rank;  // and values are sent
  return options;
}

constexpr std::int64_t n_steps = 5;

template <class Real>
Whole<Real> whole_run(const OffloadOptions& offload, int stage = 0, const OptimiserOptions& optimiser = {},
                      const PrecisionOptions& precision = {}) {
  const Comm comm = Comm::world();
  FlatParameters<Real> parameters(comm, blocks(), start(), optimiser, at_stage(stage), offload, precision);
  take_steps(parameters, 1, n_steps);
  return Whole<Real>(parameters);
}

template <class Real>
void files_change_no_bit() {
  const test::DiskScratch scratch("offload");
  for (const auto& row : optimisers()) {
    OptimiserOptions optimiser;
    optimiser.kind = row.value;
    optimiser.momentum = row.value == OptimiserKind::sgd ? 0.9 : 0;
    for (const int stage : {0, 2, 3}) {
      const auto reference = whole_run<Real>({}, stage, optimiser);
      for (const double host_mb : {0.0, 0.15, 100.0})
        whole_run<Real>(in_file(scratch.path(), host_mb), stage, optimiser)
            .expect(reference, fmt::format("{}, stage {}, {} MB", row.name, stage, host_mb));
    }
  }
}

TEST(Offload, states_in_a_file_change_no_bit_whatever_stage_budget_and_optimiser) {
  files_change_no_bit<float>();
  files_change_no_bit<double>();
}

TEST(Offload, low_halves_go_with_the_states) {
  const test::DiskScratch scratch("offload");
  const PrecisionOptions halves{ParameterPrecision::split_bf16};
  for (const bool delayed : {false, true}) {
    OffloadOptions memory, file = in_file(scratch.path(), 0.1);
    memory.optimiser = OffloadKind::host;
    if (delayed) memory.delayed_update = file.delayed_update = DelayedUpdateOptions{1};
    const auto reference = whole_run<float>(memory, 0, {}, halves);
    for (const int stage : {0, 1, 2, 3})
      whole_run<float>(file, stage, {}, halves).expect(reference, fmt::format("stage {}", stage));
    const auto plain = whole_run<float>(memory);
    if (Comm::world().is_root()) {
      EXPECT_NE(reference.values, plain.values);  // gradients are those of bf16
    }
  }
  // Without states: 4.0 bytes a parameter, and gradients.
  OptimiserOptions sgd;
  sgd.kind = OptimiserKind::sgd;
  const FlatParameters<float> parameters(Comm::self(), blocks(), start(), sgd, {}, {}, halves);
  const Ledger& ledger = parameters.ledger();
  EXPECT_EQ(ledger.peak(Tier::host, ByteCategory::parameters), 2 * parameters.layout().padded());
  EXPECT_EQ(ledger.peak(Tier::host, ByteCategory::optimiser), 2 * parameters.layout().padded());
}

TEST(Offload, the_ledger_knows_what_is_where) {
  const test::DiskScratch scratch("offload");
  const Comm comm = Comm::world();
  const FlatParameters<float> plain(comm, blocks(), start(), {}, at_stage(1));
  const std::size_t states = plain.bytes().optimiser;
  EXPECT_EQ(plain.ledger().peak(Tier::host, ByteCategory::optimiser), states);
  EXPECT_EQ(plain.ledger().peak(Tier::host, ByteCategory::parameters), plain.bytes().values);
  EXPECT_EQ(plain.ledger().peak(Tier::file), 0u);
  const std::size_t budget = states / 4;
  FlatParameters<float> offloaded(comm, blocks(), start(), {}, at_stage(1),
                                  in_file(scratch.path(), 1e-6 * budget));
  take_steps(offloaded, 1, 2);
  const Ledger& ledger = offloaded.ledger();
  EXPECT_LE(ledger.peak(Tier::host, ByteCategory::optimiser), budget);
  EXPECT_EQ(ledger.peak(Tier::host, ByteCategory::optimiser), offloaded.bytes().optimiser);
  EXPECT_EQ(ledger.peak(Tier::host, ByteCategory::staging), 6u * 65536);
  EXPECT_GE(ledger.peak(Tier::file, ByteCategory::optimiser), 2 * (states - budget));
  const auto moved = offloaded.offload_traffic();
  EXPECT_GE(moved.writes.bytes, 2 * (states - budget));
  EXPECT_LE(moved.writes.bytes, 2 * states);  // each chunk once a step, though units end within it
}

/// Of all stages, with values whole and in halves, in memory, in a file and late.
TEST(Offload, the_ledger_has_what_plans_say) {
  const test::DiskScratch scratch("offload");
  const Comm comm = Comm::world();
  for (const auto& stage : planning::stages())
    for (const bool splits : {false, true})
      for (const std::optional<double>& host_mb :
           {std::optional<double>(), std::optional(0.0), std::optional(0.15)})
        for (const bool delayed : {false, true}) {
          if (comm.size() == 1 && stage.value > 0) continue;  // one rank has everything
          OffloadOptions offload;
          offload.optimiser = OffloadKind::host;
          if (host_mb) offload = in_file(scratch.path(), *host_mb);
          if (delayed) offload.delayed_update = DelayedUpdateOptions{};
          const ParallelOptions parallel = at_stage(stage.value);
          const FlatParameters<float> parameters(
              comm, blocks(), start(), {}, parallel, offload,
              {splits ? ParameterPrecision::split_bf16 : ParameterPrecision::full});
          planning::Division division{.low_bytes = splits ? 2.0 : 0.0};
          division.units = parameters.layout().unit_sizes();
          division.states_place = {.in_file = host_mb.has_value(), .delayed = delayed};
          if (host_mb) division.states_place.host = 1e6 * *host_mb;
          const auto planned = planning::rank_bytes(division, stage, comm.size(),
                                                    parallel.holder == Holder::node ? comm.node_size() : 1);
          const auto expect = [&](Tier tier, ByteCategory category, double bytes) {
            // Of a node's ranks each has a part of its values, in whole bytes.
            EXPECT_NEAR(parameters.ledger().peak(tier, category), bytes, 1)
                << fmt::format("{}, halves {}, file {}, delayed {}, category {}", stage.name, splits,
                               host_mb.value_or(-1), delayed, static_cast<int>(category));
          };
          expect(Tier::host, ByteCategory::parameters, planned.parameters);
          expect(Tier::host, ByteCategory::gradients, planned.gradients);
          expect(Tier::host, ByteCategory::optimiser, planned.optimiser);
          expect(Tier::host, ByteCategory::staging, planned.staging);
          expect(Tier::host, ByteCategory::workspace, planned.workspace);
          expect(Tier::file, ByteCategory::optimiser, planned.file);
        }
}

TEST(Offload, what_does_not_fit_is_refused_before_it_is_allocated) {
  const test::DiskScratch scratch("offload");
  const Comm comm = Comm::world();
  OffloadOptions host;
  host.optimiser = OffloadKind::host;
  host.budget.host = 0.01;
  OffloadOptions disk = in_file(scratch.path(), 0);
  disk.budget.file = 0.02;
  for (const auto& offload : {host, disk})
    EXPECT_THROW(FlatParameters<float>(comm, blocks(), start(), {}, {}, offload), ResourceError);
  EXPECT_THROW(FlatParameters<float>(comm, blocks(), start(), {}, {}, in_file("absent", 0)), InputError);
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

template <class Real>
Whole<Real> delayed_run(OffloadOptions offload, std::int64_t after, int stage) {
  offload.delayed_update = DelayedUpdateOptions{after};
  return whole_run<Real>(offload, stage);
}

TEST(Offload, a_delayed_run_is_the_serial_loop_that_is_one_step_late_to_the_bit) {
  const test::DiskScratch scratch("offload");
  const Comm comm = Comm::world();
  OffloadOptions host;
  host.optimiser = OffloadKind::host;
  for (const std::int64_t after : {0, 2, 9}) {
    // Serial: plain parameters make the updates; gradients are formed with the values of before.
    FlatParameters<float> serial(comm, blocks(), start(), {}, at_stage(0));
    std::vector<std::vector<float>> waiting;  // gradients of the blocks, of this rank
    std::int64_t waits_since = 0;
    for (std::int64_t t = 1; t <= n_steps; ++t) {
      add_gradients(serial, comm.rank(), t);
      std::vector<std::vector<float>> formed;
      for (int b = 0; b < 4; ++b) formed.emplace_back(serial.gradient(b).begin(), serial.gradient(b).end());
      serial.clear_gradient();
      comm.barrier();
      const auto apply = [&](const std::vector<std::vector<float>>& gradients, std::int64_t of) {
        for (int b = 0; b < 4; ++b)
          std::copy(gradients[b].begin(), gradients[b].end(), serial.gradient(b).begin());
        serial.step(of, rate_of(of));
      };
      if (waits_since > 0) apply(waiting, waits_since);
      waits_since = 0;
      if (t <= after) {
        apply(formed, t);
      } else {
        waiting = formed;
        waits_since = t;
      }
    }
    const Whole<float> expected(serial);
    for (const int stage : {0, 1, 2, 3})
      for (const auto& offload : {host, in_file(scratch.path(), 0.1)}) {
        const auto delayed = delayed_run<float>(offload, after, stage);
        EXPECT_EQ(delayed.values, expected.values) << after << ", stage " << stage;
        EXPECT_EQ(delayed.states, expected.states) << after << ", stage " << stage;
        EXPECT_EQ(delayed.pending.t, waits_since);
      }
  }
  const auto late = delayed_run<float>(host, 0, 0), plain = whole_run<float>({});
  if (comm.is_root()) {
    EXPECT_NE(late.values, plain.values);
  }
}

TEST(Offload, what_is_saved_goes_on_to_the_bit_with_the_pending_gradient) {
  const test::DiskScratch scratch("offload");
  const Comm comm = Comm::world();
  for (const bool delayed : {false, true}) {
    OffloadOptions offload = in_file(scratch.path(), 0.1);
    if (delayed) offload.delayed_update = DelayedUpdateOptions{1};
    const auto expected = whole_run<float>(offload);
    const auto broadcast = [&](std::vector<float> values) {
      values.resize(start().size());
      comm.broadcast(std::span<float>(values));
      return values;
    };
    std::vector<float> values;
    std::vector<std::vector<float>> states;
    FlatParameters<float>::Pending pending;
    {
      FlatParameters<float> first(comm, blocks(), start(), {}, at_stage(0), offload);
      take_steps(first, 1, 3);
      values = broadcast(first.all_values());
      for (const int s : {0, 1}) states.push_back(broadcast(first.all_states(s)));
      pending = first.pending();
      EXPECT_EQ(pending.t, delayed ? 3 : 0);
      pending.gradient = broadcast(pending.gradient);
    }
    FlatParameters<float> second(comm, blocks(), start(), {}, at_stage(1), offload);
    second.assign_values(values);
    for (const int s : {0, 1}) second.assign_state(s, states[s]);
    second.assign_pending(pending);
    take_steps(second, 4, n_steps);
    Whole<float>(second).expect(expected, delayed ? "delayed" : "plain");
    if (!delayed) continue;
    FlatParameters<float> other(comm, blocks(), start(), {}, at_stage(0));
    EXPECT_THROW(other.assign_pending(pending), InputError);
  }
}

TEST(Offload, a_bad_gradient_leaves_whole_values_and_the_pending_one_applied) {
  const Comm comm = Comm::world();
  OffloadOptions host;
  host.optimiser = OffloadKind::host;
  host.delayed_update = DelayedUpdateOptions{0};
  FlatParameters<float> parameters(comm, blocks(), start(), {}, at_stage(0), host);
  FlatParameters<float> plain(comm, blocks(), start(), {}, at_stage(0));
  take_steps(parameters, 1, 1);
  take_steps(plain, 1, 1);
  parameters.begin_step();
  add_gradients(parameters, comm.rank(), 2);
  if (comm.is_root()) parameters.gradient(0)[5] = std::nanf("");
  EXPECT_THROW(parameters.step(2, 0.01), NumericalError);
  EXPECT_EQ(parameters.pending().t, 0);
  EXPECT_EQ(parameters.all_values(), plain.all_values());
}

TEST(OffloadOptions, what_does_not_belong_together_is_refused) {
  const auto read = [](const std::string& text) {
    OffloadOptions options;
    parse_options(parse_yaml(text, "input.yaml"), described(options));
    return options;
  };
  EXPECT_EQ(read("{optimiser: file, path: /tmp, budget: {host: 1 GB}}").budget.host, 1000);
  EXPECT_THROW(read("{delayed_update: {after: 4}}"), InputError);
  EXPECT_THROW(read("{optimiser: file}"), InputError);
  EXPECT_THROW(read("{optimiser: host, path: /tmp}"), InputError);
  EXPECT_THROW(read("{budget: {host: 1 GB}}"), InputError);
}

}  // namespace
}  // namespace quintet
