#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/bridge/block_pass.hpp"
#include "surrogates/bridge/torch_memory.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/flow/encoder/unet.hpp"
#include "surrogates/flow/training/activations_in_force.hpp"
#include "surrogates/flow/training/measured_chain.hpp"
#include "surrogates/flow/training/planned_swaps.hpp"
#include "surrogates/training/flat_parameters.hpp"

/// The U-Net of the flow models by our blocks, for training_peers.py, which runs the same network and weights
/// by torch's own means: writes them (chain.json, *.f32) into FOLDER, then times its ways in turn and prints
/// a JSON object for each, least of ROUNDS.
///
///     training_unet FOLDER activations ROUNDS          forward and backward pass by policy of activations
///     mpirun -n N training_unet FOLDER ranks ROUNDS    steps with Adam by who holds what
///     training_unet FOLDER buckets ROUNDS              (mpirun) stages 2 and 3 by parallel.bucket
///     training_unet FOLDER tiles ROUNDS                (mpirun) 4 times as wide, its largest layers in tiles
namespace quintet::flow {
namespace {

struct Seconds {
  double wall = 1e30, cpu = 1e30, thread = 1e30;  ///< cpu of the process, and of the thread that computes
};
double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
void least(const Comm& comm, Seconds& best, const std::function<void()>& step) {
  comm.barrier();
  const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID),
               thread = now(CLOCK_THREAD_CPUTIME_ID);
  step();
  best.thread = std::min(best.thread, comm.maximum(now(CLOCK_THREAD_CPUTIME_ID) - thread));
  best.wall = std::min(best.wall, comm.maximum(now(CLOCK_MONOTONIC) - wall));
  best.cpu = std::min(best.cpu, comm.maximum(now(CLOCK_PROCESS_CPUTIME_ID) - cpu));
}

/// The paper's U-Net, so many times as wide.
UnetOptions options(int times = 1) {
  UnetOptions options;
  options.width *= times;
  options.widest *= times;
  return options;
}

/// What all ways have in common. Ranks have the same crops, so that batch normalisation over this rank's, as
/// peers do it, is that over all.
struct Problem {
  Problem(const Comm& comm_, int crops, int times_as_wide = 1, const LayerTiles& tiles = {})
      : comm(comm_), unet(options(times_as_wide), tiles), start(unet.initial_parameters(3)) {
    const auto& block = unet.options().block;
    const auto noise = [](std::int64_t n, double first) {  // as good as random
      const at::Tensor x = at::sin(12.9898 * at::arange(n, at::kDouble) + first) * 43758.5453;
      return (2 * (x - at::floor(x)) - 1).to(at::kFloat);
    };
    const std::int64_t nodes = std::int64_t{crops} * block[0] * block[1] * block[2];
    input = noise(nodes * unet.options().n_input, 1)
                .view({crops, unet.options().n_input, block[0], block[1], block[2]});
    bars = noise(nodes * unet.options().n_output, 2)
               .view({crops, block[0], block[1], block[2], unet.options().n_output}) /
           (1000.0 * comm.size());
  }
  Comm comm;
  Unet unet;
  std::vector<double> start;
  at::Tensor input, bars;
};

/// A way to train it.
class Way {
 public:
  Way(const Problem& problem, const ParallelOptions& parallel)
      : problem_(problem),
        shared_(problem.comm, problem.unet.tensors(), problem.start, OptimiserOptions{}, parallel),
        statistics_(problem.unet.initial_statistics()) {
    for (int block = 0; block < std::ssize(shared_.layout().blocks()); ++block) {
      const auto values = shared_.values(block);
      weights_.push_back(
          at::from_blob(values.data(), {std::ssize(values)}, at::kFloat).set_requires_grad(true));
    }
  }
  [[nodiscard]] FlatParameters<float>& shared() { return shared_; }

  /// Forward and backward pass. @return bytes of torch's at most, of one block's gradients among them
  std::int64_t run(std::vector<BlockPass::Policy> policies, PlannedSwaps* swaps, MeasuredChain* measured) {
    using Pass = typename FlatParameters<float>::Way;
    TorchMemory memory(shared_.ledger());
    if (measured) measured->begin(memory);
    if (swaps) swaps->start(memory);
    BlockPass pass(std::move(policies), measured ? BlockPass::Watch(std::ref(*measured)) : BlockPass::Watch(),
                   swaps);
    const BlockParameters parameters = [&](int block) {
      shared_.enter(block, pass.runs_again() ? Pass::again : Pass::forward);
      return weights_[block];
    };
    const auto enter_backward = [&](int block) {
      shared_.enter(block, pass.runs_again() ? Pass::again : Pass::backward);
    };
    const auto finish = [this](int block, const at::Tensor& gradient) {
      const auto to = shared_.gradient(block);
      at::from_blob(to.data(), {std::ssize(to)}, at::kFloat).add_(gradient);
      shared_.finish(block);
    };
    const PartsBackward parts{[&](int part) {
                                enter_backward(part);
                                return weights_[part];
                              },
                              finish};
    const at::Tensor running = at::from_blob(statistics_.data(), {std::ssize(statistics_)}, at::kDouble);
    const at::Tensor latents =
        problem_.unet.train(problem_.comm, parameters, problem_.input, running, pass, parts);
    shared_.leave();
    pass.backward({latents}, {problem_.bars}, {}, enter_backward, finish);
    shared_.leave();
    return memory.take_peak();
  }
  void step() {
    run({}, nullptr, nullptr);
    shared_.step(++t_, 1e-5);
  }

 private:
  const Problem& problem_;
  FlatParameters<float> shared_;
  std::vector<double> statistics_;
  std::vector<at::Tensor> weights_;
  std::int64_t t_ = 0;
};

void write(const std::string& path, const float* values, std::size_t n) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values), n * sizeof(float));
  if (!file) throw InputError("cannot write " + path);
}

/// The network for torch, in torch's order, with the gradient that is to come out.
void write_problem(const std::string& folder, const Problem& problem, Way& way) {
  static_cast<void>(way.run({}, nullptr, nullptr));
  const auto gradient = way.shared().total_gradient();
  way.shared().clear_gradient();
  if (!problem.comm.is_root()) return;
  std::vector<std::string> blocks;
  for (const auto& b : problem.unet.blocks())
    blocks.push_back(fmt::format(
        R"({{"name": "{}", "kind": {}, "inputs": ["{}"], "n_in": {}, "n_neck": {}, "n_out": {}, "factor": [{}], "relu": {}}})",
        b.name, static_cast<int>(b.kind), fmt::join(b.inputs, "\", \""), b.n_in, b.n_neck, b.n_out,
        fmt::join(b.factor, ", "), b.ends_in_relu));
  std::ofstream(folder + "/chain.json") << fmt::format(
      R"({{"crops": {}, "block": [{}], "n_input": {}, "n_output": {}, "segments": [{}], "blocks": [{}]}})",
      problem.input.size(0), fmt::join(problem.unet.options().block, ", "), problem.unet.options().n_input,
      problem.unet.options().n_output, fmt::join(unet_segments(problem.unet.blocks()), ", "),
      fmt::join(blocks, ", "));
  const std::vector<float> start(problem.start.begin(), problem.start.end()),
      found(gradient.begin(), gradient.end());
  write(folder + "/parameters.f32", start.data(), start.size());
  write(folder + "/gradient.f32", found.data(), found.size());
  write(folder + "/input.f32", problem.input.data_ptr<float>(),
        static_cast<std::size_t>(problem.input.numel()));
  const at::Tensor bars = problem.bars * problem.comm.size();  // peers take the mean over ranks
  write(folder + "/bars.f32", bars.data_ptr<float>(), static_cast<std::size_t>(bars.numel()));
}

void activations(const std::string& folder, int rounds) {
  const Problem problem(Comm::world(), 32);
  Way way(problem, {});
  write_problem(folder, problem, way);
  const auto segments = unet_segments(problem.unet.blocks());
  std::vector<std::string> names;
  for (const auto first : segments) names.push_back(problem.unet.blocks()[first].name);
  names.emplace_back("own");
  MeasuredChain measured(names), by_thread(names, [] { return now(CLOCK_THREAD_CPUTIME_ID); });
  const std::vector<BlockPass::Policy> all_again(segments.size(), BlockPass::Policy::recompute);
  for (auto* one : {&measured, &by_thread})
    for (int i = 0; i < 4; ++i) way.run(all_again, nullptr, one);
  const auto chain = measured.blocks(problem.comm), thread_chain = by_thread.blocks(problem.comm);

  struct Row {
    std::string name;
    ActivationsInForce plan;
    std::unique_ptr<PlannedSwaps> swaps;
    std::vector<BlockPass::Policy> policies{};
    Seconds best{};
    std::int64_t peak = 0;
  };
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, ActivationPolicy policy, double bytes, double link) {
    MemoryOptions memory{1e-6 * bytes, policy, {}};
    if (link > 0) memory.link = link;
    Row row{name, chosen_activations(memory, chain, {}), nullptr};
    int n_swapped = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const auto one = row.plan.plan.policies[i];
      n_swapped += one == planning::BlockPolicy::swap ? 1 : 0;
      row.policies.push_back(one == planning::BlockPolicy::recompute ? BlockPass::Policy::recompute
                                                                     : BlockPass::Policy::keep);
    }
    if (n_swapped > 0)
      row.swaps = std::make_unique<PlannedSwaps>(
          row.plan, SwapTarget(problem.comm, memory).space(way.shared().ledger()));
    rows.push_back(std::move(row));
  };
  constexpr double anything = 1e15;
  add("keep", ActivationPolicy::keep, anything, 0);
  add("recompute", ActivationPolicy::recompute, anything, 0);
  const double most = rows[0].plan.plan.cost.peak, fewest = rows[1].plan.plan.cost.peak;
  const auto between = [&](double share) { return fewest + share * (most - fewest); };
  add("planned, half", ActivationPolicy::planned, between(0.5), 0);
  for (const double link : {2.0, 0.5}) {
    add(fmt::format("swap, half, emulated {} GB/s", link), ActivationPolicy::swap, between(0.5), link);
    add(fmt::format("planned, half, emulated {} GB/s", link), ActivationPolicy::planned, between(0.5), link);
  }
  way.shared().clear_gradient();
  std::vector<double> gradient;
  for (auto& row : rows) {
    row.peak = way.run(row.policies, row.swaps.get(), nullptr);
    const auto found = way.shared().total_gradient();
    way.shared().clear_gradient();
    if (gradient.empty()) gradient = found;
    if (found != gradient) throw InternalError(row.name + ": the gradient has other bits");
  }
  for (int round = 0; round < rounds; ++round)
    for (auto& row : rows)
      least(problem.comm, row.best,
            [&] { static_cast<void>(way.run(row.policies, row.swaps.get(), nullptr)); });
  for (const auto& row : rows) {
    std::string policies;
    double work = 0;  // of the thread, which the link's waits are none of
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const auto one = row.plan.plan.policies[i];
      policies += planning::name_of(one)[0];
      const auto& block = thread_chain[i];
      work +=
          block.backward_seconds + (one == planning::BlockPolicy::recompute ? 2 : 1) * block.forward_seconds;
    }
    fmt::print(
        R"({{"way": "{}", "wall": {:.5g}, "cpu": {:.5g}, "predicted": {:.5g}, "thread": {:.5g}, "predicted_thread": {:.5g}, "peak": {}, "predicted_peak": {}, "policies": "{}"}})"
        "\n",
        row.name, row.best.wall, row.best.cpu, row.plan.plan.cost.seconds, row.best.thread, work, row.peak,
        row.plan.plan.cost.peak, policies);
  }
}

ParallelOptions parallel_of(int stage, Holder holder, double bucket) {
  ParallelOptions parallel;
  parallel.strategy = stage == 0 ? ParallelStrategy::data : ParallelStrategy::sharded;
  if (stage > 0) parallel.stage = stage;
  parallel.holder = holder;
  if (bucket >= 0) parallel.bucket = bucket;
  return parallel;
}

void ranks(const std::string& folder, int rounds, bool by_bucket) {
  const Comm comm = Comm::world();
  const Problem problem(comm, 4);
  struct Row {
    std::string name;
    std::unique_ptr<Way> way;
    Seconds best{};
  };
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, int stage, Holder holder, double bucket = -1) {
    rows.push_back({name, std::make_unique<Way>(problem, parallel_of(stage, holder, bucket))});
  };
  if (by_bucket) {
    for (const int stage : {2, 3})
      for (const double bucket : {0.0, 0.25, 1.0, 4.0, 25.0})
        add(fmt::format("stage {}, bucket {} MB", stage, bucket), stage, Holder::rank, bucket);
  } else {
    add("data, holder node", 0, Holder::node);
    for (const int stage : {0, 1, 2, 3})
      add(stage == 0 ? "data, holder rank" : fmt::format("stage {}, holder rank", stage), stage,
          Holder::rank);
    write_problem(folder, problem, *rows.front().way);
  }
  for (auto& row : rows) row.way->step();
  for (int round = 0; round < rounds; ++round)
    for (auto& row : rows) least(comm, row.best, [&] { row.way->step(); });
  for (auto& row : rows) {
    const auto account = row.way->shared().account();
    if (comm.is_root())
      fmt::print(R"({{"way": "{}", "wall": {:.5g}, "cpu": {:.5g}, "held": {}, "sent": {}}})"
                 "\n",
                 row.name, row.best.wall, row.best.cpu, account.held.total(),
                 account.bytes_sent / (rounds + 1));
  }
}

/// Whole layers beside tiles, at stages 0 and 3: bytes that FlatParameters holds and has at hand, and torch
/// at most.
void tiles(int rounds) {
  const Comm comm = Comm::world();
  constexpr int times_as_wide = 4;
  const LayerTiles four{{"middle.conv2", 4}, {"down_4.conv2", 4}};
  struct Row {
    std::string name;
    std::unique_ptr<Problem> problem;
    std::unique_ptr<Way> way;
    Seconds best{};
    std::int64_t peak = 0;
  };
  std::vector<Row> rows;
  for (const int stage : {0, 3})
    for (const bool in_tiles : {false, true}) {
      if (stage > 0 && comm.size() == 1) continue;
      auto problem = std::make_unique<Problem>(comm, 4, times_as_wide, in_tiles ? four : LayerTiles{});
      auto way = std::make_unique<Way>(*problem, parallel_of(stage, Holder::rank, -1));
      rows.push_back(
          {fmt::format("{} wide, {}, {}", times_as_wide, stage == 0 ? "data" : fmt::format("stage {}", stage),
                       in_tiles ? "4 tiles" : "whole"),
           std::move(problem), std::move(way)});
    }
  std::vector<double> gradient;
  for (auto& row : rows) {
    row.peak = row.way->run({}, nullptr, nullptr);
    const auto found = row.way->shared().total_gradient();
    row.way->shared().clear_gradient();
    if (gradient.empty()) gradient = found;
    if (found != gradient) throw InternalError(row.name + ": the gradient has other bits");
  }
  for (int round = 0; round < rounds; ++round)
    for (auto& row : rows) least(comm, row.best, [&] { row.way->step(); });
  for (auto& row : rows) {
    const auto held = row.way->shared().account().held;
    if (comm.is_root())
      fmt::print(
          R"({{"way": "{}", "wall": {:.5g}, "cpu": {:.5g}, "held": {}, "at_hand": {}, "torch_peak": {}}})"
          "\n",
          row.name, row.best.wall, row.best.cpu, held.total(), held.live, row.peak);
  }
}

}  // namespace
}  // namespace quintet::flow

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() != 3 || !std::filesystem::is_directory(words[0]))
      throw quintet::UsageError("training_unet FOLDER activations|ranks|buckets|tiles ROUNDS");
    const quintet::Runtime runtime(argc, argv, 1, {quintet::torch_subsystem()});
    const int rounds = std::stoi(words[2]);
    if (words[1] == "activations")
      quintet::flow::activations(words[0], rounds);
    else if (words[1] == "tiles")
      quintet::flow::tiles(rounds);
    else
      quintet::flow::ranks(words[0], rounds, words[1] == "buckets");
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
