#include "physics/transforms/frame_transform.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "io/log/error.hpp"

namespace quintet {

namespace {

constexpr double pi = std::numbers::pi;

/// Half the length, once it is known to be possible.
int half_of(int n) {
  QUINTET_CHECK(n >= 4 && n % 2 == 0 && Fft::possible(n / 2),
                "a window of {} samples; expected an even number of 4 or more whose prime factors are at "
                "most {}, such as {}",
                n, Fft::most_prime, 2 * Fft::next_possible(std::max(2, n / 2)));
  return n / 2;
}

/// Sums of x_j a_j and x_j b_j for `frames` stretches x, `hop` apart, each in the same fixed order: the
/// kernel is loaded once for all of them.
template <int frames>
void products(const double* x, std::size_t hop, const double* a, const double* b, std::size_t n,
              std::complex<double>* out, std::size_t stride) {
  using Lanes = Pack<double, 8>;
  constexpr std::size_t width = 8, both = 2 * width;
  Lanes re[frames][2] = {}, im[frames][2] = {};
  const auto add = [&](const double* x_here, std::size_t apart, const double* a_here, const double* b_here) {
    for (std::size_t h = 0; h < 2; ++h) {
      const Lanes a_lanes = load<double, 8>(a_here + h * width),
                  b_lanes = load<double, 8>(b_here + h * width);
      for (std::size_t f = 0; f < frames; ++f) {
        const Lanes x_lanes = load<double, 8>(x_here + f * apart + h * width);
        re[f][h] += x_lanes * a_lanes;
        im[f][h] += x_lanes * b_lanes;
      }
    }
  };
  std::size_t j = 0;
  for (; j + both <= n; j += both) add(x + j, hop, a + j, b + j);
  if (j < n) {
    double x_rest[frames][both] = {}, a_rest[both] = {}, b_rest[both] = {};
    for (std::size_t l = 0; j + l < n; ++l) {
      a_rest[l] = a[j + l];
      b_rest[l] = b[j + l];
      for (std::size_t f = 0; f < frames; ++f) x_rest[f][l] = x[f * hop + j + l];
    }
    add(x_rest[0], both, a_rest, b_rest);
  }
  for (std::size_t f = 0; f < frames; ++f)
    out[f * stride] = {horizontal_sum<double, 8>(re[f][0] + re[f][1]),
                       horizontal_sum<double, 8>(im[f][0] + im[f][1])};
}

}  // namespace

std::vector<double> hann_window(int n) {
  std::vector<double> window(n);
  for (int j = 0; j < n; ++j) window[j] = 0.5 - 0.5 * std::cos(2 * pi * j / n);
  return window;
}

ShortTimeFourier::ShortTimeFourier(int n, double rate) : n_(n), fft_(half_of(n)), window_(hann_window(n)) {
  for (int k = 0; k <= n / 2; ++k) {
    frequencies_.push_back(rate * k / n);
    turns_.push_back(std::polar(1.0, -2 * pi * k / n));
  }
  re_.resize(std::int64_t{n / 2} * Fft::lanes);
  im_.resize(re_.size());
  work_.resize(fft_.work_size());
}

double ShortTimeFourier::density(int bin) const {
  const double squares = std::inner_product(window_.begin(), window_.end(), window_.begin(), 0.0),
               rate = frequencies_[1] * n_;
  return (bin == 0 || bin == n_ / 2 ? 1 : 2) / (rate * squares);
}

void ShortTimeFourier::transform(const double* x, std::size_t hop, int n_frames, std::complex<double>* out) {
  const std::size_t half = n_ / 2;
  constexpr std::size_t lanes = Fft::lanes;
  const std::size_t n = n_frames;
  const double* frames[lanes];
  for (std::size_t first = 0; first < n; first += lanes) {
    const std::size_t here = std::min(lanes, n - first);
    // Lanes without a frame repeat the last one: nothing is undefined, and no frame sees its neighbour.
    for (std::size_t l = 0; l < lanes; ++l) frames[l] = x + (first + std::min(l, here - 1)) * hop;
    // In blocks, whose lines stay in the first-level cache while the lanes pass.
    for (std::size_t block = 0; block < half; block += lanes) {
      const std::size_t end = std::min(block + lanes, half);
      for (std::size_t l = 0; l < lanes; ++l)
        for (std::size_t j = block; j < end; ++j) {
          re_[j * lanes + l] = window_[2 * j] * frames[l][2 * j];
          im_[j * lanes + l] = window_[2 * j + 1] * frames[l][2 * j + 1];
        }
    }
    const auto z = fft_.transform(re_.data(), im_.data(), work_.data());
    // Z = E + i O of even and odd samples: X_k = E_k + exp(-2 pi i k/n) O_k.
    for (std::size_t block = 0; block <= half; block += lanes) {
      const std::size_t end = std::min(block + lanes, half + 1);
      alignas(64) double all_re[lanes * lanes], all_im[lanes * lanes];
      for (std::size_t k = block; k < end; ++k) {
        const std::size_t i = (k == half ? 0 : k) * lanes, mirror = (k == 0 ? 0 : half - k) * lanes;
        const auto re = load<double>(z.re + i), im = load<double>(z.im + i);
        const auto mirror_re = load<double>(z.re + mirror), mirror_im = load<double>(z.im + mirror);
        const auto even_re = 0.5 * (re + mirror_re), even_im = 0.5 * (im - mirror_im);
        const auto odd_re = 0.5 * (im + mirror_im), odd_im = 0.5 * (mirror_re - re);
        const double c = turns_[k].real(), s = turns_[k].imag();
        store<double>(all_re + (k - block) * lanes, even_re + c * odd_re - s * odd_im);
        store<double>(all_im + (k - block) * lanes, even_im + c * odd_im + s * odd_re);
      }
      for (std::size_t l = 0; l < here; ++l)
        for (std::size_t k = block; k < end; ++k)
          out[(first + l) * (half + 1) + k] = {all_re[(k - block) * lanes + l],
                                               all_im[(k - block) * lanes + l]};
    }
  }
}

ConstantQ::ConstantQ(const ConstantQOptions& options) : bins_per_octave_(options.bins_per_octave) {
  const double quality = 1 / (std::exp2(1.0 / options.bins_per_octave) - 1);
  const double highest = options.lowest * std::exp2(double(options.n_bins - 1) / options.bins_per_octave);
  QUINTET_CHECK(options.lowest > 0, "a lowest frequency of {:g}; expected one above 0", options.lowest);
  QUINTET_CHECK(
      highest < 0.5 * options.rate,
      "the highest of {} bins from {:.6g} on, {:.6g}, is not below the Nyquist frequency {:.6g}: take "
      "fewer bins, or samples more often",
      options.n_bins, options.lowest, highest, 0.5 * options.rate);
  constexpr double most = 1 << 24;
  const double longest = std::ceil(quality * options.rate / options.lowest);
  QUINTET_CHECK(longest <= most, "the lowest frequency {:.6g} needs a kernel of {:.3g} samples; at most {:g}",
                options.lowest, longest, most);
  width_ = 1;
  while (width_ < longest) width_ *= 2;
  for (int k = 0; k < options.n_bins; ++k) {
    const double frequency = options.lowest * std::exp2(double(k) / options.bins_per_octave);
    const int n = std::ceil(quality * options.rate / frequency), odd = n % 2;
    const auto window = hann_window(n);
    const double sum = std::accumulate(window.begin(), window.end(), 0.0),
                 squares = std::inner_product(window.begin(), window.end(), window.begin(), 0.0);
    densities_.push_back(2 * sum * sum / (n * options.rate * squares));
    const double factor = std::sqrt(double(n)) / sum;
    // ceil(N/2 - n/2) - odd, N even.
    kernels_.push_back({static_cast<std::size_t>(width_ / 2 - n / 2 - odd), re_.size(), window.size()});
    frequencies_.push_back(frequency);
    for (int t = 0; t < n; ++t) {
      const double angle = 2 * pi * frequency / options.rate * (t - (n + 1) / 2);
      re_.push_back(factor * window[t] * std::cos(angle));
      im_.push_back(-factor * window[t] * std::sin(angle));
    }
  }
}

void ConstantQ::transform(const double* x, std::size_t hop, int n_frames, std::complex<double>* out) {
  // Kernel by kernel: it stays in the cache while the frames pass.
  const std::size_t frames = n_frames, bins = kernels_.size();
  for (std::size_t k = 0; k < bins; ++k) {
    const auto& [first, begin, length] = kernels_[k];
    const double *const re = re_.data() + begin, *const im = im_.data() + begin;
    constexpr std::size_t together = 4;
    std::size_t f = 0;
    for (; f + together <= frames; f += together)
      products<together>(x + f * hop + first, hop, re, im, length, out + f * bins + k, bins);
    for (; f < frames; ++f) products<1>(x + f * hop + first, hop, re, im, length, out + f * bins + k, bins);
  }
}

MelBands::MelBands(const MelOptions& options)
    : lines_(options.width, options.rate),
      corner_(options.corner),
      step_(std::log1p(0.5 * options.rate / options.corner) / (options.n_bands + 1)) {
  QUINTET_CHECK(std::isfinite(corner_) && corner_ > 0, "a corner of {:g}; expected a frequency above 0",
                corner_);
  QUINTET_CHECK(options.n_bands >= 1, "{} bands; expected 1 or more", options.n_bands);
  const double apart = options.rate / options.width;
  for (int b = 0; b < options.n_bands; ++b) {
    const double below = frequency_at(b - 1), centre = frequency_at(b), above = frequency_at(b + 1);
    frequencies_.push_back(centre);
    Band band;
    for (std::size_t k = 0; k < lines_.frequencies().size(); ++k) {
      const double f = lines_.frequencies()[k];
      const double weight = std::min((f - below) / (centre - below), (above - f) / (above - centre));
      if (!(weight > 0)) continue;
      if (band.weights.empty()) band.first = k;
      band.weights.push_back(weight);
    }
    QUINTET_CHECK(
        !band.weights.empty(),
        "the mel band from {:.4g} to {:.4g} holds no line of a frame's spectrum, whose lines lie {:.4g} "
        "apart: take a longer window, fewer bins, or a higher corner",
        below, above, apart);
    bands_.push_back(std::move(band));
  }
}

double MelBands::density(int bin) const {
  const auto& weights = bands_[bin].weights;
  return lines_.density(1) / std::accumulate(weights.begin(), weights.end(), 0.0);
}

void MelBands::transform(const double* x, std::size_t hop, int n_frames, std::complex<double>* out) {
  const std::size_t frames = n_frames, n_lines = lines_.frequencies().size();
  work_.resize(frames * n_lines);
  lines_.transform(x, hop, n_frames, work_.data());
  for (std::size_t f = 0; f < frames; ++f)
    for (const auto& [first, weights] : bands_) {
      double power = 0;
      for (std::size_t k = 0; k < weights.size(); ++k)
        power += weights[k] * std::norm(work_[f * n_lines + first + k]);
      *out++ = std::sqrt(power);
    }
}

}  // namespace quintet
