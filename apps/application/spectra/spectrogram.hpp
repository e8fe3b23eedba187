#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/application/spectra/spectrogram_options.hpp"
#include "apps/application/table/table_file.hpp"
#include "physics/transforms/frame_transform.hpp"

namespace quintet {

/// How frequencies are told: angular ones, or cycles in a unit that people know.
struct FrequencyScale {
  double of_cycles = 2 * M_PI;  ///< a number told of one cycle in a unit of time
  std::string name = "angular frequency", unit = "1";
  std::string suffix;  ///< of keys in summary.json
};

/// The time between samples of a run whose steps are of `dt`. Throws InputError where they are not.
[[nodiscard]] double sample_time(const SpectrogramOptions& options, const std::optional<double>& dt);

/// Signal of a run at even times: a number, or several alike whose spectra are averaged.
struct SampledSignal {
  std::string name;        ///< "ex"
  std::string place;       ///< "at the point"
  double sample_time = 1;  ///< from one sample to the next
  double lowest = 0;       ///< told frequency of the first bin of a constant-Q transform
  double corner = 0;       ///< told frequency at which mel bands begin to widen
  FrequencyScale scale = {};
  std::string unit = "1";
  std::string time_unit{};  ///< of the run's times; empty: none
  std::size_t n_parts = 1;  ///< numbers in a sample

  /// Unit of its power spectral density: "K^2/THz".
  [[nodiscard]] std::string density_unit() const;
};

/// Find the highest peak of a spectrum, from bin `first` on: the place of its top between bins (of the
/// parabola through three logarithms), if it stands out. On either side a quarter of the bins must lie below
/// it by exp(4 sqrt(2/K)): four standard deviations of the logarithm of the ratio of two means over K
/// independent frames of noise.
[[nodiscard]] std::optional<double> significant_peak(std::span<const double> power, std::size_t first,
                                                     double n_independent);

/// Frequencies of a number of a run.
///
/// Group spectrogram of run.h5: frequency [bin], signal [sample, (time, values...)], and at the run's end
/// frames [frame, bin], the one-sided power spectral density S of each frame, and spectrum [bin], their mean;
/// of section observe.spectrum group spectrum, without frames and picture. S is that of x - <x>, <x> the mean
/// of all samples, and its integral over the told frequency is the mean square of x - <x>. Frames lie within
/// the signal. A restart goes on with the samples that run.h5 holds; in another folder it begins anew.
class Spectrogram {
 public:
  /// Throws InputError for frequencies beyond Nyquist's and for a run that gives too few samples for a frame:
  /// to time `end`, or of so many steps.
  static void check(const SpectrogramOptions& options, const SampledSignal& signal, double end,
                    const std::optional<std::int64_t>& steps);
  /// At this step of a run; on a restart what is after it is dropped. Collective.
  Spectrogram(Context& context, const SpectrogramOptions& options, const SampledSignal& signal,
              std::int64_t step);

  [[nodiscard]] Schedule schedule() const { return at_start() | every_steps(options_.every); }
  /// Take a sample of n_parts values, the same on all ranks. Collective. Throws InputError where the time
  /// since the last one is another than before.
  void add(std::span<const double> values, const Instant& now);
  void add(double value, const Instant& now) { add(std::span<const double>(&value, 1), now); }
  /// Bring all to the file: before a checkpoint. Collective.
  void flush();
  /// Spectrum, its peak and the picture into run.h5, summary.json and report.html. A signal that moves by
  /// less than 1e-10 of its largest value, or of `scale`, is rounding: it has no spectrum. Collective.
  void report(Context& context, double scale = 0);

 private:
  struct Powers;
  void begin_at(Context& context, std::int64_t step);
  /// Each block of samples in the file: values [part][sample].
  template <class Take>
  void each_block(Context& context, const Take& take) const;
  [[nodiscard]] std::vector<double> means(Context& context, double& most, double& deviation) const;
  [[nodiscard]] Powers powers(Context& context, const std::vector<double>& means) const;
  void report_peak(Context& context, const Powers& powers) const;
  void report_picture(Context& context, const Powers& powers) const;
  [[nodiscard]] std::vector<double> told_frequencies() const;

  SpectrogramOptions options_;
  SampledSignal signal_;
  std::shared_ptr<FrameTransform> transform_;
  TableFile signals_;                        ///< the signal in run.h5
  std::int64_t origin_ = 0, n_samples_ = 0;  ///< the first sample is number `origin_` of the run
  std::vector<double> held_samples_;         ///< not yet in the file
};

/// A spectrogram or spectrum where a run has that section, else nothing. Applications derive from it what
/// they sample.
class OptionalSpectrogram {
 public:
  [[nodiscard]] Schedule schedule() const { return spectrogram_ ? spectrogram_->schedule() : Schedule(); }
  /// Both collective.
  void flush() {
    if (spectrogram_) spectrogram_->flush();
  }
  void report(Context& context) {
    if (spectrogram_) spectrogram_->report(context, scale_);
  }

 protected:
  std::optional<Spectrogram> spectrogram_;
  double scale_ = 0;  ///< see Spectrogram::report()
};

}  // namespace quintet
