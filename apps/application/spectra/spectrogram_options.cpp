#include "apps/application/spectra/spectrogram_options.hpp"

namespace quintet {

void describe(Schema& schema, SpectrogramOptions& options) {
  using Transform = SpectrogramOptions::Transform;
  schema
      .integer("every", options.every, "Steps between samples; time.dt must be given, so that they are even")
      .at_least(1);
  schema.choice("transform", options.transform,
                {{"fourier", Transform::fourier}, {"constant_q", Transform::constant_q}},
                "Short-time Fourier transform with Hann's window; or bins of equal width on a logarithmic "
                "axis, each seen for as many of its periods");
  schema.integer("window", options.window, "fourier: samples of a frame; even, with prime factors up to 13")
      .at_least(4)
      .at_most(1 << 24);
  schema.integer("hop", options.hop, "Samples from a frame to the next").at_least(1).at_most(1 << 24);
  schema.integer("bins", options.bins, "constant_q: number of bins").at_least(2).at_most(4096);
  schema
      .integer("bins_per_octave", options.bins_per_octave, "constant_q: bins from a frequency to its double")
      .at_least(1)
      .at_most(384);
}

std::optional<std::string> misses_lowest(const SpectrogramOptions& options, bool has_lowest) {
  if (options.transform == SpectrogramOptions::Transform::constant_q && !has_lowest)
    return "transform: constant_q needs lowest";
  return std::nullopt;
}

}  // namespace quintet
