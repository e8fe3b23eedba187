#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/runtime/runtime.hpp"
#include "surrogates/environments/convection_control.hpp"
#include "surrogates/environments/environment_pool.hpp"
#include "tests/support/cart_pole.hpp"

using namespace quintet::environments;

namespace {

/// Frames a second of worlds, M at a time, the best of a few runs; actions 0 and 1 by turns along a batch.
/// Adds the frames of all runs to `all_frames`.
double rate(std::vector<std::unique_ptr<Environment>> worlds, int m, int threads, int turns,
            double* all_frames = nullptr) {
  using Clock = std::chrono::steady_clock;
  EnvironmentPool pool(std::move(worlds), {m, threads, 1});
  pool.start();
  std::vector<float> actions;
  for (int i = 0; i < m * pool.n_actions(); ++i) actions.push_back(i % 2);
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    const auto begin = Clock::now();
    double frames = 0, seconds = 0;
    while (seconds < 0.7) {
      for (int turn = 0; turn < turns; ++turn) pool.send(actions, pool.receive().ids);
      frames += double(turns) * m;
      seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    best = std::max(best, frames / seconds);
    if (all_frames != nullptr) *all_frames += frames;
  }
  return best;
}

std::vector<std::unique_ptr<Environment>> cart_poles(int n) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int i = 0; i < n; ++i) worlds.push_back(std::make_unique<CartPole>());
  return worlds;
}

/// As inputs/meshfreeflow/control.yaml has them.
std::vector<std::unique_ptr<Environment>> convections(int n, const std::shared_ptr<const FlowStates>& flows) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int i = 0; i < n; ++i)
    worlds.push_back(std::make_unique<ConvectionControl>(ConvectionControlOptions{}, flows, Starts::drawn));
  return worlds;
}

/// Frames a second of a peer, 0 where it is not there or cannot do that.
double rate_of(const std::string& python, const char* peer, int n, int m, int threads) {
  const auto command = fmt::format("'{}' '{}' {} {} {} {}", python, QUINTET_PEER, peer, n, m, threads);
  double rate = 0;
  if (FILE* const output = popen(command.c_str(), "r")) {
    if (std::fscanf(output, "%lf", &rate) != 1) rate = 0;
    pclose(output);
  }
  return rate;
}

}  // namespace

int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  // environment_pool [PYTHON that has envpool and gymnasium]; --quick is what it always is
  const char* const python = argc > 1 && argv[1][0] != '-' ? argv[1] : nullptr;
  constexpr int n = 64;
  std::vector<std::string> rows;
  for (const int threads : {1, 2})
    for (const int m : {16, n}) {
      const double ours = rate(cart_poles(n), m, threads, 100);
      fmt::print("{} of {}, {} threads: ours {:.3g} frames/s\n", m, n, threads, ours);
      for (const char* const peer : {"envpool", "gymnasium"}) {
        if (python == nullptr) continue;
        const double theirs = rate_of(python, peer, n, m, threads);
        if (theirs > 0) fmt::print("    {} (called from Python) {:.3g}\n", peer, theirs);
        if (theirs > 0)
          rows.push_back(fmt::format(
              R"({{"bench": "environment_pool", "case": "{} of {}, {} threads, {}", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "frames/s"}})",
              m, n, threads, peer, ours, theirs, ours / theirs));
      }
      std::fflush(stdout);
    }
  const ConvectionControlOptions options;
  const auto flows = std::make_shared<const FlowStates>(developed_flows(options, {1}, 50, 1));
  constexpr int n_flows = 8;
  for (const int threads : {1, 2}) {
    const auto cpu_before = std::clock();
    double frames = 0;
    const double ours = rate(convections(n_flows, flows), n_flows, threads, 2, &frames);
    const double cpu_ms = 1e3 * double(std::clock() - cpu_before) / CLOCKS_PER_SEC / frames;
    const auto what = fmt::format("convection {} x {}, interval {:g}, {} of {}, {} threads", options.cells_x,
                                  options.cells_z, options.interval, n_flows, n_flows, threads);
    fmt::print("{}: {:.4g} frames/s, {:.3g} ms of processor time a frame\n", what, ours, cpu_ms);
    rows.push_back(fmt::format(
        R"({{"bench": "environment_pool", "case": "{}", "ours": {:.4g}, "unit": "frames/s", "cpu_ms": {:.3g}}})",
        what, ours, cpu_ms));
  }
  fmt::print("[{}]\n", fmt::join(rows, ",\n"));
}
