#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/training/flat_parameters.hpp"

/// A step of Adam with its states in a file beside the step in memory and beside the traffic alone, on one
/// thread (and the store's two, which wait for the disk). Direct I/O: no cache is warm. Sides take turns,
/// least wall time of many. The hidden share is what was not waited for of the disk's seconds (its busier
/// direction), beside work as long as the traffic; predicted: min(1, work/disk). Then steps whose gradient
/// takes as long as the traffic, plain and delayed. Values after the steps are compared bit by bit.
///
///     training_offload FOLDER [--quick] [--n NUMBERS]
namespace quintet {
namespace {

double seconds(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void fill_gradient(FlatParameters<float>& parameters, std::int64_t t) {
  const auto gradient = parameters.gradient(0);
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = ((i * 7 + t) % 1001) - 500.0f;
}

/// Arithmetic that lasts `least` seconds.
void compute(double least) {
  volatile double sum = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < least)
    for (int i = 0; i < 1000; ++i) sum = sum + std::sqrt(static_cast<double>(i));
}

void run(const std::string& folder, std::size_t n, int rounds) {
  constexpr std::size_t chunk = 2 << 20;
  const Comm comm = Comm::self();
  const auto blocks = one_block("all", n);
  const std::vector<double> start(n, 0.5);
  const auto in_file = [&](const char* name) {
    OffloadOptions options;
    options.optimiser = OffloadKind::file;
    options.path = folder + name;
    return options;
  };
  OffloadOptions delayed = in_file("/delayed");
  delayed.delayed_update = DelayedUpdateOptions{0};
  FlatParameters<float> memory(comm, blocks, start, {}), file(comm, blocks, start, {}, {}, in_file("/plain")),
      late(comm, blocks, start, {}, {}, delayed);
  Ledger ledger;
  ledger.limit(Tier::host, ByteCategory::optimiser, 0, "bench");
  TierStore::Options options;
  options.file = {{folder, "alone", true, "bench"}};
  const int n_chunks = (8 * n + chunk - 1) / chunk;
  TierStore alone(ledger, options, std::vector<std::size_t>(n_chunks, chunk));

  const auto sweep = [&](std::int64_t t, double work_a_chunk) {
    for (int i = 0; i < n_chunks; ++i) {
      (void)alone.pin(i);
      for (int next = 1; next <= TierStore::ahead; ++next) alone.fetch((i + next) % n_chunks);
      if (work_a_chunk > 0) compute(work_a_chunk);
      alone.release(i, true);
    }
    alone.commit(t);
  };
  double work = 1e30, traffic = 1e30, both = 1e30, gradient = 1e30, plain_step = 1e30, late_step = 1e30;
  for (std::int64_t t = 1; t <= rounds; ++t) {
    fill_gradient(memory, t);
    fill_gradient(file, t);
    work = std::min(work, seconds([&] { memory.step(t, 1e-3); }));
    traffic = std::min(traffic, seconds([&] { sweep(t, 0); }));
    both = std::min(both, seconds([&] { file.step(t, 1e-3); }));
  }
  const double needed = traffic;
  for (std::int64_t t = 1; t <= rounds; ++t) {
    fill_gradient(file, rounds + t);
    plain_step = std::min(plain_step, seconds([&] {
                            compute(needed);
                            file.step(rounds + t, 1e-3);
                          }));
    fill_gradient(late, t);
    const double now = seconds([&] {
      late.begin_step();
      gradient = std::min(gradient, seconds([&] { compute(needed); }));
      late.step(t, 1e-3);
    });
    if (t > 1) late_step = std::min(late_step, now);  // the first one has nothing to apply
  }
  // The same steps in memory, for the bits; the delayed ones are one behind.
  FlatParameters<float> again(comm, blocks, start, {});
  for (std::int64_t t = 1; t < rounds; ++t) {
    fill_gradient(again, t);
    again.step(t, 1e-3);
  }
  if (again.all_values() != late.all_values()) throw InternalError("delayed steps have other bits");
  for (std::int64_t t = rounds + 1; t <= 2 * rounds; ++t) {
    fill_gradient(memory, t);
    memory.step(t, 1e-3);
  }
  if (memory.all_values() != file.all_values()) throw InternalError("steps in a file have other bits");

  // Work of the length of the traffic, chunk by chunk; the disk's own seconds are those of the same sweep,
  // since no two sweeps of a disk that others use take the same time.
  double balanced = 1e30, disk = 0, waited = 0;
  for (std::int64_t t = 1; t <= 2 * rounds; ++t) {
    const double read = alone.reads().seconds, written = alone.writes().seconds, idle = alone.waited();
    const double now = seconds([&] { sweep(rounds + t, needed / n_chunks); });
    if (now >= balanced) continue;
    balanced = now;
    disk = std::max(alone.reads().seconds - read, alone.writes().seconds - written);
    waited = alone.waited() - idle;
  }
  const double longer = std::max(work, traffic);
  const double predicted = std::min(1.0, needed / disk), hidden = 1 - waited / disk;
  const auto moved = file.offload_traffic();
  fmt::print(
      "{} parameters, states {:.3g} MB, {}: work {:.3g} ms, traffic alone {:.3g} ms ({:.3g} GB/s), both "
      "{:.3g} "
      "ms = {:.3g} max; with work of that length {:.3g} ms = {:.3g} max of it and the disk's {:.3g} ms: "
      "hidden {:.3g}, predicted {:.3g}\n"
      "a gradient of {:.3g} ms: a step {:.3g} ms, delayed {:.3g} ms = {:.3g} max; held at most {:.3g} MB of "
      "states and {:.3g} MB of buffers\n",
      n, 8e-6 * double(n), moved.is_direct ? "direct I/O" : "no direct I/O", 1e3 * work, 1e3 * traffic,
      16e-9 * double(n) / traffic, 1e3 * both, both / longer, 1e3 * balanced,
      balanced / std::max(needed, disk), 1e3 * disk, hidden, predicted, 1e3 * gradient, 1e3 * plain_step,
      1e3 * late_step, late_step / std::max(gradient, traffic),
      1e-6 * double(file.ledger().peak(Tier::host, ByteCategory::optimiser)),
      1e-6 * double(file.ledger().peak(Tier::host, ByteCategory::staging)));
  fmt::print(
      R"([{{"bench": "training_offload", "case": "{} parameters, states in a file", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "s"}}])"
      "\n",
      n, both, longer, both / longer);
}

}  // namespace
}  // namespace quintet

int main(int argc, char** argv) {
  try {
    std::size_t n = 20000000;
    int rounds = 7;
    std::string folder;
    for (int i = 1; i < argc; ++i) {
      const std::string flag = argv[i];
      if (flag == "--quick")
        rounds = 3;
      else if (flag == "--n" && i + 1 < argc)
        n = std::stoul(argv[++i]);
      else
        folder = flag;
    }
    if (folder.empty()) throw quintet::UsageError("training_offload FOLDER [--quick] [--n NUMBERS]");
    std::filesystem::create_directories(folder + "/plain");
    std::filesystem::create_directories(folder + "/delayed");
    const quintet::Runtime runtime(argc, argv, 1, {});
    quintet::run(folder, n, rounds);
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
