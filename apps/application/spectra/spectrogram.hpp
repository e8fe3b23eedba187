#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/application/spectra/spectrogram_options.hpp"
#include "physics/transforms/frame_stream.hpp"

namespace quintet {

/// The time between samples of a run whose steps are of `dt`. Throws InputError where they are not.
[[nodiscard]] double sample_time(const SpectrogramOptions& options, const std::optional<double>& dt);

/// A number that a run gives at even times.
struct SampledSignal {
  std::string name;        ///< "ex"
  std::string place;       ///< "at the point"
  double sample_time = 1;  ///< from one sample to the next
  double lowest = 0;       ///< angular frequency of the first bin of a constant-Q transform
};

/// Frequencies of a number while a run goes on.
///
/// Group spectrogram of run.h5: frequency [bin] (angular), signal [sample, (time, value)], frames [frame,
/// bin] = |X|^2, spectrum [bin], their mean. Frames lie within the signal; memory holds a frame or two, a
/// block of what is not yet in the file, and a picture of fixed size. A restart streams the signal that
/// run.h5 holds once more: the frames are those of the uninterrupted run, to the bit.
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
  /// Take a sample, the same on all ranks. Collective. Throws InputError where the time since the last one is
  /// another than before.
  void add(double value, const Instant& now);
  /// Bring all to the file: before a checkpoint. Collective.
  void flush();
  /// Spectrum, its peak and the picture into run.h5, summary.json and report.html. Collective.
  void report(Context& context);

 private:
  void stream(double value);
  void add_column();
  void report_picture(Context& context, const std::vector<double>& angular, double greatest);

  SpectrogramOptions options_;
  SampledSignal signal_;
  FrameStream stream_;
  hdf5::Series signal_series_, frame_series_;
  std::int64_t n_samples_ = 0;
  std::vector<double> held_samples_, held_frames_;  ///< not yet in the file
  std::vector<double> powers_, sum_;                ///< of a frame; of all
  std::size_t n_frames_ = 0;
  /// The picture: columns of `per_column_` frames each, which doubles when they become too many.
  std::vector<std::vector<double>> columns_;
  std::vector<double> column_;
  std::size_t per_column_ = 1, in_column_ = 0;
};

/// A spectrogram where a run has that section, else nothing. Applications derive from it what they sample.
class OptionalSpectrogram {
 public:
  [[nodiscard]] Schedule schedule() const { return spectrogram_ ? spectrogram_->schedule() : Schedule(); }
  /// Both collective.
  void flush() {
    if (spectrogram_) spectrogram_->flush();
  }
  void report(Context& context) {
    if (spectrogram_) spectrogram_->report(context);
  }

 protected:
  std::optional<Spectrogram> spectrogram_;
};

}  // namespace quintet
