#pragma once

#include <optional>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/vlasov/setup/setup.hpp"
#include "apps/vlasov/state/simulation.hpp"
#include "physics/transforms/frame_stream.hpp"

namespace quintet::vlasov {

/// Frequencies of the field at a point while a run goes on (section `observe.spectrogram`).
///
/// Group spectrogram of run.h5: frequency [bin] (angular), signal [sample, (time, value)], frames [frame,
/// bin] = |X|^2. Frames lie within the signal; memory holds a frame or two and a picture of fixed size. A
/// restart streams the signal that run.h5 holds once more: the frames are those of the uninterrupted run, to
/// the bit.
class Spectrogram {
 public:
  /// Nothing without the section. Throws InputError for a point outside, a field that is not there, steps
  /// that need not be even, frequencies beyond Nyquist's and runs too short for a frame. Collective.
  static void check(const RunOptions& options, const Setup& setup);
  /// On a restart what is after the simulation's step is dropped. Collective.
  Spectrogram(Context& context, const RunOptions& options, const Simulation& simulation);

  [[nodiscard]] Schedule schedule() const;
  /// Take a sample. Collective. Throws InputError where the time since the last one is another than before.
  void add(const Simulation& simulation, const Instant& now);
  /// Spectrum, its peak and the picture into run.h5, summary.json and report.html. Collective.
  void report(Context& context);

 private:
  /// A component of the field at a point: whose cell it is in, and the values of its functions there.
  struct Probe {
    int cell = -1;  ///< local configuration cell, -1: another rank's
    std::size_t component = 0;
    std::vector<double> weights;  ///< [n_conf_modes]
  };
  static Probe make_probe(const SpectrogramOptions& options, const Setup& setup);
  void stream(double value);
  void add_column(const std::vector<double>& powers);

  struct Active {
    SpectrogramOptions options;
    double sample_time;
    FrameStream stream;
    Probe probe;
    hdf5::Series signal, frames;
  };
  std::optional<Active> active_;
  std::vector<double> powers_, sum_;  ///< of a frame; of all
  std::size_t n_frames_ = 0;
  /// The picture: columns of `per_column_` frames each, which doubles when they become too many.
  std::vector<std::vector<double>> columns_;
  std::vector<double> column_;
  std::size_t per_column_ = 1, in_column_ = 0;
};

}  // namespace quintet::vlasov
