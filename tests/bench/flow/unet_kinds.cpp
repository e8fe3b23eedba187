#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/core_rate.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/flow/encoder/unet.hpp"
#include "surrogates/flow/training/flow_trainer.hpp"
#include "tests/bench/flow/paper_case.hpp"

/// Kinds of the U-Net's residual blocks beside convolutions, at the paper's sizes: the U-Net forward and
/// backward, then a whole step of training (with equations), batches of two and ten crops. CPU time of one
/// thread, kinds in turn, least of many.
///
///     unet_kinds [--quick]
namespace quintet::flow {
namespace {

struct Kind {
  ResidualMiddle middle;
  const char* name;
};
constexpr std::array kinds = {Kind{ResidualMiddle::convolution, "convolution"},
                              Kind{ResidualMiddle::perturb, "perturb"},
                              Kind{ResidualMiddle::pointwise, "pointwise"}};
using Times = std::array<double, kinds.size()>;

template <class Body>
Times timed_in_turn(int rounds, Body&& body) {
  Times best;
  best.fill(1e30);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const double start = cpu_seconds();
      body(kind);
      best[kind] = std::min(best[kind], cpu_seconds() - start);
    }
  return best;
}

void add_rows(std::vector<std::string>& rows, const std::string& what, int batch, const Times& times) {
  for (std::size_t kind = 1; kind < kinds.size(); ++kind) {
    fmt::print("{}, {} crops, {}: {:.4g} ms, convolution {:.4g} ms: {:.2f} x\n", what, batch,
               kinds[kind].name, 1e3 * times[kind], 1e3 * times[0], times[0] / times[kind]);
    rows.push_back(fmt::format(
        R"({{"bench": "unet_kinds", "case": "{}, {} crops, {}", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "s"}})",
        what, batch, kinds[kind].name, times[kind], times[0], times[kind] / times[0]));
  }
}

void unets(int batch, int rounds, std::vector<std::string>& rows) {
  at::manual_seed(3);
  const at::Tensor input = at::randn({batch, 4, 4, 16, 16}), weight = at::randn({batch, 4, 16, 16, 32});
  struct Case {
    Unet unet;
    at::Tensor parameters, statistics;
  };
  std::vector<Case> cases;
  for (const auto& kind : kinds) {
    UnetOptions options;
    options.middle = kind.middle;
    Unet unet(options);
    cases.push_back({unet, at::tensor(unet.initial_parameters(1), at::kFloat).set_requires_grad(true),
                     at::tensor(unet.initial_statistics(), at::kDouble)});
    if (batch == 2) fmt::print("{}: {} parameters\n", kind.name, unet.n_parameters());
  }
  add_rows(rows, "U-Net forward and backward", batch, timed_in_turn(rounds, [&](std::size_t kind) {
             auto& [unet, parameters, statistics] = cases[kind];
             (unet.train(Comm::self(), parameters, input, statistics) * weight).sum().backward();
           }));
}

void steps(int batch, int rounds, std::vector<std::string>& rows) {
  const Batch crops = paper_batch(0, batch);
  std::vector<std::unique_ptr<FlowTrainer<float>>> trainers;
  for (const auto& kind : kinds) {
    FlowModelHeader header = paper_header();
    header.options.encoder.block = kind.middle;
    FlowTrainerOptions options;
    options.batch = batch;
    trainers.push_back(std::make_unique<FlowTrainer<float>>(Comm::self(), FlowModel{header, {}, {}}, options,
                                                            std::vector<std::vector<double>>{{1, 1e6}}));
  }
  std::int64_t step = 0;
  add_rows(rows, "step of training", batch, timed_in_turn(rounds, [&](std::size_t kind) {
             static_cast<void>(trainers[kind]->step(crops, step++, 1e-5));
           }));
}

void run(bool quick) {
  std::vector<std::string> rows;
  for (const int batch : {2, 10}) unets(batch, quick ? 5 : 20, rows);
  for (const int batch : {2, 10})
    if (!quick || batch == 2) steps(batch, quick ? 2 : 5, rows);
  fmt::print("[{}]\n", fmt::join(rows, ",\n"));
}

}  // namespace
}  // namespace quintet::flow

int main(int argc, char** argv) {
  using namespace quintet;
  try {
    const bool quick = argc == 2 && std::string(argv[1]) == "--quick";
    if (argc > 1 && !quick) throw UsageError("unet_kinds [--quick]");
    const Runtime runtime(argc, argv, 1, {torch_subsystem()});
    flow::run(quick);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
