#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "surrogates/environments/cart_pole.hpp"
#include "surrogates/environments/environment_pool.hpp"

using namespace quintet::environments;

namespace {

/// Frames a second of CartPole, M of N, the best of a few runs; actions 0 and 1 by turns along a batch.
double rate(int n, int m, int threads) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int i = 0; i < n; ++i) worlds.push_back(std::make_unique<CartPole>());
  EnvironmentPool pool(std::move(worlds), {m, threads, 1});
  pool.start();
  std::vector<float> actions;
  for (int i = 0; i < m; ++i) actions.push_back(static_cast<float>(i % 2));
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    const auto begin = Clock::now();
    double frames = 0, seconds = 0;
    while (seconds < 0.7) {
      for (int turn = 0; turn < 100; ++turn) pool.send(actions, pool.receive().ids);
      frames += 100.0 * m;
      seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    best = std::max(best, frames / seconds);
  }
  return best;
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
  constexpr int n = 64;
  std::vector<std::string> rows;
  for (const int threads : {1, 2})
    for (const int m : {16, n}) {
      const double ours = rate(n, m, threads);
      fmt::print("{} of {}, {} threads: ours {:.3g} frames/s\n", m, n, threads, ours);
      for (const char* const peer : {"envpool", "gymnasium"}) {
        if (argc < 2) continue;
        const double theirs = rate_of(argv[1], peer, n, m, threads);
        if (theirs > 0) fmt::print("    {} (called from Python) {:.3g}\n", peer, theirs);
        if (theirs > 0)
          rows.push_back(fmt::format(
              R"({{"bench": "environment_pool", "case": "{} of {}, {} threads, {}", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "frames/s"}})",
              m, n, threads, peer, ours, theirs, ours / theirs));
      }
      std::fflush(stdout);
    }
  fmt::print("[{}]\n", fmt::join(rows, ",\n"));
}
