#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/transforms/frame_transform.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"

/// Frames of a signal of 2^20 samples in double precision on one thread: ShortTimeFourier beside at::stft,
/// ConstantQ beside at::conv1d with the same kernels, which is how nnAudio's CQT1992v2 goes about it. Sides
/// take turns, least wall time; results are compared.
///
///     transforms_frames [--quick]
namespace quintet {
namespace {

using Numbers = std::vector<std::complex<double>>;

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A row of the table; throws InternalError where the results differ.
std::string compare(const std::string& name, int rounds, const std::function<void()>& ours,
                    const std::function<void()>& peers, const std::function<double()>& difference) {
  double best[2] = {1e30, 1e30};
  for (int round = 0; round < rounds; ++round) {
    best[0] = std::min(best[0], seconds(ours));
    best[1] = std::min(best[1], seconds(peers));
  }
  const double worst = difference();
  fmt::print("{}: ours {:.3g} ms, torch {:.3g} ms; largest difference {:.2g}\n", name, 1e3 * best[0],
             1e3 * best[1], worst);
  if (!(worst < 1e-9)) throw InternalError(fmt::format("{}: ours and torch's differ by {}", name, worst));
  return fmt::format(
      R"({{"bench": "transforms_frames", "case": "{}", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "s"}})",
      name, best[0], best[1], best[0] / best[1]);
}

/// Largest difference, relative to the largest number.
double difference(const Numbers& a, const Numbers& b) {
  double worst = 0, most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    most = std::max(most, std::abs(a[i]));
  }
  return worst / most;
}

/// torch's [number, frame] of a transform as [frame, number].
Numbers by_frame(const at::Tensor& re, const at::Tensor& im) {
  const at::Tensor both = at::stack({re.t(), im.t()}, -1).contiguous();
  const auto* const first = both.data_ptr<double>();
  Numbers numbers;
  for (std::int64_t i = 0; i < both.numel(); i += 2) numbers.emplace_back(first[i], first[i + 1]);
  return numbers;
}

int frames_of(const std::vector<double>& signal, int width, int hop) {
  return (static_cast<int>(signal.size()) - width) / hop + 1;
}

std::string fourier(std::vector<double>& signal, int n, int rounds) {
  const int hop = n / 4, frames = frames_of(signal, n, hop);
  ShortTimeFourier transform(n, 1.0);
  Numbers out(std::int64_t{frames} * transform.size());
  const at::Tensor x = at::from_blob(signal.data(), {std::ssize(signal)}, at::kDouble);
  const at::Tensor window = at::hann_window(n, at::kDouble);
  at::Tensor theirs;
  return compare(
      fmt::format("Fourier, {} samples", n), rounds,
      [&] { transform.transform(signal.data(), hop, frames, out.data()); },
      [&] { theirs = at::stft(x, n, hop, n, window, false, true, true); },
      [&] { return difference(out, by_frame(at::real(theirs), at::imag(theirs))); });
}

std::string constant_q(std::vector<double>& signal, int bins, int rounds) {
  ConstantQ transform({.rate = 1, .lowest = 0.01, .n_bins = bins, .bins_per_octave = 12});
  const int n = transform.width(), hop = 128, frames = frames_of(signal, n, hop);
  Numbers out(std::int64_t{frames} * bins);
  const at::Tensor x = at::from_blob(signal.data(), {1, 1, std::ssize(signal)}, at::kDouble);
  // The kernels are the transform of unit pulses.
  at::Tensor re = at::zeros({bins, 1, n}, at::kDouble), im = at::zeros_like(re);
  Numbers one(bins);
  std::vector<double> pulse(n);
  for (int j = 0; j < n; ++j) {
    pulse[j] = 1;
    transform.transform(pulse.data(), 1, 1, one.data());
    pulse[j] = 0;
    for (int k = 0; k < bins; ++k) {
      re.data_ptr<double>()[std::ptrdiff_t{k} * n + j] = one[k].real();
      im.data_ptr<double>()[std::ptrdiff_t{k} * n + j] = one[k].imag();
    }
  }
  at::Tensor their_re, their_im;
  return compare(
      fmt::format("constant-Q, {} bins in frames of {}", bins, n), rounds,
      [&] { transform.transform(signal.data(), hop, frames, out.data()); },
      [&] {
        their_re = at::conv1d(x, re, {}, hop);
        their_im = at::conv1d(x, im, {}, hop);
      },
      [&] { return difference(out, by_frame(their_re[0], their_im[0])); });
}

void run(int rounds) {
  std::vector<double> signal(std::size_t{1} << 20);
  for (std::size_t i = 0; i < signal.size(); ++i) signal[i] = std::sin(0.01 * i) + 0.3 * std::cos(1.7 * i);
  std::vector<std::string> rows;
  for (const int n : {64, 256, 1024, 2048, 4096}) rows.push_back(fourier(signal, n, rounds));
  for (const int bins : {24, 60}) rows.push_back(constant_q(signal, bins, std::max(2, rounds / 5)));
  fmt::print("[{}]\n", fmt::join(rows, ",\n"));
}

}  // namespace
}  // namespace quintet

int main(int argc, char** argv) {
  using namespace quintet;
  try {
    const bool quick = argc == 2 && std::string(argv[1]) == "--quick";
    if (argc > 1 && !quick) throw UsageError("transforms_frames [--quick]");
    const Runtime runtime(argc, argv, 1, {torch_subsystem()});
    run(quick ? 5 : 20);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
