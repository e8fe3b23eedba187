#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/aligned.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/split_bf16.hpp"

/// A step of Adam on one thread: ours, torch's fused one (at::_fused_adam_) and torch's operators one by one,
/// as torch::optim::Adam applies them. Sides take turns, least wall time of many; bytes a parameter: 28
/// (theta, m, v read and written, g read), ours 32 (it clears g, too). The parameters after the steps are
/// compared. Then steps of parameters in halves, Adam (32 bytes) and SGD (16), beside a copy (std::copy, 8)
/// of as many floats; halves joined are compared with the floats' steps bit by bit.
///
///     training_optimiser [--quick] [--n NUMBERS]
namespace quintet {
namespace {

double seconds(const std::function<void()>& step) {
  const auto begin = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

at::Tensor on(AlignedVector<float>& values) {
  return at::from_blob(values.data(), {std::ssize(values)}, at::kFloat);
}

struct Arrays {
  AlignedVector<float> theta, gradient, moment1, moment2;
  explicit Arrays(std::size_t n) : theta(n), gradient(n), moment1(n), moment2(n) {
    for (std::size_t i = 0; i < n; ++i) theta[i] = std::sin(0.1f * i);
  }
};

void run(std::size_t n, int rounds) {
  const OptimiserOptions adam;
  const double rate = 1e-3;
  Arrays ours(n), fused(n), plain(n);
  AlignedVector<float> gradient(n);
  for (std::size_t i = 0; i < n; ++i) gradient[i] = std::cos(0.37f * i);
  at::Tensor theta = on(fused.theta), g = on(fused.gradient), m = on(fused.moment1), v = on(fused.moment2);
  const at::Tensor count = at::zeros({}, at::kFloat);
  at::Tensor p_theta = on(plain.theta), p_g = on(plain.gradient), p_m = on(plain.moment1),
             p_v = on(plain.moment2);
  double best[3] = {1e30, 1e30, 1e30};
  for (int t = 1; t <= rounds; ++t) {
    for (auto* each : {&ours, &fused, &plain}) each->gradient = gradient;
    best[0] = std::min(
        best[0], seconds([&] {
          optimiser_step<float>(adam, t, rate, {ours.theta, ours.gradient, {ours.moment1, ours.moment2}});
        }));
    count.fill_(t);
    best[1] = std::min(best[1], seconds([&] {
                         at::_fused_adam_({theta}, {g}, {m}, {v}, {}, {count}, rate, adam.beta1, adam.beta2,
                                          0, adam.epsilon, false, false);
                       }));
    best[2] = std::min(best[2], seconds([&] {
                         p_m.mul_(adam.beta1).add_(p_g, 1 - adam.beta1);
                         p_v.mul_(adam.beta2).addcmul_(p_g, p_g, 1 - adam.beta2);
                         const at::Tensor root =
                             (p_v.sqrt() / std::sqrt(1 - std::pow(adam.beta2, t))).add_(adam.epsilon);
                         p_theta.addcdiv_(p_m, root, -rate / (1 - std::pow(adam.beta1, t)));
                       }));
  }
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i)
    worst = std::max(worst, static_cast<double>(std::abs(ours.theta[i] - fused.theta[i])));
  const double numbers = n;
  const double rates[] = {32e-9 * numbers / best[0], 28e-9 * numbers / best[1], 28e-9 * numbers / best[2]};
  fmt::print(
      "{} parameters: ours {:.3g} ms ({:.3g} GB/s), fused {:.3g} ms ({:.3g}), plain {:.3g} ms ({:.3g}); "
      "largest difference after {} steps {:.2g}\n",
      n, 1e3 * best[0], rates[0], 1e3 * best[1], rates[1], 1e3 * best[2], rates[2], rounds, worst);
  std::vector<std::string> rows;
  const char* peers[] = {"", "torch fused Adam", "torch Adam, operator by operator"};
  for (const int peer : {1, 2})
    rows.push_back(fmt::format(
        R"({{"bench": "training_optimiser", "case": "{} parameters, {}", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "GB/s", "seconds": [{:.4g}, {:.4g}]}})",
        n, peers[peer], rates[0], rates[peer], rates[0] / rates[peer], best[0], best[peer]));
  fmt::print("[{}]\n", fmt::join(rows, ", "));
  if (worst > 1e-5) throw InternalError(fmt::format("ours and torch's differ by {}", worst));
}

/// Halves of theta.
struct Halves {
  AlignedVector<std::uint16_t> high;
  AlignedVector<std::int16_t> low;
  explicit Halves(const AlignedVector<float>& theta) : high(theta.size()), low(theta.size()) {
    for (std::size_t i = 0; i < theta.size(); ++i) {
      high[i] = high_half(theta[i]);
      low[i] = low_half(theta[i]);
    }
  }
};

void run_halves(std::size_t n, int rounds) {
  OptimiserOptions adam, sgd;
  sgd.kind = OptimiserKind::sgd;
  Arrays whole(n), parts(n);
  Halves halves(parts.theta);
  AlignedVector<float> gradient(n);
  for (std::size_t i = 0; i < n; ++i) gradient[i] = std::cos(0.37f * i);
  const auto refill = [&](Arrays& arrays) {
    std::copy(gradient.begin(), gradient.end(), arrays.gradient.begin());
  };
  double step[2] = {1e30, 1e30}, copy = 1e30;
  for (int t = 1; t <= rounds; ++t) {
    for (const int kind : {0, 1}) {
      const OptimiserOptions& options = kind == 0 ? adam : sgd;
      const auto states = [&](Arrays& of) {
        return kind == 0 ? std::array<std::span<float>, 2>{of.moment1, of.moment2}
                         : std::array<std::span<float>, 2>{};
      };
      refill(whole);
      optimiser_step<float>(options, t, 1e-3, {whole.theta, whole.gradient, states(whole)});
      refill(parts);
      step[kind] =
          std::min(step[kind], seconds([&] {
                     optimiser_step(options, t, 1e-3,
                                    SplitSlices{halves.high, halves.low, parts.gradient, states(parts)});
                   }));
    }
    copy = std::min(copy, seconds([&] { refill(parts); }));
  }
  for (std::size_t i = 0; i < n; ++i)
    if (joined(halves.high[i], halves.low[i]) != whole.theta[i])
      throw InternalError(fmt::format("number {} has other bits in halves", i));
  const double numbers = n;
  const double copied = 8e-9 * numbers / copy,
               rates[] = {32e-9 * numbers / step[0], 16e-9 * numbers / step[1]};
  fmt::print(
      "halves: Adam {:.3g} ms ({:.3g} GB/s), SGD {:.3g} ms ({:.3g}), a copy {:.3g} ms ({:.3g}): {:.3g} and "
      "{:.3g} of its rate\n",
      1e3 * step[0], rates[0], 1e3 * step[1], rates[1], 1e3 * copy, copied, rates[0] / copied,
      rates[1] / copied);
  std::vector<std::string> rows;
  const char* names[] = {"Adam", "SGD"};
  for (const int kind : {0, 1})
    rows.push_back(fmt::format(
        R"({{"bench": "training_optimiser", "case": "{} parameters in halves, {} beside a copy", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "GB/s"}})",
        n, names[kind], rates[kind], copied, rates[kind] / copied));
  fmt::print("[{}]\n", fmt::join(rows, ", "));
}

}  // namespace
}  // namespace quintet

int main(int argc, char** argv) {
  try {
    std::size_t n = 20000000;
    int rounds = 20;
    for (int i = 1; i < argc; ++i) {
      const std::string flag = argv[i];
      if (flag == "--quick")
        rounds = 4;
      else if (flag == "--n" && i + 1 < argc)
        n = std::stoul(argv[++i]);
      else
        throw quintet::UsageError("training_optimiser [--quick] [--n NUMBERS]");
    }
    const quintet::Runtime runtime(argc, argv, 1, {quintet::torch_subsystem()});
    quintet::run(n, rounds);
    quintet::run_halves(n, rounds);
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
