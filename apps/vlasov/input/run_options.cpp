#include "apps/vlasov/input/run_options.hpp"

#include "io/config/table.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"

namespace quintet::vlasov {

void describe(Schema& schema, BasisOptions& options) {
  using kinetics::Family;
  schema.integer("order", options.order, "Polynomial order").at_least(1).at_most(3);
  schema.choice(
      "family", options.family,
      {{"serendipity", Family::serendipity}, {"tensor", Family::tensor}, {"hybrid", Family::hybrid}},
      "Polynomial basis of a cell; hybrid: order 1 in x, 2 in v (Gkeyll's p = 1)");
}

void describe(Schema& schema, GridOptions& options) {
  schema.formulas("lower", options.lower, "Lower corner of x; one to three directions")
      .required()
      .length(1, 3);
  schema.formulas("upper", options.upper, "Upper corner of x").required().length(1, 3);
  schema
      .integers("cells", options.cells,
                "Cells along each direction of x; or of x and v, for all species that name none themselves")
      .required()
      .length(1, 6)
      .at_least(1)
      .at_most(1000000)
      .example("[64, 32]");
}

void describe(Schema& schema, PairOptions& options) {
  schema.texts("species", options.species, "Two species").required().length(2, 2);
  schema
      .formulas("frequency", options.frequency,
                "nu_sr, at which the first (s) is slowed by the second (r), and nu_rs the other way round; "
                "one alone: nu_sr, "
                "with nu_rs = nu_sr m_s/m_r. Mean velocities near each other at (nu_sr + nu_rs)/2 where m n "
                "nu of both are "
                "equal (docs/vlasov.md)")
      .required()
      .length(1, 2);
}

void describe(Schema& schema, SpitzerOptions& options) {
  schema.formula("reference_density", options.reference_density, "Density at which the frequencies hold");
  schema.formula("reference_thermal_speed", options.reference_thermal_speed,
                 "Thermal speed at which they hold");
}

void describe(Schema& schema, CollisionSection& options) {
  schema.choice("operator", options.kind, choices_of(kinetics::collision_operators()),
                "Lenard-Bernstein/Dougherty (drag and diffusion in v) or relaxation to a Maxwellian");
  schema.named_formulas(
      "frequency", options.frequency,
      "nu_ss of each species with itself, by name: {electrons: 0.01}, formulas of x, y, z, t; not "
      "named: 0");
  schema.sections("between", options.between, "Collisions between species");
  using Exchange = kinetics::CollisionOptions::Exchange;
  schema.choice(
      "exchange", options.exchange, {{"molecules", Exchange::molecules}, {"mixture", Exchange::mixture}},
      "How species share out the heat of friction: as Maxwell molecules do, nearly all to the lighter "
      "one (bgk between unlike masses may then ask for a Maxwellian of negative temperature); or by "
      "nearing one Maxwellian of the pair, which never does (Haack, Hauck & Murillo 2017)");
  schema.flag("conserving", options.conserving,
              "Conserve momentum and energy; off: towards the initial temperature at rest (for tests)");
  schema.choice(
      "integration", options.split, {{"explicit", false}, {"split", true}},
      "explicit: in every stage of a step, which collision rates then limit; split: alone, for half "
      "a step before and after it (Strang; BGK of a species with itself exactly, all else by "
      "super time steps), so that steps follow the collisionless speeds alone");
  schema.section("spitzer", options.spitzer, "Frequencies follow n/vth^3; absent: constant");
}

void describe(Schema& schema, TimeOptions& options) {
  schema.formula("end", options.end, "Time at which the run ends").required().on_restart(OnRestart::free);
  schema.number("cfl", options.cfl, "dt = cfl/((2 order + 1) sum of |speed|/width over the directions)")
      .above(0)
      .at_most(1);
  schema.formula("dt", options.dt, "A fixed time step; absent: the largest stable one");
  schema.integer("steps", options.steps, "At most so many steps; absent: any number")
      .at_least(0)
      .on_restart(OnRestart::free);
}

void describe(Schema& schema, ParallelOptions& options) {
  schema
      .integers("ranks", options.ranks,
                "Ranks along each direction of x and v; 0: chosen; absent: all chosen")
      .length(0, 6)
      .at_least(0)
      .at_most(1000000);
}

void describe(Schema& schema, OutputOptions& options) {
  schema
      .formula("frame_interval", options.frame_interval,
               "Time between frames (taken after the first step that reaches one, as by Gkeyll); absent: "
               "start and end")
      .on_restart(OnRestart::free);
  schema.flag("distribution", options.distribution, "Frames hold f, not only moments and fields")
      .on_restart(OnRestart::fixed);
  schema.flag("gkyl", options.gkyl, "Also write Gkeyll's files, for postgkyl").on_restart(OnRestart::free);
  schema
      .flag("openpmd", options.openpmd,
            "Also write moments and fields of each frame by the openPMD standard (openpmd/data_STEP.h5), for "
            "openPMD-viewer, yt and ParaView")
      .on_restart(OnRestart::free);
}

void describe(Schema& schema, BeamOptions& options) {
  schema.formula("plasma_frequency", options.plasma_frequency,
                 "sqrt(n q^2/(epsilon0 m)) of this part of the particles");
  schema.formula("thermal_speed", options.thermal_speed, "sqrt(T/m) along the wave; 0: a cold beam");
  schema.formula("drift", options.drift,
                 "Mean velocity along the wave; for weibel: of two equal beams at +-drift across it");
  schema.formula("transverse_speed", options.transverse_speed,
                 "For weibel: sqrt(T/m) across the wave; absent: thermal_speed");
}

void describe(Schema& schema, TheoryOptions& options) {
  using Kind = TheoryOptions::Kind;
  schema.choice(
      "kind", options.kind,
      {{"given", Kind::given},
       {"electrostatic", Kind::electrostatic},
       {"collisional", Kind::collisional},
       {"weibel", Kind::weibel}},
      "The numbers given here; of drifting Maxwellians (Landau, two-stream, bump-on-tail) the fastest "
      "growing wave or, where all are damped, the one that the run shows; a Langmuir wave with the run's "
      "collisions; the Weibel instability");
  schema.text(
      "quantity", options.quantity,
      "Column of the history that grows as the square of the amplitude: electric_energy, magnetic_energy, "
      "ex_squared ...");
  schema.formula("growth_rate", options.growth_rate, "given: rate of the amplitude; below 0: damping");
  schema.formula("frequency", options.frequency, "given: angular frequency of the amplitude");
  schema.formula(
      "wavenumber", options.wavenumber,
      "Of the wave; needed where the rates are computed, else the longest along x: for the recurrence time");
  schema
      .formulas("direction", options.direction,
                "Direction of the wave in x, of any length; absent: along the first direction")
      .length(0, 3);
  schema.sections(
      "beams", options.beams,
      "The Maxwellians; none: those that the run starts from (weibel, or where f is given otherwise: "
      "one with all values 1, at rest)");
  schema.formula("collision_frequency", options.collision_frequency,
                 "collisional: nu of the operator; absent: the run's, which another one may not contradict");
  schema.formula("light_speed", options.light_speed, "weibel: c; absent: that of the run");
  schema
      .formulas(
          "window", options.window,
          "Times between which the rates are fitted (of a damped wave: until its recurrence); absent: found")
      .length(0, 2);
  schema.text("label", options.label, "What the theory is, for legends");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.kind == Kind::given && !options.growth_rate) return "kind: given needs growth_rate";
    if (options.kind != Kind::given && !options.wavenumber) return "needs wavenumber";
    if (options.window.size() == 1) return "window needs two times";
    return std::nullopt;
  });
}

void describe(Schema& schema, ReferenceOptions& options) {
  schema
      .text("file", options.file,
            "CSV file with a first line of names, times in the first column; absent: none")
      .existing_file();
  schema.text("column", options.column, "Which column to draw beside this run's");
  schema.text("quantity", options.quantity, "Beside which column of the history");
  schema.text("label", options.label, "What the reference is, for legends");
}

void describe(Schema& schema, LimitOptions& options) {
  schema
      .number("shrunk_dt", options.shrunk_dt,
              "Stop (exit 3) when the step has been below this part of the first one ...")
      .at_least(0)
      .below(1);
  schema.integer("shrunk_steps", options.shrunk_steps, "... for so many steps in a row").at_least(1);
  schema
      .number("negative_f", options.negative_f,
              "Stop (exit 3) when a cell mean of f is below minus this part of the greatest one")
      .at_least(0);
  schema
      .number("negative_share", options.negative_share,
              "Warn when the negative part of f holds more than this part of the particles")
      .at_least(0);
  schema
      .number("edge_share", options.edge_share,
              "Stop (exit 3) when the outermost velocity cells of a side hold more than this part of the "
              "mean density "
              "at some place; a tenth of it warns")
      .above(0);
  schema
      .number("gauss_error", options.gauss_error,
              "Stop (exit 3) when the field that epsilon0 div E - rho alone would make is beyond this part "
              "of the "
              "greatest E so far (Maxwell; root mean squares over x), and do not start with more; half of it "
              "warns. Not judged below 1e-4 of the plasma's charge density")
      .above(0);
  schema
      .number("f_squared_growth", options.f_squared_growth,
              "Stop (exit 3) when the integral of f^2 has grown by this part of its first value where "
              "nothing but an "
              "error can make it grow; a tenth of it warns")
      .above(0);
}

void describe(Schema& schema, RunOptions& options) {
  schema.named_formulas("constants", options.constants,
                        "Numbers with names, for all formulas: {k: 0.5, length: 2*pi/k}");
  schema.section("basis", options.basis, "The polynomials").on_restart(OnRestart::fixed);
  schema.section("grid", options.grid, "Configuration space, and the cells of phase space")
      .on_restart(OnRestart::fixed);
  schema.sections("species", options.species, "The kinds of particles")
      .required()
      .length(1)
      .on_restart(OnRestart::fixed);
  schema.section("field", options.field, "The fields");
  schema.choice(
      "flux", options.flux,
      {{"upwind", kinetics::Flux::upwind},
       {"lax_friedrichs", kinetics::Flux::lax_friedrichs},
       {"central", kinetics::Flux::central}},
      "Numerical flux of f; central keeps the integral of f^2 while the ends of velocity space are empty");
  schema.flag(
      "keep_positive", options.keep_positive,
      "Keep f from going negative at control nodes (order + 1 Gauss-Lobatto points a direction) by "
      "drawing it towards the cell mean: keeps the particles of each cell, not its momentum and energy "
      "(see S_limited_momentum_x, S_limited_energy of the history)");
  schema.section("collisions", options.collisions, "Collisions; absent: none");
  schema.section("time", options.time, "The steps");
  schema.section("parallel", options.parallel, "How phase space is shared out").on_restart(OnRestart::free);
  describe_device(schema, options.device);
  schema.section("output", options.output, "Frames over time");
  schema.section("observe", options.observe, "What else is watched; absent: nothing")
      .on_restart(OnRestart::fixed);
  schema.integer("history_interval", options.history_interval, "Steps between rows of the history")
      .at_least(1)
      .on_restart(OnRestart::free);
  describe(schema, options.checkpoints);
  schema.section("theory", options.theory, "Rates to print beside those of the run; absent: none")
      .on_restart(OnRestart::free);
  schema.section("reference", options.reference, "A curve to draw beside the run's")
      .on_restart(OnRestart::free);
  schema.section("limits", options.limits, "When to stop with exit code 3").on_restart(OnRestart::free);
}

}  // namespace quintet::vlasov
