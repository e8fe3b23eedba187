#include "apps/vlasov/input/species_options.hpp"

namespace quintet::vlasov {

void describe(Schema& schema, VelocityOptions& options) {
  schema.formulas("lower", options.lower, "Lower corner of the velocity box").required().length(1, 3);
  schema.formulas("upper", options.upper, "Upper corner of the velocity box").required().length(1, 3);
  schema
      .integers("cells", options.cells,
                "Cells along each velocity direction; absent: as grid.cells says after the cells of x")
      .length(0, 3)
      .at_least(1)
      .at_most(1000000);
  schema
      .formulas(
          "mapping", options.mapping,
          "Where the cells' edges lie, a rising formula of s for each velocity direction: edge i of n "
          "cells has s = -1 + 2 i/n, and the formula's values are stretched to the box; s: equal cells, "
          "sinh(2*s): finer about the middle; absent: equal cells in all directions")
      .length(0, 3);
  schema
      .formulas(
          "finest", options.finest,
          "Instead of mapping: the velocity at which cells are finest, one for each velocity direction; the "
          "cell that holds it is the narrowest, and widths grow smoothly (sinh) on both sides")
      .length(0, 3);
  schema
      .formulas(
          "ratio", options.ratio,
          "With finest: width of the widest cell over that of the finest, 1 or more, one for each velocity "
          "direction or one for all; 1: equal cells")
      .length(0, 3);
  schema.check([&options]() -> std::optional<std::string> {
    if (!options.finest.empty() && !options.mapping.empty()) return "give one of mapping and finest";
    if (options.finest.empty() != options.ratio.empty()) return "finest and ratio belong together: give both";
    return std::nullopt;
  });
}

void describe(Schema& schema, MaxwellianOptions& options) {
  schema.formula("density", options.density, "Density, a formula of x")
      .required()
      .example("1 + 0.01*cos(k*x)");
  schema
      .formulas("drift", options.drift,
                "Mean velocity along each velocity direction, formulas of x; absent: 0")
      .length(0, 3);
  schema
      .formulas("thermal_speed", options.thermal_speed,
                "sqrt(T/m), formulas of x: one for all velocity directions or one each")
      .length(0, 3);
  schema.formulas("temperature", options.temperature, "Instead of thermal_speed: T, as energies")
      .length(0, 3);
  schema.flag("exact_moments", options.exact_moments,
              "Correct the projection so that density, mean velocity and temperature are exact on this grid");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.thermal_speed.empty() == options.temperature.empty())
      return "give one of thermal_speed and temperature";
    return std::nullopt;
  });
}

void describe(Schema& schema, InitialOptions& options) {
  schema.section("maxwellian", options.maxwellian, "A drifting Maxwellian; absent: none");
  schema.formula("function", options.function, "Any f, a formula of x, y, z, vx, vy, vz");
  schema
      .text("file", options.file,
            "f of this species from run.h5 of a run with the same grid and basis, or from a .gkyl file")
      .existing_file();
  schema.integer("frame", options.frame,
                 "Which frame of the file, from 0; negative ones count from the end; absent: the last");
  schema
      .integer("nodes", options.nodes, "Gauss points a direction of the projection; 0: order + 1, as Gkeyll")
      .at_least(0)
      .at_most(32);
  schema.check([&options]() -> std::optional<std::string> {
    const int n = int(options.maxwellian.has_value()) + int(options.function.has_value()) +
                  int(options.file.has_value());
    if (n != 1) return "give one of maxwellian, function and file; sums are several elements of the list";
    if (options.frame && !options.file) return "frame needs file";
    return std::nullopt;
  });
}

void describe(Schema& schema, SourceOptions& options) {
  schema.sections("shape", options.shape, "df/dt at amplitude 1: a sum of terms as in initial")
      .required()
      .length(1);
  schema.formula("amplitude", options.amplitude, "Factor over time, a formula of t");
}

void describe(Schema& schema, EmissionOptions& options) {
  schema.choice("wall", options.side, {{"lower", 0}, {"upper", 1}}, "At which end").required();
  schema.choice("direction", options.direction, {{"x", 0}, {"y", 1}, {"z", 2}}, "Of which direction");
  schema.formula("thermal_speed", options.thermal_speed,
                 "sqrt(T/m) of what is emitted: the half of a Maxwellian at rest that leaves the wall");
  schema.formula("temperature", options.temperature, "Instead of thermal_speed: T, as an energy");
  schema.formula("flux", options.flux, "Particles emitted per unit area and time, a formula of t");
  schema.named_formulas(
      "yield", options.yield,
      "Particles emitted per incident particle of a species, by its name: {electrons: 0.5}; not named: 0");
  schema.formula(
      "reflection", options.reflection,
      "Fraction of the species' own particles that the wall reflects, 0 to 1; not counted as emission");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.thermal_speed && options.temperature) return "give one of thermal_speed and temperature";
    return std::nullopt;
  });
}

void describe(Schema& schema, BoundaryOptions& options) {
  constexpr const char* doc =
      "periodic, reflecting, absorbing, open (zero gradient) or fixed (the initial f stays outside), one a "
      "direction; "
      "absent: periodic";
  schema.texts("lower", options.lower, std::string("At the lower ends of x: ") + doc).length(0, 3);
  schema.texts("upper", options.upper, std::string("At the upper ends: ") + doc).length(0, 3);
  schema.sections("emission", options.emission, "What absorbing walls emit and mirror");
}

void describe(Schema& schema, SpeciesOptions& options) {
  schema.text("name", options.name, "Name, as in files and other sections").required();
  schema.formula("charge", options.charge, "Charge of a particle").on_restart(OnRestart::physics);
  schema.formula("mass", options.mass, "Mass of a particle, above 0").on_restart(OnRestart::physics);
  schema.section("velocity", options.velocity, "The velocity box");
  schema.sections("initial", options.initial, "f at the start: the sum of these terms").required().length(1);
  schema.section("boundary", options.boundary, "What particles meet at the ends of x")
      .on_restart(OnRestart::physics);
  schema.section("source", options.source, "Particles that come in; absent: none")
      .on_restart(OnRestart::physics);
  schema
      .formulas("acceleration", options.acceleration,
                "External acceleration along each velocity direction, formulas of x, y, z, t; absent: none")
      .length(0, 3)
      .on_restart(OnRestart::physics);
}

}  // namespace quintet::vlasov
