#pragma once

#include <optional>
#include <vector>

#include "apps/application/spectra/spectrogram.hpp"
#include "apps/vlasov/setup/setup.hpp"
#include "apps/vlasov/state/simulation.hpp"

namespace quintet::vlasov {

/// Frequencies of the field at a point while a run goes on (section `observe.spectrogram`): see Spectrogram.
class FieldSpectrogram {
 public:
  /// Nothing without the section. Throws InputError for a point outside, a field that is not there, and as
  /// Spectrogram::check does. Collective.
  static void check(const RunOptions& options, const Setup& setup);
  FieldSpectrogram(Context& context, const RunOptions& options, const Simulation& simulation);

  [[nodiscard]] Schedule schedule() const { return spectrogram_ ? spectrogram_->schedule() : Schedule(); }
  void add(const Simulation& simulation, const Instant& now);  ///< collective
  /// Both do nothing without the section. Collective.
  void flush() {
    if (spectrogram_) spectrogram_->flush();
  }
  void report(Context& context) {
    if (spectrogram_) spectrogram_->report(context);
  }

 private:
  /// A component of the field at a point: whose cell it is in, and the values of its functions there.
  struct Probe {
    int cell = -1;  ///< local configuration cell, -1: another rank's
    std::size_t component = 0;
    std::vector<double> weights;  ///< [n_conf_modes]
  };
  static Probe make_probe(const FieldSpectrogramOptions& options, const Setup& setup);

  Probe probe_;
  std::optional<Spectrogram> spectrogram_;
};

}  // namespace quintet::vlasov
