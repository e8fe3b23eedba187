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
  /// Part of the velocities that is sampled: those of some atoms, or the current of all.
  struct Sampled {
    std::vector<std::int64_t> ids;  ///< of the atoms, rising; empty: the current
    std::vector<double> charges;    ///< of the types (e)
    [[nodiscard]] std::size_t n_parts() const { return ids.empty() ? 1 : ids.size(); }
  };
  static Sampled make_sampled(const MdSpectrogramOptions& options, const Simulation& simulation);
  [[nodiscard]] std::vector<double> velocities(const Simulation& simulation) const;

  MdSignal signal_{};
  int component_ = 0;
  Sampled sampled_;
};

}  // namespace quintet::dpmd
