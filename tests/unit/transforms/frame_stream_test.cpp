#include "physics/transforms/frame_stream.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"

using namespace quintet;

namespace {

constexpr double pi = std::numbers::pi;
using Frames = std::vector<std::vector<std::complex<double>>>;

/// All frames of a signal that comes in parts of these lengths, in turn.
Frames frames_of(const std::shared_ptr<FrameTransform>& transform, int hop, FramePlaces places,
                 std::span<const double> signal, const std::vector<std::size_t>& parts) {
  Frames frames;
  const auto keep = [&](std::span<const std::complex<double>> frame) {
    frames.emplace_back(frame.begin(), frame.end());
  };
  FrameStream stream(transform, hop, places);
  for (std::size_t i = 0; !signal.empty(); ++i) {
    const std::size_t n = std::min(signal.size(), parts[i % parts.size()]);
    stream.push(signal.first(n), keep);
    signal = signal.subspan(n);
  }
  stream.finish(keep);
  return frames;
}

Frames whole(const std::shared_ptr<FrameTransform>& transform, int hop, FramePlaces places,
             const std::vector<double>& signal) {
  return frames_of(transform, hop, places, signal, {signal.size()});
}

std::vector<double> noise(std::size_t n) {
  std::mt19937 random(5);
  std::vector<double> values(n);
  for (double& value : values) value = 2.0 * double(random()) / 4294967296.0 - 1;
  return values;
}

std::vector<double> tone(std::size_t n, double cycles_a_sample) {
  std::vector<double> values(n);
  for (std::size_t j = 0; j < n; ++j) values[j] = std::cos(2 * pi * cycles_a_sample * double(j) + 0.4);
  return values;
}

std::shared_ptr<FrameTransform> fourier(int n) { return std::make_shared<ShortTimeFourier>(n, 1.0); }
std::shared_ptr<MelBands> mel(int n = 60, double corner = 0.1, int bands = 9) {
  return std::make_shared<MelBands>(MelOptions{.rate = 1, .width = n, .corner = corner, .n_bands = bands});
}
std::shared_ptr<FrameTransform> constant_q() {
  return std::make_shared<ConstantQ>(
      ConstantQOptions{.rate = 64, .lowest = 4, .n_bins = 6, .bins_per_octave = 3});
}

}  // namespace

/// spectral.json in ../shared/data/training: numpy's transforms, and nnAudio's constant-Q kernels.
TEST(FrameStream, equals_the_reference) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string place =
      std::string(source != nullptr ? source : ".") + "/../shared/data/training/spectral.json";
  if (!std::filesystem::exists(place)) GTEST_SKIP() << "../shared/data/training is not here";
  const Tree reference = read_yaml(place);
  std::vector<double> signal;
  for (const auto& value : reference.at("signal").items()) signal.push_back(value.as_number());
  const auto cqt = constant_q();
  EXPECT_EQ(cqt->width(), 64);
  const Frames bins = whole(cqt, 8, FramePlaces::centred, signal),
               lines = whole(fourier(16), 8, FramePlaces::centred, signal);
  const auto compare = [](const Tree& rows, const Frames& frames, const auto& part) {
    ASSERT_EQ(rows.items().size(), frames.size());
    for (std::size_t f = 0; f < frames.size(); ++f) {
      ASSERT_EQ(rows.items()[f].items().size(), frames[f].size());
      for (std::size_t k = 0; k < frames[f].size(); ++k)
        ASSERT_NEAR(part(frames[f][k]), rows.items()[f].items()[k].as_number(), 1e-12) << f << " " << k;
    }
  };
  const auto size = [](const std::complex<double>& z) { return std::abs(z); };
  compare(reference.at("cqt_real"), bins, [](const std::complex<double>& z) { return z.real(); });
  compare(reference.at("cqt_imag"), bins, [](const std::complex<double>& z) { return z.imag(); });
  compare(reference.at("cqt_magnitude"), bins, size);
  compare(reference.at("stft_magnitude"), lines, size);
}

TEST(FrameStream, frames_are_those_of_the_whole_signal_to_the_bit) {
  const auto signal = noise(700);
  for (const auto places : {FramePlaces::within, FramePlaces::centred})
    for (const int hop : {1, 8, 100})
      for (const std::shared_ptr<FrameTransform>& transform :
           {fourier(60), constant_q(), std::shared_ptr<FrameTransform>(mel())}) {
        const auto expected = whole(transform, hop, places, signal);
        EXPECT_GT(expected.size(), 5U);
        EXPECT_EQ(frames_of(transform, hop, places, signal, {1}), expected) << hop;
        EXPECT_EQ(frames_of(transform, hop, places, signal, {3, 1, 57, 200}), expected) << hop;
      }
}

TEST(ShortTimeFourier, is_the_sum_that_it_stands_for) {
  for (const int n : {4, 6, 10, 16, 60, 128}) {
    const auto signal = noise(n);
    const auto window = hann_window(n);
    const auto frame = whole(fourier(n), 1, FramePlaces::within, signal).at(0);
    ASSERT_EQ(frame.size(), static_cast<std::size_t>(n / 2 + 1));
    for (std::size_t k = 0; k < frame.size(); ++k) {
      std::complex<double> sum = 0;
      for (std::size_t j = 0; j < signal.size(); ++j)
        sum += window[j] * signal[j] * std::polar(1.0, -2 * pi * double(j * k) / n);
      EXPECT_NEAR(std::abs(frame[k] - sum), 0, 1e-13 * n) << n << " " << k;
    }
  }
}

TEST(ShortTimeFourier, keeps_the_energy) {  // Parseval: sum |X|^2 = n sum (w x)^2
  const int n = 120;
  const auto signal = noise(n), window = hann_window(n);
  const auto frame = whole(fourier(n), 1, FramePlaces::within, signal).at(0);
  double lines = 0, samples = 0;
  for (std::size_t k = 0; k < frame.size(); ++k)
    lines += (k == 0 || k + 1 == frame.size() ? 1 : 2) * std::norm(frame[k]);
  for (std::size_t j = 0; j < signal.size(); ++j) samples += std::pow(window[j] * signal[j], 2);
  EXPECT_NEAR(lines, n * samples, 1e-12 * lines);
}

TEST(MelBands, share_the_power_out) {
  const int n = 60;
  const auto signal = noise(n);
  const auto bands = mel(n);
  const auto lines = whole(fourier(n), 1, FramePlaces::within, signal).at(0),
             powers = whole(bands, 1, FramePlaces::within, signal).at(0);
  const auto& centres = bands->frequencies();
  for (std::size_t b = 0; b < centres.size(); ++b) {  // the sum that it stands for
    const auto edge = [&](std::size_t i) {            // band i - 1; evenly on the mel scale
      return 0.1 * std::expm1(double(i) * std::log1p(0.5 / 0.1) / 10);
    };
    EXPECT_NEAR(centres[b], edge(b + 1), 1e-14);
    double sum = 0;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const double f = double(k) / n;
      const double weight = std::max(0.0, std::min((f - edge(b)) / (edge(b + 1) - edge(b)),
                                                   (edge(b + 2) - f) / (edge(b + 2) - edge(b + 1))));
      sum += weight * std::norm(lines[k]);
    }
    EXPECT_NEAR(std::norm(powers[b]), sum, 1e-12);
    EXPECT_EQ(powers[b].imag(), 0);
  }
  // Between the first and the last centre the weights of a line add up to 1.
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (double(k) / n < centres.front() || double(k) / n > centres.back()) continue;
    double sum = 0;
    for (const auto& [first, weights] : bands->bands())
      if (k >= first && k < first + weights.size()) sum += weights[k - first];
    EXPECT_NEAR(sum, 1, 1e-12);
  }
  for (int b = 0; b < bands->size(); ++b) EXPECT_NEAR(bands->frequency_at(b), centres[b], 1e-14);
}

/// librosa 0.11: filters.mel(sr=7000, n_fft=60, n_mels=9, htk=True, norm=None)[4], lines 7 to 11.
TEST(MelBands, are_librosa_s) {
  const auto bands =
      std::make_shared<MelBands>(MelOptions{.rate = 7000, .width = 60, .corner = 700, .n_bands = 9})->bands();
  constexpr double expected[] = {0.2961400014699146, 0.7109222793724694, 0.8949161688846332,
                                 0.5481752727260564, 0.2014343765674788};
  EXPECT_EQ(bands[4].first, 7U);
  ASSERT_EQ(bands[4].weights.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(bands[4].weights[i], expected[i], 1e-13);
}

TEST(MelBands, find_a_tone) {
  const auto frames = whole(mel(240, 0.05, 16), 16, FramePlaces::within, tone(600, 0.125));
  const auto centres = mel(240, 0.05, 16)->frequencies();
  std::size_t greatest = 0;
  for (std::size_t b = 0; b < centres.size(); ++b)
    if (std::abs(frames[3][b]) > std::abs(frames[3][greatest])) greatest = b;
  EXPECT_LT(std::abs(centres[greatest] - 0.125), 0.5 * (centres[greatest + 1] - centres[greatest - 1]));
}

TEST(FrameTransform, frequencies_between_bins_are_on_its_own_scale) {
  const std::vector<std::shared_ptr<FrameTransform>> all{fourier(60), constant_q(), mel()};
  for (const auto& transform : all) {
    for (int k = 0; k < transform->size(); ++k)
      EXPECT_NEAR(transform->frequency_at(k), transform->frequencies()[k], 1e-12);
    EXPECT_GT(transform->frequency_at(1.5), transform->frequencies()[1]);
    EXPECT_LT(transform->frequency_at(1.5), transform->frequencies()[2]);
  }
}

TEST(FrameTransform, is_linear_and_finds_a_tone) {
  const auto a = noise(256), b = tone(256, 0.125);
  std::vector<double> both(256);
  for (std::size_t j = 0; j < 256; ++j) both[j] = 2 * a[j] - 3 * b[j];
  for (const auto& transform : {fourier(32), constant_q()}) {
    const auto of_a = whole(transform, 16, FramePlaces::centred, a),
               of_b = whole(transform, 16, FramePlaces::centred, b),
               of_both = whole(transform, 16, FramePlaces::centred, both);
    for (std::size_t f = 0; f < of_a.size(); ++f)
      for (std::size_t k = 0; k < of_a[f].size(); ++k)
        ASSERT_NEAR(std::abs(of_both[f][k] - 2.0 * of_a[f][k] + 3.0 * of_b[f][k]), 0, 1e-12);
    const auto& middle = of_b[of_b.size() / 2];
    std::size_t greatest = 0;
    for (std::size_t k = 0; k < middle.size(); ++k)
      if (std::abs(middle[k]) > std::abs(middle[greatest])) greatest = k;
    const double rate = transform->width() == 32 ? 1 : 64;
    EXPECT_NEAR(transform->frequencies()[greatest], 0.125 * rate, 1e-12 * rate);
  }
}

TEST(FrameTransform, refuses_what_makes_no_sense) {
  EXPECT_THROW(ShortTimeFourier(15, 1), InputError);
  EXPECT_THROW(ShortTimeFourier(34, 1), InputError);
  EXPECT_THROW(ShortTimeFourier(0, 1), InputError);
  EXPECT_THROW(ConstantQ({.rate = 64, .lowest = 4, .n_bins = 10, .bins_per_octave = 3}), InputError);
  EXPECT_THROW(ConstantQ({.rate = 64, .lowest = 1e-9, .n_bins = 2, .bins_per_octave = 3}), InputError);
  EXPECT_THROW(ConstantQ({.rate = 64, .lowest = 0, .n_bins = 2, .bins_per_octave = 3}), InputError);
  EXPECT_THROW(mel(60, 0), InputError);
  EXPECT_THROW(mel(60, -1), InputError);
  EXPECT_THROW(mel(60, 1e-3), InputError) << "bands that are narrower than lines lie apart";
  EXPECT_THROW(FrameStream(fourier(16), 0, FramePlaces::within), InputError);
  const auto few = noise(8);
  EXPECT_THROW((void)whole(fourier(16), 4, FramePlaces::centred, few), InputError);
}

TEST(FrameTransform, densities_of_white_noise_are_its_variance_over_the_nyquist_frequency) {
  // Unit rate and variance 1/3: S = (1/3)/(1/2) for every bin of every transform.
  const auto signal = noise(200000);
  const std::vector<std::shared_ptr<FrameTransform>> transforms{
      fourier(60), mel(),
      std::make_shared<ConstantQ>(
          ConstantQOptions{.rate = 1, .lowest = 0.02, .n_bins = 30, .bins_per_octave = 8})};
  for (const auto& transform : transforms) {
    const auto frames = whole(transform, 60, FramePlaces::within, signal);
    for (int k = 0; k < transform->size(); ++k) {
      double mean = 0;
      for (const auto& frame : frames) mean += std::norm(frame[std::size_t(k)]) / double(frames.size());
      // The zero frequency and Nyquist's are one-sided by themselves.
      const bool at_end = transform == transforms[0] && (k == 0 || k == transform->size() - 1);
      EXPECT_NEAR(transform->density(k) * mean, at_end ? 1.0 / 3 : 2.0 / 3, at_end ? 0.05 : 0.09) << k;
    }
  }
}

TEST(FrameTransform, fourier_densities_sum_to_the_mean_square_under_the_window) {
  const int n = 60;
  const auto transform = fourier(n);
  const auto signal = noise(n), window = hann_window(n);
  const auto frame = whole(transform, 1, FramePlaces::within, signal).at(0);
  double square = 0, windows = 0, sum = 0;
  for (std::size_t j = 0; j < signal.size(); ++j) {
    square += window[j] * window[j] * signal[j] * signal[j];
    windows += window[j] * window[j];
  }
  for (std::size_t k = 0; k < frame.size(); ++k) sum += transform->density(int(k)) * std::norm(frame[k]) / n;
  EXPECT_NEAR(sum, square / windows, 1e-14);
}
