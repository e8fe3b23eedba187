#pragma once

#include <cstdint>
#include <vector>

#include "apps/application/spectra/spectrogram.hpp"
#include "apps/dpmd/run/simulation.hpp"

namespace quintet::dpmd {

/// Frequencies of a number of the run while it goes on (section `observe.spectrogram` or `observe.spectrum`):
/// of the thermo table, of velocities or of the current. See Spectrogram; frequencies are in THz.
class MdSpectrogram : public OptionalSpectrogram {
 public:
  /// Nothing without the section. Throws InputError for a type or an atom that is not there, for a
  /// minimisation, and as Spectrogram::check does. Collective.
  static void check(const RunOptions& options, const Simulation& simulation);
  MdSpectrogram(Context& context, const RunOptions& options, const Simulation& simulation);

  void add(const Exec& exec, const Simulation& simulation, const Instant& now);  ///< collective

 private:
  /// What velocities count for in the sum that is sampled.
  struct Weights {
    std::vector<double> of_type;
    std::int64_t atom = 0;  ///< this one alone, if not 0
  };
  static Weights make_weights(const MdSpectrogramOptions& options, const Simulation& simulation);
  [[nodiscard]] double weighted_velocity(const Exec& exec, const Simulation& simulation) const;

  MdSignal signal_{};
  int component_ = 0;
  Weights weights_;
};

}  // namespace quintet::dpmd
