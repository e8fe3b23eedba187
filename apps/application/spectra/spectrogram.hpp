#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/application/spectra/spectrogram_options.hpp"
#include "apps/application/table/table_file.hpp"
#include "physics/transforms/frame_stream.hpp"

namespace quintet {

/// How frequencies are told: angular ones, or cycles in a unit that people know.
struct FrequencyScale {
  double of_cycles = 2 * M_PI;  ///< a number told of one cycle in a unit of time
  std::string name = "angular frequency", unit = "1";
  std::string suffix;  ///< of keys in summary.json
};

/// The time between samples of a run whose steps are of `dt`. Throws InputError where they are not.
[[nodiscard]] double sample_time(const SpectrogramOptions& options, const std::optional<double>& dt);

/// A number that a run gives at even times.
struct SampledSignal {
  std::string name;        ///< "ex"
  std::string place;       ///< "at the point"
  double sample_time = 1;  ///< from one sample to the next
  double lowest = 0;       ///< told frequency of the first bin of a constant-Q transform
  double corner = 0;       ///< told frequency at which mel bands begin to widen
  FrequencyScale scale = {};
  /// Frequencies are those of the difference from the first sample: a mean that is large beside what moves
  /// would show in the lowest bins.
  bool from_first = false;
};

/// Frequencies of a number while a run goes on.
///
/// Group spectrogram of run.h5: frequency [bin], signal [sample, (time, value)], frames [frame, bin] = |X|^2,
/// spectrum [bin], their mean; of section observe.spectrum group spectrum, without frames and picture. Frames
/// lie within the signal; memory holds a frame or two, a block of what is not yet in the file, and a picture
/// of fixed size. A restart streams the signal that run.h5 holds once more: the frames are those of the
/// uninterrupted run, to the bit. In another folder it begins anew.
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
  void begin_at(Context& context, std::int64_t step);
  void stream(double value);
  void add_column();
  void report_picture(Context& context, const std::vector<double>& told, double greatest);
  [[nodiscard]] std::vector<double> told_frequencies() const;

  SpectrogramOptions options_;
  SampledSignal signal_;
  FrameStream stream_;
  TableFile signals_;  ///< the signal in run.h5
  std::optional<hdf5::Series> frame_series_;
  std::optional<double> first_;                     ///< sample
  std::int64_t origin_ = 0, n_samples_ = 0;         ///< the first sample is number `origin_` of the run
  std::vector<double> held_samples_, held_frames_;  ///< not yet in the file
  std::vector<double> powers_, sum_;                ///< of a frame; of all
  std::size_t n_frames_ = 0;
  /// The picture: columns of `per_column_` frames each, which doubles when they become too many.
  std::vector<std::vector<double>> columns_;
  std::vector<double> column_;
  std::size_t per_column_ = 1, in_column_ = 0;
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
    if (spectrogram_) spectrogram_->report(context);
  }

 protected:
  std::optional<Spectrogram> spectrogram_;
};

}  // namespace quintet
