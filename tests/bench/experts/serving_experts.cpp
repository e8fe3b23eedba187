#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/experts/description.hpp"
#include "surrogates/experts/expert_cache.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "tests/support/deep_potential_case.hpp"
#include "tests/support/scratch.hpp"

using namespace quintet;

namespace {

/// CPU time of this process, threads that read included (ms).
double now_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * time.tv_sec + 1e-6 * time.tv_nsec;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + (values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::shared_ptr<void> opened(const std::string& name) {
  return std::make_shared<potential::DeepPotential>(potential::read_dp(name),
                                                    potential::DeepPotentialOptions{});
}

/// 27 atoms on a grid, types by turns: the size of a request that a model answers in a millisecond or less.
Configuration crystal(const std::vector<std::string>& types) {
  Configuration crystal;
  crystal.type_names = types;
  crystal.masses.assign(types.size(), 1.0);
  for (int i = 0; i < 27; ++i) {
    crystal.types.push_back(i % static_cast<int>(types.size()));
    crystal.positions.push_back({2.5 * (i % 3), 2.5 * (i / 3 % 3), 2.5 * (i / 9)});
  }
  crystal.box = Box({7.5, 0, 0, 0, 7.5, 0, 0, 0, 7.5}, {true, true, true});
  return crystal;
}

double answer(void* field) {
  auto& model = *static_cast<potential::DeepPotential*>(field);
  return evaluate(Comm::self(), model, crystal(model.type_names())).energy;
}

/// Four experts each of three models, and requests whose popularity falls as 1/rank^1.2.
struct Case {
  Scratch scratch{"serving_experts"};
  std::string path = scratch / "registry.h5";
  std::vector<int> requests;

  explicit Case(int n_requests) {
    for (const std::string name : {"copper", "water", "silica"})
      for (int copy = 0; copy < 4; ++copy) {
        const auto model = fmt::format("{}/{}/{}.dp", QUINTET_MODELS, name, name);
        const auto before = experts::allocated_bytes();
        const auto open = opened(model);
        experts::Expert expert;
        expert.id = fmt::format("{}_{}", name, copy);
        expert.app = "dpmd";
        expert.memory = experts::allocated_bytes() - before;
        experts::add_expert(path, expert, model, false, hdf5::current_provenance());
      }
    std::vector<double> weight;
    for (int rank = 1; rank <= 12; ++rank) weight.push_back(std::pow(rank, -1.2));
    std::mt19937_64 random(1);
    std::vector<int> expert(12);
    std::iota(expert.begin(), expert.end(), 0);
    std::shuffle(expert.begin(), expert.end(), random);
    std::discrete_distribution<int> rank(weight.begin(), weight.end());
    for (int i = 0; i < n_requests; ++i) requests.push_back(expert[rank(random)]);
  }
};

struct Batches {
  double ms = 0;
  std::int64_t misses = 0;
};

/// All requests in batches of 16.
Batches serve(const experts::Registry& registry, std::size_t budget, const std::vector<int>& requests,
              bool groups) {
  experts::ExpertCache cache(registry, "dpmd", {budget, {}, 0, "budget"}, opened);
  const double begin = now_ms();
  for (std::size_t at = 0; at < requests.size(); at += 16) {
    const auto batch = std::span(requests).subspan(at, std::min<std::size_t>(16, requests.size() - at));
    std::vector<int> order(batch.size());
    std::iota(order.begin(), order.end(), 0);
    if (groups) order = grouped(batch, [&](int expert) { return cache.holds(expert); });
    for (const int i : order) {
      const auto hold = cache.hold(batch[i]);
      static_cast<void>(answer(hold.get()));
    }
  }
  return {now_ms() - begin, cache.counts().misses};
}

std::pair<double, double> torch_ms(const std::string& python, std::size_t parameters, int rounds) {
  std::pair<double, double> ms{0, 0};
  const auto command = fmt::format("'{}' '{}' {} {} 2>/dev/null", python, QUINTET_PEER, parameters, rounds);
  if (FILE* const output = popen(command.c_str(), "r")) {
    if (std::fscanf(output, "%lf %lf", &ms.first, &ms.second) != 2) ms = {0, 0};
    pclose(output);
  }
  return ms;
}

}  // namespace

int main(int argc, char** argv) {
  const Runtime runtime(argc, argv, 1, {});
  bool quick = false;
  std::string python = QUINTET_PYTHON;
  for (int i = 1; i < argc; ++i) {
    quick = quick || std::string(argv[i]) == "--quick";
    if (argv[i][0] != '-') python = argv[i];
  }
  const int repeats = quick ? 2 : 5;
  const Case given(quick ? 96 : 320);
  const auto registry = experts::Registry::read(Comm::self(), given.path);

  // A request whose expert is in memory, and one that loads it: from the registry, from its own file.
  experts::ExpertCache warm(registry, "dpmd", {std::size_t{1} << 30, {}, 0, "budget"}, opened);
  std::vector<double> from_host, loading, reading;
  for (const int expert : given.requests) static_cast<void>(warm.hold(expert));
  for (std::size_t i = 0; i < given.requests.size() / 2; ++i) {
    double begin = now_ms();
    {
      const auto hold = warm.hold(given.requests[i]);
      static_cast<void>(answer(hold.get()));
    }
    from_host.push_back(now_ms() - begin);
    begin = now_ms();
    static_cast<void>(answer(opened(registry.name_of(given.requests[i])).get()));
    loading.push_back(now_ms() - begin);
    begin = now_ms();
    static_cast<void>(potential::read_dp(registry.name_of(given.requests[i])));
    reading.push_back(now_ms() - begin);
  }
  const double host = median(from_host), load = median(loading), read = median(reading);
  fmt::print(
      "a request (27 atoms), median CPU time: expert in memory {:.3f} ms, loaded for it {:.3f} ms, of which "
      "{:.3f} to read it, most of the rest for tables of its embedding: {:.1f} x\n",
      host, load, read, load / host);
  const auto [torch_load, torch_call] = torch_ms(python, 44033, quick ? 20 : 60);
  if (torch_load > 0)
    fmt::print(
        "torch.jit.load of a network of 44033 parameters and a call: {:.3f} ms; the call alone {:.3f} ms\n",
        torch_load, torch_call);
  else
    fmt::print("torch is not there: no peer\n");

  // Batches of 16 while a third of the experts fit.
  std::size_t all = 0, bytes = 0;
  for (const auto& expert : registry.experts()) {
    all += expert.memory;
    bytes = std::max<std::size_t>(bytes, expert.bytes);
  }
  const std::size_t budget = all / 3 + bytes;
  Batches in_order{1e30, 0}, together{1e30, 0};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto a = serve(registry, budget, given.requests, false),
               b = serve(registry, budget, given.requests, true);
    if (a.ms < in_order.ms) in_order = a;
    if (b.ms < together.ms) together = b;
  }
  fmt::print(
      "{} requests in batches of 16, a third of 12 experts fits: in order {:.0f} ms ({} misses), grouped "
      "{:.0f} ms ({} misses): {:.2f} x\n",
      given.requests.size(), in_order.ms, in_order.misses, together.ms, together.misses,
      in_order.ms / together.ms);
  const auto row = [](const char* name, double ours, double peer) {
    return fmt::format(
        "{{\"bench\": \"serving_experts\", \"case\": \"{}\", \"ours\": {:.4g}, \"peer\": {:.4g}, "
        "\"ratio\": {:.4g}, \"unit\": \"ms\"}}",
        name, ours, peer, peer / ours);
  };
  std::vector<std::string> rows{row("request: in memory, loaded for it", host, load),
                                row("request: in memory, read for it", host, read),
                                row("batches: grouped, in order", together.ms, in_order.ms)};
  if (torch_load > 0) rows.push_back(row("request: in memory, torch.jit.load", host, torch_load));
  fmt::print("[{}]\n", fmt::join(rows, ", "));
}
