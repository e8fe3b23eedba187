#pragma once

#include <vector>

#include "apps/application/spectra/spectrogram.hpp"
#include "apps/vlasov/setup/setup.hpp"
#include "apps/vlasov/state/simulation.hpp"

namespace quintet::vlasov {

/// Frequencies of the field at a point while a run goes on (section `observe.spectrogram` or
/// `observe.spectrum`): see Spectrogram.
class FieldSpectrogram : public OptionalSpectrogram {
 public:
  /// Nothing without the section. Throws InputError for a point outside, a field that is not there, and as
  /// Spectrogram::check does. Collective.
  static void check(const RunOptions& options, const Setup& setup);
  FieldSpectrogram(Context& context, const RunOptions& options, const Simulation& simulation);

  void add(const Simulation& simulation, const Instant& now);  ///< collective

 private:
  /// A component of the field at a point: whose cell it is in, and the values of its functions there.
  struct Probe {
    int cell = -1;  ///< local configuration cell, -1: another rank's
    std::size_t component = 0;
    std::vector<double> weights;  ///< [n_conf_modes]
  };
  static Probe make_probe(const FieldSpectrogramOptions& options, const Setup& setup);

  Probe probe_;
};

}  // namespace quintet::vlasov
