#include "apps/vlasov/input/observe_options.hpp"

namespace quintet::vlasov {

void describe(Schema& schema, SpectrogramOptions& options) {
  using Transform = SpectrogramOptions::Transform;
  schema.choice("signal", options.component,
                {{"ex", 0}, {"ey", 1}, {"ez", 2}, {"bx", 3}, {"by", 4}, {"bz", 5}},
                "Component of the field. It oscillates at a wave's frequency, its energy at twice that");
  schema.formulas("at", options.at, "Point of x, a number a direction").required().length(1, 3);
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
  schema.formula("lowest", options.lowest, "constant_q: angular frequency of the first bin");
  schema.integer("bins", options.bins, "constant_q: number of bins").at_least(2).at_most(4096);
  schema
      .integer("bins_per_octave", options.bins_per_octave, "constant_q: bins from a frequency to its double")
      .at_least(1)
      .at_most(384);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.transform == Transform::constant_q && !options.lowest)
      return "transform: constant_q needs lowest";
    return std::nullopt;
  });
}

void describe(Schema& schema, ObserveOptions& options) {
  schema.section("spectrogram", options.spectrogram,
                 "Frequencies of the field at a point over time, in group spectrogram of run.h5, with their "
                 "mean, the spectrum");
}

}  // namespace quintet::vlasov
