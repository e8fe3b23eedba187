#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/meshfreeflow/control/control_options.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/environments/convection_control.hpp"
#include "surrogates/environments/environment_pool.hpp"
#include "tests/support/cart_pole.hpp"

/// Frames a second of pools: of CartPole beside envpool's and gymnasium's, where PYTHON has them; of
/// convection under control of its floor; and of environments of a user's own, inputs of `simulate` with
/// section control, by 1, 2 and 4 workers, beside gymnasium's vector of processes whose steps take the same
/// processor time.
///
/// environment_pool [PYTHON] [--own INPUT...]
namespace quintet::environments {
namespace {

struct Rate {
  double frames_a_second = 0;  ///< wall, the best run
  double cpu_ms = 0;           ///< processor time of a frame, the least
};

/// Worlds, M at a time; actions 0 and 1 by turns along a batch, times `size`.
Rate rate(std::vector<std::unique_ptr<Environment>> worlds, int m, int threads, int turns, float size = 1) {
  using Clock = std::chrono::steady_clock;
  EnvironmentPool pool(std::move(worlds), {m, threads, 1});
  pool.start();
  std::vector<float> actions;
  for (int i = 0; i < m * pool.n_actions(); ++i) actions.push_back(size * static_cast<float>(i % 2));
  Rate best{0, 1e300};
  for (int run = 0; run < 3; ++run) {
    const auto begin = Clock::now();
    const auto cpu_begin = std::clock();
    double frames = 0, seconds = 0;
    while (seconds < 0.7) {
      for (int turn = 0; turn < turns; ++turn) pool.send(actions, pool.receive().ids);
      frames += double(turns) * m;
      seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    best.frames_a_second = std::max(best.frames_a_second, frames / seconds);
    best.cpu_ms = std::min(best.cpu_ms, 1e3 * double(std::clock() - cpu_begin) / CLOCKS_PER_SEC / frames);
  }
  return best;
}

std::vector<std::unique_ptr<Environment>> cart_poles(int n) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int i = 0; i < n; ++i) worlds.push_back(std::make_unique<CartPole>());
  return worlds;
}

std::vector<std::unique_ptr<Environment>> convections(int n, const ConvectionControlOptions& world,
                                                      const std::shared_ptr<const FlowStates>& flows) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int i = 0; i < n; ++i)
    worlds.push_back(std::make_unique<ConvectionControl>(world, flows, Starts::drawn));
  return worlds;
}

/// What a peer says, 0 where it is not there or cannot do that.
Rate of_peer(const std::string& python, const std::string& words) {
  const auto command = fmt::format("'{}' '{}' {}", python, QUINTET_PEER, words);
  Rate found;
  if (FILE* const output = popen(command.c_str(), "r")) {
    if (std::fscanf(output, "%lf %lf", &found.frames_a_second, &found.cpu_ms) < 1) found = {};
    pclose(output);
  }
  return found;
}

void bench_cart_poles(const std::string& python, std::vector<std::string>& rows) {
  constexpr int n = 64;
  for (const int threads : {1, 2})
    for (const int m : {16, n}) {
      const double ours = rate(cart_poles(n), m, threads, 100).frames_a_second;
      fmt::print("{} of {}, {} threads: ours {:.3g} frames/s\n", m, n, threads, ours);
      for (const char* const peer : {"envpool", "gymnasium"}) {
        const double theirs =
            python.empty() ? 0
                           : of_peer(python, fmt::format("{} {} {} {}", peer, n, m, threads)).frames_a_second;
        if (theirs == 0) continue;
        fmt::print("    {} (called from Python) {:.3g}\n", peer, theirs);
        rows.push_back(fmt::format(
            R"({{"bench": "environment_pool", "case": "{} of {}, {} threads, {}", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "frames/s"}})",
            m, n, threads, peer, ours, theirs, ours / theirs));
      }
      std::fflush(stdout);
    }
}

/// A world by so many workers, and a peer whose steps take what ours do with one worker.
void bench_world(const std::string& name, const ConvectionControlOptions& world,
                 const std::vector<int>& workers, const std::string& python, std::vector<std::string>& rows) {
  constexpr int n = 8;
  const auto flows = std::make_shared<const FlowStates>(developed_flows(world, {1}, 20, 1));
  double step_ms = 0;
  for (const int threads : workers) {
    auto worlds = convections(n, world, flows);
    const int observed = worlds.front()->n_observed();
    const Rate ours = rate(std::move(worlds), n, threads, 2, 0.1F);
    if (step_ms == 0) step_ms = ours.cpu_ms;
    const auto what = fmt::format("{}, {} x {}, interval {:g}, {} environments, {} workers", name,
                                  world.cells_x, world.cells_z, world.interval, n, threads);
    fmt::print("{}: {:.4g} frames/s, {:.3g} ms of processor time a frame\n", what, ours.frames_a_second,
               ours.cpu_ms);
    rows.push_back(fmt::format(
        R"({{"bench": "environment_pool", "case": "{}", "ours": {:.4g}, "unit": "frames/s", "cpu_ms": {:.3g}}})",
        what, ours.frames_a_second, ours.cpu_ms));
    const Rate theirs =
        python.empty()
            ? Rate{}
            : of_peer(python, fmt::format("own {} {} {} {}", threads, step_ms, observed, world.n_actions()));
    if (theirs.frames_a_second == 0) continue;
    fmt::print("    gymnasium, steps of {:.3g} ms: {:.4g} frames/s, {:.3g} ms of processor time a frame\n",
               step_ms, theirs.frames_a_second, theirs.cpu_ms);
    rows.push_back(fmt::format(
        R"({{"bench": "environment_pool", "case": "{}, gymnasium", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "cpu ms"}})",
        what, ours.cpu_ms, theirs.cpu_ms, theirs.cpu_ms / ours.cpu_ms));
    std::fflush(stdout);
  }
}

ConvectionControlOptions world_of(const std::string& input) {
  meshfreeflow::ControlOptions options;
  options.environment = input;
  options.episode.interval = 1;
  return meshfreeflow::control_case(options).world;
}

void bench(const std::vector<std::string>& words) {
  std::string python;
  std::vector<std::string> inputs, rows;
  bool own_alone = false;
  for (const auto& word : words)
    if (word == "--own")
      own_alone = true;
    else if (own_alone)
      inputs.push_back(word);
    else if (!word.starts_with('-'))  // --quick is what it always is
      python = word;
  if (inputs.empty()) inputs = {QUINTET_INPUTS "/controlled_cavity.yaml", QUINTET_OWN};
  if (!own_alone) {
    bench_cart_poles(python, rows);
    bench_world("floor", {}, {1, 2}, "", rows);
  }
  for (const auto& input : inputs)
    bench_world(input.substr(input.rfind('/') + 1), world_of(input), {1, 2, 4}, python, rows);
  fmt::print("[{}]\n", fmt::join(rows, ",\n"));
}

}  // namespace
}  // namespace quintet::environments

int main(int argc, char** argv) {
  try {
    const quintet::Runtime runtime(argc, argv, 1, {});
    quintet::environments::bench({argv + 1, argv + argc});
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
