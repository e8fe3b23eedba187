#include "surrogates/networks/spectral/spectral_layer.hpp"

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/networks/chain.hpp"

namespace quintet::networks {
namespace {

std::vector<double> noise(std::size_t n, unsigned seed = 5) {
  std::mt19937 random(seed);
  std::vector<double> values(n);
  for (double& value : values) value = 2.0 * double(random()) / 4294967296.0 - 1;
  return values;
}

struct Case {
  const char* name;
  SpectralKernels kernels;
  std::vector<double> expected;  ///< [frame][bin]: absolute values of the frozen transform
  int n_frames;
};

constexpr int hop = 5;
constexpr std::size_t n_samples = 160;

std::vector<Case> all_cases(const std::vector<double>& signal) {
  std::vector<Case> cases;
  const auto add = [&](const char* name, FrameTransform& transform, SpectralKernels kernels) {
    const int n = (static_cast<int>(n_samples) - transform.width()) / hop + 1;
    std::vector<std::complex<double>> out(static_cast<std::size_t>(n * transform.size()));
    transform.transform(signal.data(), hop, n, out.data());
    Case one{name, std::move(kernels), {}, n};
    for (const auto& z : out) one.expected.push_back(std::abs(z));
    cases.push_back(std::move(one));
  };
  ShortTimeFourier fourier(24, 1);
  add("fourier", fourier, spectral_kernels(fourier));
  ConstantQ constant_q({.rate = 64, .lowest = 4, .n_bins = 6, .bins_per_octave = 3});
  add("constant_q", constant_q, spectral_kernels(constant_q));
  MelBands mel({.rate = 1, .width = 60, .corner = 0.1, .n_bands = 7});
  add("mel", mel, spectral_kernels(mel, 1));
  return cases;
}

SpectralSpec spec_of(const SpectralKernels& kernels, double floor) {
  return {"spectra", "signal", kernels.width, hop, kernels.n_lines, kernels.n_bands, floor, 0};
}

template <class Real>
void expect_frozen(double tolerance) {
  const auto signal = noise(n_samples);
  const std::vector<Real> x(signal.begin(), signal.end());
  for (const auto& one : all_cases(signal)) {
    SpectralLayer<Real> layer(spec_of(one.kernels, 0));
    EXPECT_EQ(layer.spec().n_parameters(), one.kernels.parameters.size());
    layer.refresh(one.kernels.parameters.data());
    SpectralTape<Real> tape;
    layer.forward(x.data(), n_samples, tape);
    ASSERT_EQ(tape.n, one.n_frames);
    const int n_out = layer.spec().n_out();
    for (int f = 0; f < tape.n; ++f) {
      for (int o = 0; o < n_out; ++o)
        ASSERT_NEAR(tape.y[f * layer.stride() + o], one.expected[f * n_out + o], tolerance)
            << one.name << " " << f << " " << o;
      for (int o = n_out; o < layer.stride(); ++o) ASSERT_EQ(tape.y[f * layer.stride() + o], 0);
    }
  }
}

TEST(SpectralLayer, not_trained_is_the_transform) {
  expect_frozen<double>(1e-12);
  expect_frozen<float>(1e-5);
}

/// A spectral layer in front of a chain: slopes of a loss in kernels, bands, weights and samples.
TEST(SpectralLayer, gradient_is_that_of_finite_differences_through_a_chain) {
  const auto signal = noise(n_samples);
  for (const auto& one : all_cases(signal)) {
    SpectralSpec spec = spec_of(one.kernels, 1e-8);
    spec.first_parameter = 3;  // what others have before
    SpectralLayer<double> layer(spec);
    std::vector<double> parameters(3, 0.0);
    parameters.insert(parameters.end(), one.kernels.parameters.begin(), one.kernels.parameters.end());
    LayerSpec dense{"dense", "spectra", "", spec.n_out(), 4, Activation::tanh, {}};
    dense.place.weight = parameters.size();
    dense.place.bias = dense.place.weight + static_cast<std::size_t>(4 * spec.n_out());
    const auto more = noise(static_cast<std::size_t>(4 * spec.n_out()) + 4, 7);
    for (const double value : more) parameters.push_back(0.3 * value);
    Chain<double> chain("spectra", spec.n_out(), {dense});
    SpectralTape<double> tape;
    Tape<double> behind;
    const auto loss = [&](const std::vector<double>& at, const std::vector<double>& x, Keep keep) {
      layer.refresh(at.data());
      chain.refresh(at.data());
      layer.forward(x.data(), x.size(), tape);
      chain.forward({tape.y.data(), layer.stride()}, tape.n, keep, behind);
      double sum = 0;
      for (int f = 0; f < tape.n; ++f)
        for (int o = 0; o < 4; ++o) {
          const double y = behind.layers.back().y[f * chain.stride() + o];
          sum += 0.5 * y * y * (1 + 0.1 * f);
        }
      return sum;
    };
    (void)loss(parameters, signal, Keep::gradient);
    auto& last = behind.layers.back();
    for (int f = 0; f < tape.n; ++f)
      for (int o = 0; o < chain.stride(); ++o) {
        const auto i = static_cast<std::size_t>(f * chain.stride() + o);
        last.y_bar[i] = o < 4 ? last.y[i] * (1 + 0.1 * f) : 0;
      }
    std::vector<double> gradient(parameters.size(), 0.0), x_bar(signal.size(), 0.0);
    chain.gradient({tape.y.data(), layer.stride()}, behind, gradient.data(),
                   {tape.y_bar.data(), layer.stride()});
    layer.gradient(signal.data(), tape, gradient.data(), x_bar.data());
    const auto expect_slope = [&](std::vector<double> at, std::vector<double> x, bool of_sample,
                                  std::size_t i, double found) {
      double& moved = of_sample ? x[i] : at[i];
      const double start = moved, h = 1e-6;
      moved = start + h;
      const double up = loss(at, x, Keep::gradient);
      moved = start - h;
      const double slope = (up - loss(at, x, Keep::gradient)) / (2 * h);
      EXPECT_NEAR(found, slope, 1e-7 * (1 + std::abs(slope)))
          << one.name << (of_sample ? " sample " : " parameter ") << i;
    };
    EXPECT_EQ(gradient[0], 0);
    for (std::size_t i = 3; i < parameters.size(); i += 17)
      expect_slope(parameters, signal, false, i, gradient[i]);
    for (std::size_t i = 0; i < n_samples; i += 13) expect_slope(parameters, signal, true, i, x_bar[i]);
  }
}

TEST(SpectralLayer, of_a_silent_signal_has_a_finite_gradient) {
  ShortTimeFourier fourier(16, 1);
  const auto kernels = spectral_kernels(fourier);
  for (const double floor : {0.0, 1e-8}) {
    SpectralLayer<double> layer(spec_of(kernels, floor));
    layer.refresh(kernels.parameters.data());
    SpectralTape<double> tape;
    const std::vector<double> silence(64, 0.0);
    layer.forward(silence.data(), silence.size(), tape);
    std::fill(tape.y_bar.begin(), tape.y_bar.end(), 1.0);
    std::vector<double> gradient(kernels.parameters.size(), 0.0), x_bar(64, 0.0);
    layer.gradient(silence.data(), tape, gradient.data(), x_bar.data());
    for (const double value : gradient) EXPECT_EQ(value, 0);
    for (const double value : x_bar) EXPECT_EQ(value, 0);
  }
}

TEST(SpectralLayer, says_what_it_is) {
  MelBands mel({.rate = 1, .width = 60, .corner = 0.1, .n_bands = 7});
  const auto kernels = spectral_kernels(mel, 1);
  const auto description = SpectralLayer<float>(spec_of(kernels, 0)).describe();
  EXPECT_EQ(description.parameters, 2u * 60 * 31 + 31 * 7);
  EXPECT_EQ(description.n_out, 7);
  EXPECT_THROW((void)SpectralLayer<float>(spec_of(kernels, -1)), InputError);
  EXPECT_THROW((void)SpectralLayer<float>(spec_of(kernels, 0)).n_frames(59), InputError);
}

}  // namespace
}  // namespace quintet::networks
