#include "apps/dpmd/setup/observe_options.hpp"

#include "io/config/table.hpp"

namespace quintet::dpmd {

namespace {
constexpr MdSignalRow signals[] = {
    {MdSignal::temperature, "temperature"}, {MdSignal::pressure, "pressure"},
    {MdSignal::pressure_xx, "pressure_xx"}, {MdSignal::pressure_yy, "pressure_yy"},
    {MdSignal::pressure_zz, "pressure_zz"}, {MdSignal::pressure_xy, "pressure_xy"},
    {MdSignal::pressure_xz, "pressure_xz"}, {MdSignal::pressure_yz, "pressure_yz"},
    {MdSignal::volume, "volume"},           {MdSignal::potential, "potential"},
    {MdSignal::velocity, "velocity"},       {MdSignal::current, "current"}};
}  // namespace

std::span<const MdSignalRow> md_signals() { return signals; }

void describe(Schema& schema, MdSpectrogramOptions& options) {
  schema.choice(
      "signal", options.signal, choices_of(signals),
      "A number of the thermo table; a component of the velocity of an atom or of several atoms of a "
      "type; or of the current, the sum of charge times velocity, whose spectrum is the infrared "
      "absorption of fixed charges");
  schema.text("type", options.type,
              "velocity: the mean of the spectra of atoms of this type. (The mean of their velocities moves "
              "with the centre of mass only)");
  schema.integer("atoms", options.atoms, "velocity: how many atoms of the type, spread evenly over them")
      .at_least(1)
      .at_most(4096);
  schema.integer("atom", options.atom, "velocity: the atom by its number, from 1, in place of a type")
      .at_least(1);
  schema.named_quantities("charges", options.charges, "e", "current: charges of types; others have none")
      .example("{O: -0.8476 e, H: 0.4238 e}");
  schema.choice("component", options.component, {{"x", 0}, {"y", 1}, {"z", 2}}, "Of velocity and current");
  describe(schema, options.frames);
  schema.quantity("lowest", options.lowest, "THz", "constant_q: frequency of the first bin").above(0);
  schema
      .quantity(
          "corner", options.corner, "THz",
          "mel: frequency below which bands are about evenly wide, above which they widen with frequency")
      .above(0);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.signal == MdSignal::velocity) {
      if (options.type.has_value() == options.atom.has_value())
        return "signal: velocity needs type or atom, one of the two";
    } else if (options.type || options.atom) {
      return "type and atom are of signal: velocity";
    }
    if ((options.signal == MdSignal::current) == options.charges.empty())
      return options.charges.empty() ? "signal: current needs charges" : "charges are of signal: current";
    return misses_frequency(options.frames, options.lowest.has_value(), options.corner.has_value());
  });
}

void describe(Schema& schema, ObserveOptions& options) {
  describe_spectra(schema, options.spectrogram, options.spectrum, "a number of the run");
}

}  // namespace quintet::dpmd
