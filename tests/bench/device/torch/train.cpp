#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <c10/core/AutogradState.h>
#include <torch/torch.h>

#include "surrogates/potential/training/torch/library/torch_steps.hpp"
#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/torch/train_case.hpp"

/// Steps of a Deep Potential's training by LibTorch, on a GPU where there is one, alone.
///
///   device_train CASE check        predictions and gradients beside those of our kernels, and of steps that
///                                  are replayed beside first steps
///   device_train CASE time STEPS   a step without Adam: parameters there, gradient back, of 1 to 16 frames
///
/// CASE comes from build/tests/bench/dpmd_train_case. Each measurement is one JSON object a line.
namespace {

using namespace train_case;

c10::Device device() {
  return torch::cuda::is_available() ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
}

template <class A, class B>
double largest_difference(const A& a, const B& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (const double d = std::abs(double(a[i]) - double(b[i])); !(d <= most)) most = d;
  return most;
}
template <class A>
double largest(const A& values) {
  double most = 0;
  for (const auto value : values) most = std::max(most, std::abs(double(value)));
  return most;
}

using Frames = std::vector<std::shared_ptr<const KeptRows>>;

template <class Real>
struct Found {
  std::vector<Prediction> predictions;
  std::vector<Real> gradient;
};
/// One step of frames, each with the adjoint of the case.
template <class Real>
Found<Real> step(TorchSteps<Real>& steps, const Step<Real>& s, const Frames& frames) {
  const std::vector<Adjoint> adjoints(frames.size(), s.adjoint);
  Found<Real> found{std::vector<Prediction>(frames.size()), std::vector<Real>(s.parameters.size(), Real(0))};
  steps.refresh(s.parameters.data());
  steps.predict(frames, found.predictions, true);
  steps.differentiate(adjoints);
  steps.collect(found.gradient.data());
  return found;
}

/// Largest difference of two steps, as a part of each quantity's largest number.
template <class Real>
double difference(const Found<Real>& a, const Found<Real>& b) {
  double most = largest_difference(a.gradient, b.gradient) / largest(b.gradient);
  for (std::size_t f = 0; f < b.predictions.size(); ++f) {
    const auto &p = a.predictions[f], &q = b.predictions[f];
    most = std::max({most, std::abs(p.energy - q.energy) / std::abs(q.energy),
                     largest_difference(p.force, q.force) / largest(q.force),
                     largest_difference(p.virial, q.virial) / largest(q.virial)});
  }
  return most;
}

/// Steps whose shape came before, with other frames, parameters and adjoints, beside the first ones of new
/// TorchSteps: the largest difference. Every shape comes four times, two of them in turn.
template <class Real>
double replayed(const NetworkShapes& shapes, const Step<Real>& s) {
  Step<Real> other = s;
  for (auto& number : other.parameters) number *= Real(0.9);
  for (auto& number : other.rows.row) number *= Real(1.02);
  for (auto& number : other.rows.slope) number *= 0.97;
  for (auto& number : other.rows.separation) number *= 1.03;
  for (auto& number : other.adjoint.force) number *= -0.7;
  other.adjoint.energy = -1.7;
  for (auto& number : other.adjoint.virial) number += 0.4;
  const auto steps = make_torch_steps<Real>(shapes, device());
  double most = 0;
  for (int again = 0; again < 4; ++again)
    for (const std::size_t n : {1, 3}) {
      const Step<Real>& now = again % 2 == 0 ? s : other;
      const auto frames_of = [&](TorchSteps<Real>& of) {
        Frames frames;
        for (std::size_t f = 0; f < n; ++f)
          frames.push_back(of.keep((f + again) % 2 == 0 ? s.rows : other.rows));
        return frames;
      };
      const auto first = make_torch_steps<Real>(shapes, device());
      most = std::max(most,
                      difference(step(*steps, now, frames_of(*steps)), step(*first, now, frames_of(*first))));
    }
  if (const std::string notice = steps->take_notice(); !notice.empty()) {
    std::fprintf(stderr, "device_train: steps are not recorded: %s\n", notice.c_str());
    return 1e300;
  }
  return most;
}

template <class Real>
bool check(const NetworkShapes& shapes, const Step<Real>& s, const char* precision, double tolerance) {
  const auto steps = make_torch_steps<Real>(shapes, device());
  const auto rows = steps->keep(s.rows);
  const auto one = step(*steps, s, {rows}), again = step(*steps, s, {rows}),
             three = step(*steps, s, Frames(3, rows));
  const auto& p = one.predictions.front();
  const double energy = std::abs(p.energy - s.prediction.energy) / std::abs(s.prediction.energy),
               force = largest_difference(p.force, s.prediction.force) / largest(s.prediction.force),
               virial = largest_difference(p.virial, s.prediction.virial) / largest(s.prediction.virial),
               gradient = largest_difference(one.gradient, s.gradient) / largest(s.gradient);
  double together = 0;  // the gradient of three frames that are one is three times its
  for (std::size_t i = 0; i < s.gradient.size(); ++i)
    together = std::max(together, std::abs(double(three.gradient[i]) / 3 - double(one.gradient[i])));
  together /= largest(s.gradient);
  const bool repeats = one.gradient == again.gradient && p.force == again.predictions.front().force;
  const double as_first = replayed(shapes, s);
  const bool good =
      std::max({energy, force, virial, gradient, together}) < tolerance && repeats && as_first <= 1e-15;
  std::printf(
      "{\"device\": \"%s\", \"precision\": \"%s\", \"energy\": %.2e, \"force\": %.2e, \"virial\": %.2e, "
      "\"gradient\": %.2e, \"three_frames\": %.2e, \"repeats_to_the_bit\": %s, \"replayed\": %.2e, \"ok\": "
      "%s}\n",
      device().str().c_str(), precision, energy, force, virial, gradient, together,
      repeats ? "true" : "false", as_first, good ? "true" : "false");
  return good;
}

template <class Real>
void time(const NetworkShapes& shapes, const Step<Real>& s, const char* precision, int n_steps) {
  const auto steps = make_torch_steps<Real>(shapes, device());
  const auto rows = steps->keep(s.rows);
  for (const std::size_t n : {1, 4, 16}) {
    std::vector<double> ms;
    for (int i = -3; i < n_steps; ++i) {  // collect() has the gradient on the host: the device is done
      const auto begin = std::chrono::steady_clock::now();
      static_cast<void>(step(*steps, s, Frames(n, rows)));
      const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
      if (i >= 0) ms.push_back(elapsed.count());
    }
    std::sort(ms.begin(), ms.end());
    std::printf(
        "{\"device\": \"%s\", \"precision\": \"%s\", \"frames\": %zu, \"atoms\": %zu, \"parameters\": %zu, "
        "\"ms_least\": %.3f, \"ms_median\": %.3f}\n",
        device().str().c_str(), precision, n, n * std::int64_t{s.rows.n_atoms}, s.parameters.size(),
        ms.front(), ms[ms.size() / 2]);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || (std::strcmp(argv[2], "check") != 0 && (std::strcmp(argv[2], "time") != 0 || argc < 4))) {
    std::fprintf(stderr, "usage: device_train CASE check | CASE time STEPS\n");
    return 2;
  }
  try {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);  // as TorchDevice
    at::globalContext().setAllowTF32CuBLAS(false);
    const auto c = device_bench::read_cases<Case>(argv[1]);
    if (std::strcmp(argv[2], "time") == 0) {
      time(c.shapes, c.in_double, "double", std::atoi(argv[3]));
      time(c.shapes, c.in_single, "single", std::atoi(argv[3]));
      return 0;
    }
    const bool one = check(c.shapes, c.in_double, "double", 1e-9);
    const bool two = check(c.shapes, c.in_single, "single", 1e-4);
    return one && two ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "device_train: %s\n", error.what());
    return 1;
  }
}
