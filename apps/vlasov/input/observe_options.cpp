#include "apps/vlasov/input/observe_options.hpp"

namespace quintet::vlasov {

void describe(Schema& schema, FieldSpectrogramOptions& options) {
  schema.choice("signal", options.component,
                {{"ex", 0}, {"ey", 1}, {"ez", 2}, {"bx", 3}, {"by", 4}, {"bz", 5}},
                "Component of the field. It oscillates at a wave's frequency, its energy at twice that");
  schema.formulas("at", options.at, "Point of x, a number a direction").required().length(1, 3);
  describe(schema, options.frames);
  schema.formula("lowest", options.lowest, lowest_text);
  schema.formula("corner", options.corner, corner_text);
  schema.check([&options] {
    return misses_frequency(options.frames, options.lowest.has_value(), options.corner.has_value());
  });
}

void describe(Schema& schema, ObserveOptions& options) {
  describe_spectra(schema, options.spectrogram, options.spectrum, "the field at a point");
}

}  // namespace quintet::vlasov
