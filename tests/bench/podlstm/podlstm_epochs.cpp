#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/core_rate.hpp"
#include "physics/kernels/gemm.hpp"
#include "physics/kernels/gemm_bf16.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/sequence/training/training.hpp"

/// Epochs of training stacked LSTMs: ours beside PyTorch's, in C++ (at::lstm, automatic differentiation,
/// fused Adam) and in Python (nn.LSTM, the same Adam; where .venv has it), on one thread. With --bf16 ours
/// rounds the factors of products, the peer computes in float32, and in Python under autocast, too.
///
/// 330 windows of 8 x 5 -> 8 x 5 in batches of 64, LSTM-80 once, three and five times, and LSTM(5). An epoch
/// is what `train()` does in one: order, batches, gradients, Adam. Sides take turns, CPU time of the process,
/// the least of the repeats. See --help.
namespace quintet::sequence {
namespace {

constexpr int steps = 8, n_modes = 5;
/// What the least time is taken of.
struct Arguments {
  std::vector<int> depths = {1, 3, 5};
  int units = 80, windows = 330, batch = 64, repeats = 15;
  bool python = true, peer = true;
  Precision precision = Precision::float32;
};

/// Flops a second of our product, in the sizes of LSTM-80's.
template <class Real>
double gemm_flops(int units) {
  const int rows = 512, k = 2 * units, n = 4 * units;
  const std::vector<double> right(std::int64_t{k} * n, 0.01);
  const PackedMatrix<Real> b(right.data(), k, n);
  AlignedVector<Real> a(std::int64_t{rows} * k, Real(0.1)), c(std::int64_t{rows} * b.stride());
  double best = 1e30;
  for (int repeat = 0; repeat < 300; ++repeat)
    best = std::min(best, timed([&] { multiply(a.data(), k, rows, b, c.data(), b.stride()); }));
  return 2.0 * rows * k * n / best;
}

/// Flops of the products of an epoch: forward, gradients of weights and states, of inputs but for the first
/// layer's.
double epoch_flops(const Arguments& a, int depth) {
  double flops = 0;
  for (int layer = 0; layer <= depth; ++layer) {
    const double in = layer == 0 ? n_modes : a.units, n = layer == depth ? n_modes : a.units;
    flops += 2 * 4 * n * (3 * (in + n) - (layer == 0 ? in : 0));
  }
  return flops * a.windows * steps;
}

struct Data {
  std::vector<double> inputs, targets;
  explicit Data(int n) {
    for (int b = 0; b < n; ++b)
      for (int t = 0; t < 2 * steps; ++t)
        for (int i = 0; i < n_modes; ++i)
          (t < steps ? inputs : targets).push_back(0.5 + 0.4 * std::sin((0.11 + 0.07 * i) * (7 * b + t)));
  }
};

/// The peer in C++: layers of at::lstm on leaves of their own.
class Peer {
 public:
  Peer(const Arguments& a, int depth, const Data& data) : a_(a) {
    type_ = a.precision == Precision::float64 ? at::kDouble : at::kFloat;
    inputs_ = at::tensor(at::ArrayRef<double>(data.inputs)).view({a.windows, steps, n_modes}).to(type_);
    targets_ = at::tensor(at::ArrayRef<double>(data.targets)).view({a.windows, steps, n_modes}).to(type_);
    for (int layer = 0; layer <= depth; ++layer) {
      const int in = layer == 0 ? n_modes : a.units, n = layer == depth ? n_modes : a.units;
      widths_.push_back(n);
      for (const auto& shape :
           std::vector<std::vector<std::int64_t>>{{4 * n, in}, {4 * n, n}, {4 * n}, {4 * n}})
        parameters_.push_back(
            (at::rand(shape, at::TensorOptions().dtype(type_)) * 2 - 1).div_(std::sqrt(n)).requires_grad_());
    }
    for (const auto& parameter : parameters_) {
      moment1_.push_back(at::zeros_like(parameter.detach()));
      moment2_.push_back(at::zeros_like(parameter.detach()));
      counts_.push_back(at::zeros({}, at::kFloat));
    }
  }

  double epoch() {
    const at::Tensor order = at::randperm(a_.windows);
    double sum = 0;
    for (int first = 0; first < a_.windows; first += a_.batch) {
      const int n = std::min(a_.batch, a_.windows - first);
      const at::Tensor some = order.narrow(0, first, n);
      at::Tensor x = inputs_.index_select(0, some);
      for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
        const at::Tensor zero = at::zeros({1, n, widths_[layer]}, at::TensorOptions().dtype(type_));
        x = std::get<0>(at::lstm(x, {zero, zero}, at::TensorList(&parameters_[4 * layer], 4), true, 1, 0.0,
                                 true, false, true));
      }
      const at::Tensor loss = at::mse_loss(x, targets_.index_select(0, some));
      auto gradients = torch::autograd::grad({loss}, parameters_);
      sum += loss.item<double>();
      const at::NoGradGuard guard;
      for (auto& count : counts_) count += 1;
      at::_fused_adam_(parameters_, gradients, moment1_, moment2_, {}, counts_, 1e-3, 0.9, 0.999, 0.0, 1e-8,
                       false, false);
    }
    return sum;
  }

 private:
  Arguments a_;
  at::ScalarType type_;
  at::Tensor inputs_, targets_;
  std::vector<at::Tensor> parameters_, moment1_, moment2_, counts_;
  std::vector<int> widths_;
};

/// Seconds an epoch of PyTorch in Python, or infinity where there is none.
double python_epoch(const Arguments& a, int depth, const char* precision) {
  const std::string command =
      fmt::format("OMP_NUM_THREADS=1 {} {} {} {} {} {} {} {} 2>/dev/null", QUINTET_PYTHON, QUINTET_PEER,
                  depth, a.units, a.windows, a.batch, a.repeats, precision);
  double seconds = HUGE_VAL;
  if (std::FILE* pipe = popen(command.c_str(), "r")) {
    if (std::fscanf(pipe, "%lf", &seconds) != 1) seconds = HUGE_VAL;
    pclose(pipe);
  }
  return seconds;
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&] { return std::atoi(i + 1 < argc ? argv[++i] : "0"); };
    if (flag == "--quick")
      a.repeats = 5;
    else if (flag == "--repeat")
      a.repeats = value();
    else if (flag == "--depth")
      a.depths = {value()};
    else if (flag == "--units")
      a.units = value();
    else if (flag == "--batch")
      a.batch = value();
    else if (flag == "--double")
      a.precision = Precision::float64;
    else if (flag == "--bf16")
      a.precision = Precision::bf16;
    else if (flag == "--no-python")
      a.python = false;
    else if (flag == "--no-peer")
      a.python = a.peer = false;
    else
      throw UsageError(
          "podlstm_epochs [--quick] [--repeat N] [--depth N] [--units N] [--batch N] [--double | --bf16] "
          "[--no-python] "
          "[--no-peer]");
  }
  return a;
}

void run(const Arguments& a) {
  const bool single = a.precision != Precision::float64;
  const double peak = single ? measure_core<float>().peak : measure_core<double>().peak;
  const double gemm = single ? gemm_flops<float>(a.units) : gemm_flops<double>(a.units);
  fmt::print("one core: {:.1f} GFLOP/s of multiply-adds in registers, {:.1f} of our product ({})\n",
             peak / 1e9, gemm / 1e9, name_of(a.precision));
  std::vector<std::string> rows;
  for (const int depth : a.depths) {
    const Data data(a.windows);
    Architecture architecture{
        n_modes, std::vector<Node>(depth, {NodeKind::lstm, a.units}), {}, Head::lstm, n_modes, steps};
    TrainingOptions options;
    options.epochs = 1 << 30;
    options.batch = a.batch;
    options.precision = a.precision;
    options.keep_best = false;
    Trainer ours(architecture, steps, {a.windows, data.inputs, data.targets}, {}, options, 1);
    Peer peer(a, depth, data);
    double best = HUGE_VAL, best_peer = HUGE_VAL;
    const Bracket<double> bracket;
    for (int repeat = 0; repeat < a.repeats; ++repeat) {
      for (int again = 0; again < 3; ++again)  // ours is short
        best = std::min(best, timed([&] { ours.advance(); }));
      if (a.peer) best_peer = std::min(best_peer, timed([&] { (void)peer.epoch(); }));
    }
    const double slots = Bracket<double>::share_of_slots(bracket.close());
    const bool rounds = a.precision == Precision::bf16;
    const char* peers = a.precision == Precision::float64 ? "float64" : "float32";
    const double python = a.python ? python_epoch(a, depth, peers) : HUGE_VAL,
                 autocast = a.python && rounds ? python_epoch(a, depth, "bf16") : HUGE_VAL;
    const double fastest = std::min(best_peer, python), flops = epoch_flops(a, depth);
    fmt::print(
        "LSTM-{} x {} + LSTM({}): ours {:.2f} ms, {:.0f} % of the peak ({:.2f} ms at the peak, {:.2f} at our "
        "product's rate); "
        "PyTorch in C++ {:.2f} ms, in Python {:.2f} ms; {:.2f} x; {:.0f} % of the slots of issue\n",
        a.units, depth, n_modes, 1e3 * best, 100 * flops / best / peak, 1e3 * flops / peak,
        1e3 * flops / gemm, 1e3 * best_peer, 1e3 * python, fastest / best, 100 * slots);
    if (rounds)
      fmt::print("  ours {}; PyTorch in Python under autocast to bfloat16 {:.2f} ms, {:.2f} x\n",
                 doc_of(bf16_unit()), 1e3 * autocast, autocast / best);
    std::fflush(stdout);
    if (std::isfinite(fastest))
      rows.push_back(fmt::format(
          R"({{"bench": "podlstm_epochs", "case": "LSTM-{} x {} + LSTM({}), batch {}, {} windows, {}", "ours": {:.5g}, "peer": {:.5g}, "ratio": {:.4g}, "unit": "CPU s/epoch", "share_of_peak": {:.3f}, "gflops": {:.2f}, "issue_slots": {:.3f}}})",
          a.units, depth, n_modes, a.batch, a.windows, name_of(a.precision), best, fastest, fastest / best,
          flops / best / peak, flops / best / 1e9, slots));
  }
  fmt::print("[{}]\n", fmt::join(rows, ", "));
}

}  // namespace
}  // namespace quintet::sequence

int main(int argc, char** argv) {
  try {
    const auto arguments = quintet::sequence::parse(argc, argv);
    const quintet::Runtime runtime(argc, argv, 1, {quintet::torch_subsystem()});
    quintet::sequence::run(arguments);
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
