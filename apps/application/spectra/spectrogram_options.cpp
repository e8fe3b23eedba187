#include "apps/application/spectra/spectrogram_options.hpp"

#include "io/config/schema_marks.hpp"

namespace quintet {

void describe(Schema& schema, SpectrogramOptions& options) {
  using Transform = SpectrogramOptions::Transform;
  schema
      .integer("every", options.every, "Steps between samples; time.dt must be given, so that they are even")
      .at_least(1);
  schema.choice(
      "transform", options.transform,
      {{"fourier", Transform::fourier}, {"constant_q", Transform::constant_q}, {"mel", Transform::mel}},
      "fourier: short-time Fourier transform with Hann's window; constant_q: bins of equal width on a "
      "logarithmic axis, each seen for as many of its periods");
  schema.check(Expert{"transform",
                      {"mel"},
                      "mel: the Fourier transform's power in triangular bands, even on the mel scale log(1 + "
                      "frequency/corner)"});
  schema.check(Expert{"corner"});  // of each program's section, which describes it
  schema
      .integer("window", options.window,
               "fourier, mel: samples of a frame; even, with prime factors up to 13")
      .at_least(4)
      .at_most(1 << 24);
  schema.integer("hop", options.hop, "Samples from a frame to the next").at_least(1).at_most(1 << 24);
  schema.integer("bins", options.bins, "constant_q, mel: number of bins").at_least(2).at_most(4096);
  schema
      .integer("bins_per_octave", options.bins_per_octave, "constant_q: bins from a frequency to its double")
      .at_least(1)
      .at_most(384);
}

std::optional<std::string> misses_frequency(const SpectrogramOptions& options, bool has_lowest,
                                            bool has_corner) {
  using Transform = SpectrogramOptions::Transform;
  if (options.transform == Transform::constant_q && !has_lowest) return "transform: constant_q needs lowest";
  if (options.transform == Transform::mel && !has_corner) return "transform: mel needs corner";
  return std::nullopt;
}

std::string SpectrogramOptions::key(const char* name) const {
  return std::string("observe.") + group() + (*name == 0 ? "" : ".") + name;
}

}  // namespace quintet
