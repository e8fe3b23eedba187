#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include "physics/kernels/aligned.hpp"
#include "physics/transforms/fft.hpp"

namespace quintet {

/// Hann's window, periodic: w_j = 1/2 - 1/2 cos(2 pi j/n), j = 0 ... n-1.
[[nodiscard]] std::vector<double> hann_window(int n);

/// Frequencies of a stretch of a signal: what a stream takes of every frame.
///
/// A frame of width() samples x gives size() complex numbers. They depend on the samples of that frame alone,
/// to the bit, whatever frames are worked on beside it.
class FrameTransform {
 public:
  virtual ~FrameTransform() = default;
  [[nodiscard]] virtual int width() const = 0;
  /// [size()], rising, in cycles a unit of time (of which `rate` samples are taken).
  [[nodiscard]] virtual const std::vector<double>& frequencies() const = 0;
  /// The frequency at a place between bins, 0 ... size() - 1: bins lie evenly on the transform's own scale.
  [[nodiscard]] virtual double frequency_at(double bin) const = 0;
  /// The factor that makes |X_k|^2 a one-sided power spectral density, a square of the signal per cycle in a
  /// unit of time: its integral over frequency is the mean square of the signal.
  [[nodiscard]] virtual double density(int bin) const = 0;
  [[nodiscard]] int size() const { return frequencies().size(); }
  /// Frame f is x[f hop ... f hop + width()); its numbers go to out[f size() ...]. Holds scratch of its own:
  /// one thread at a time.
  virtual void transform(const double* x, std::size_t hop, int n_frames, std::complex<double>* out) = 0;
};

/// Short-time Fourier transform, one frame of it:
///
///     X_k = sum_j w_j x_j exp(-2 pi i j k/n),  k = 0 ... n/2,  w Hann's window
///
/// Source: Allen & Rabiner 1977, Proc. IEEE 65, 1558.
class ShortTimeFourier : public FrameTransform {
 public:
  /// Throws InputError unless n is even, 4 or more, and n/2 factorises (Fft::possible).
  ShortTimeFourier(int n, double rate);
  [[nodiscard]] int width() const override { return n_; }
  [[nodiscard]] const std::vector<double>& frequencies() const override { return frequencies_; }
  [[nodiscard]] double frequency_at(double bin) const override { return bin * frequencies_[1]; }
  /// (2 - [k = 0 or n/2])/(rate sum_j w_j^2): of each frame, sum_k of it |X_k|^2 rate/n = sum_j (w_j x_j)^2/
  /// sum_j w_j^2 (Parseval).
  [[nodiscard]] double density(int bin) const override;
  void transform(const double* x, std::size_t hop, int n_frames, std::complex<double>* out) override;

 private:
  int n_;
  Fft fft_;  ///< of n/2 complex numbers: even samples, and odd ones as imaginary parts
  std::vector<double> frequencies_, window_;
  std::vector<std::complex<double>> turns_;  ///< exp(-2 pi i k/n)
  AlignedVector<double> re_, im_, work_;
};

/// Options of a constant-Q transform.
struct ConstantQOptions {
  double rate = 1;    ///< samples a unit of time
  double lowest = 0;  ///< frequency of the first bin
  int n_bins = 1;
  int bins_per_octave = 12;
};

/// Constant-Q transform, one frame of it: bins at f_k = f_0 2^(k/b), each seen for as many of its periods.
///
///     Q = 1/(2^(1/b) - 1),  l_k = ceil(Q rate/f_k),  C_k = sqrt(l_k) sum_j x_j conj(K_kj)
///     K_kj = hann(l_k)_t exp(2 pi i f_k (t - (l_k + l_k mod 2)/2)/rate)/sum of absolute values
///
/// in the middle of width() = 2^ceil(log2 l_0) samples, t = j - j_k from the kernel's first sample on; odd
/// kernels lie half a sample early, as nnAudio's. Sources: Brown 1991, J. Acoust. Soc. Am. 89, 425; Cheuk et
/// al. 2020, IEEE Access 8, 161981.
class ConstantQ : public FrameTransform {
 public:
  /// Throws InputError for bins at or above the Nyquist frequency, and for kernels of more than 2^24 samples.
  explicit ConstantQ(const ConstantQOptions& options);
  [[nodiscard]] int width() const override { return width_; }
  [[nodiscard]] const std::vector<double>& frequencies() const override { return frequencies_; }
  [[nodiscard]] double frequency_at(double bin) const override {
    return frequencies_[0] * std::exp2(bin / bins_per_octave_);
  }
  [[nodiscard]] double density(int bin) const override { return densities_[bin]; }
  void transform(const double* x, std::size_t hop, int n_frames, std::complex<double>* out) override;

 private:
  struct Kernel {
    std::size_t first, begin, length;  ///< in the frame; in re_ and im_
  };
  int width_ = 0, bins_per_octave_;
  std::vector<double> frequencies_, densities_;
  std::vector<Kernel> kernels_;
  std::vector<double> re_, im_;
};

/// Options of bands on the mel scale.
struct MelOptions {
  double rate = 1;    ///< samples a unit of time
  int width = 512;    ///< samples of a frame
  double corner = 0;  ///< bands are about evenly wide below, in proportion to their frequency above
  int n_bands = 24;
};

/// Triangular bands on the mel scale from 0 to the Nyquist frequency, one frame of them:
///
///     m(f) = log(1 + f/f_c),   f_b = m^-1(b m(rate/2)/(n + 1)),  b = 0 ... n + 1
///     M_b = sqrt(sum_k F_b(k rate/width) |X_k|^2),   b = 1 ... n,  X of ShortTimeFourier
///     F_b(f) = min((f - f_b-1)/(f_b - f_b-1), (f_b+1 - f)/(f_b+1 - f_b)), 0 where that is below 0
///
/// Numbers are real, without phase. Between the first and the last centre the triangles add up to 1: bands
/// share the power out. f_c = 700 Hz for hearing (O'Shaughnessy 1987); source: Davis & Mermelstein 1980, IEEE
/// Trans. ASSP 28, 357.
class MelBands : public FrameTransform {
 public:
  /// Throws InputError as ShortTimeFourier does, for a corner that is not above 0, and where a band is so
  /// narrow that no line of the spectrum falls into it.
  explicit MelBands(const MelOptions& options);
  [[nodiscard]] int width() const override { return lines_.width(); }
  [[nodiscard]] const std::vector<double>& frequencies() const override { return frequencies_; }
  [[nodiscard]] double frequency_at(double bin) const override {
    return corner_ * std::expm1((bin + 1) * step_);
  }
  /// Factor that turns a band's value squared into the mean density in the band, weighted by its triangle.
  [[nodiscard]] double density(int bin) const override;
  void transform(const double* x, std::size_t hop, int n_frames, std::complex<double>* out) override;

  /// A band's part of the lines from `first` on.
  struct Band {
    std::size_t first = 0;
    std::vector<double> weights;
  };
  [[nodiscard]] const std::vector<Band>& bands() const { return bands_; }

 private:
  ShortTimeFourier lines_;
  double corner_, step_;  ///< step: from band to band on the mel scale
  std::vector<double> frequencies_;
  std::vector<Band> bands_;
  std::vector<std::complex<double>> work_;
};

}  // namespace quintet
