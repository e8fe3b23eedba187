#pragma once

#include <vector>

#include "apps/application/spectra/spectrogram.hpp"
#include "apps/meshfreeflow/simulate/simulation.hpp"

namespace quintet::meshfreeflow {

/// Frequencies of u, w or b at a point of the first flow while a run goes on (section `observe.spectrogram`
/// or `observe.spectrum`): see Spectrogram.
class PointSpectrogram : public OptionalSpectrogram {
 public:
  /// Nothing without the section. Throws InputError for a point outside, frames that cut steps, and as
  /// Spectrogram::check does.
  static void check(const Simulation& simulation);
  PointSpectrogram(Context& context, const Simulation& simulation);

  void add(const Simulation& simulation, const Instant& now);  ///< collective

 private:
  /// Part of a row or column in the value at a point.
  struct Share {
    int index;
    double weight;
  };
  static std::vector<Share> shares(const convection::Axis& axis, bool on_faces, double at);

  PointSpectrogramOptions::Signal signal_{};
  std::vector<Share> columns_, rows_;  ///< of the whole grid
};

}  // namespace quintet::meshfreeflow
