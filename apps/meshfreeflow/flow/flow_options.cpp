#include "apps/meshfreeflow/flow/flow_options.hpp"

#include <fmt/format.h>

#include "io/config/table.hpp"

namespace quintet::meshfreeflow::periodic {

void describe(Schema& schema, BoxOptions& options) {
  schema.formulas("lengths", options.lengths, "Periods along x and y, which begin at 0").length(2, 2);
  schema.integers("cells", options.cells, "Cells along x and y, numbers with a fast transform")
      .required()
      .length(2, 2)
      .at_least(4)
      .at_most(32768)
      .example("[128, 128]");
  std::string doc = "How products are kept free of waves that the grid takes for others.";
  for (const auto& row : spectral::dealias_rows()) doc += fmt::format(" {}: {};", row.name, row.doc);
  doc.back() = '.';
  schema.choice("dealias", options.dealias, choices_of(spectral::dealias_rows()), doc);
}

void describe(Schema& schema, NoiseOptions& options) {
  schema.text("variable", options.variable, "To which it is added").required().example("w");
  schema.number("rms", options.rms, "Its root mean square, on average over seeds").required().above(0);
  schema
      .number("least_wave", options.least_wave, "Waves of the box with at least this number, sqrt(j^2 + l^2)")
      .at_least(1);
  schema.number("most_wave", options.most_wave, "And at most this one").at_least(1);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.most_wave >= options.least_wave) return std::nullopt;
    return fmt::format("most_wave {:g} is below least_wave {:g}", options.most_wave, options.least_wave);
  });
}

void describe(Schema& schema, TimeOptions& options) {
  schema.number("end", options.end, "Time at which the run ends")
      .required()
      .above(0)
      .at_most(1e9)
      .on_restart(OnRestart::free);
  schema
      .formulas(
          "speeds", options.speeds,
          "Speeds along x and y of what travels fastest, such as [abs(u) + sqrt(g*h), abs(v) + sqrt(g*h)]")
      .length(0, 2);
  schema
      .number("cfl", options.cfl,
              "dt = cfl/max(|speed_x| K_x + |speed_y| K_y), K the highest wavenumber kept: radians that the "
              "shortest wave travels in a step; steps of ETDRK4 are stable up to 2 sqrt(2)")
      .above(0)
      .at_most(2.8);
  schema.number("most_dt", options.most_dt, "The longest step, where there are speeds").above(0).at_most(1e6);
  schema.number("dt", options.dt, "A fixed step; with speeds the longest that is taken")
      .above(0)
      .at_most(1e6);
  schema.integer("steps", options.steps, "At most so many steps; absent: any number")
      .at_least(0)
      .on_restart(OnRestart::free);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.speeds.size() == 1) return "speeds: one formula; expected two, along x and along y";
    if (options.speeds.empty() && !options.dt)
      return "how long a step may be is not known; give speeds (formulas along x and y of what travels "
             "fastest, such as "
             "[u, v]), or a fixed dt";
    const double dt = std::min(options.most_dt, options.dt.value_or(options.most_dt)),
                 steps = options.end / dt;
    constexpr double most_steps = 1e12;
    if (steps <= most_steps || options.steps) return std::nullopt;
    return fmt::format("end {:g} is {:.1e} steps of {:g} away; no run has more than {:g}", options.end, steps,
                       dt, most_steps);
  });
}

void describe(Schema& schema, OutputOptions& options) {
  schema
      .number("frame_interval", options.frame_interval,
              "Time between frames; steps are cut so that one ends at each multiple; absent: start and end")
      .above(0)
      .on_restart(OnRestart::free);
  schema.number("from", options.from, "Time of the first frame, where there is an interval")
      .at_least(0)
      .on_restart(OnRestart::free);
  schema
      .texts("fields", options.fields,
             "Variables and diagnosed fields in the frames; none given: all of them")
      .on_restart(OnRestart::fixed);
  schema.flag("double_precision", options.double_precision, "Frames of float64 instead of float32")
      .on_restart(OnRestart::fixed);
}

void describe(Schema& schema, SpectrumOptions& options) {
  schema.text("name", options.name, "Of the spectrum in run.h5").required().example("kinetic");
  schema
      .formulas("of", options.of,
                "Formulas f whose shares of the sum of <f^2>/2 it has, wavenumber by wavenumber")
      .required()
      .length(1)
      .example("[u, v]");
}

void describe(Schema& schema, LimitOptions& options) {
  schema
      .number("shrunk_dt", options.shrunk_dt,
              "Stop (exit 3) when the step that time.cfl admits falls below this part of time.most_dt")
      .at_least(0)
      .below(1);
  schema
      .number("spectrum_tail", options.spectrum_tail,
              "Stop when waves beyond two thirds of those kept, along x or y, hold more than this part of a "
              "variable's "
              "variance; a tenth of it warns. 1: never")
      .above(0)
      .at_most(1);
}

void describe(Schema& schema, FlowOptions& options) {
  schema
      .named_formulas("parameters", options.parameters,
                      "Numbers under names of your choice; may use each other")
      .example("{nu: 1e-3}");
  schema
      .named_formulas(
          "equations", options.equations,
          "The variables, each with d/dt of it, a formula of variables, diagnosed fields, parameters, x, y "
          "and t")
      .required()
      .example("{w: \"-u*dx(w) - v*dy(w) + nu*lap(w)\"}");
  schema
      .named_formulas("diagnosed", options.diagnosed,
                      "Fields that follow from the variables at each instant; may use each other")
      .example("{psi: \"-inverse_lap(w)\", u: dy(psi), v: -dx(psi)}");
  schema.section("box", options.box, "The doubly periodic box").on_restart(OnRestart::fixed);
  schema
      .named_formulas(
          "start", options.start,
          "Variables at time 0, formulas of parameters, x and y (operators allowed); not given: 0")
      .on_restart(OnRestart::fixed);
  schema.sections("noise", options.noise, "Random waves added to the start, different for each seed")
      .on_restart(OnRestart::fixed);
  schema.integers("seeds", options.seeds, "Of the noise: one flow for each, all with the same steps")
      .length(1, 10000)
      .at_least(0)
      .on_restart(OnRestart::fixed);
  schema.section("time", options.time, "The steps");
  schema.section("output", options.output, "Fields over time, in fields.h5");
  schema
      .named_formulas("means", options.means,
                      "Means over the box that the history has, such as (u^2 + v^2)/2")
      .on_restart(OnRestart::free);
  schema.named_formulas("maxima", options.maxima, "Greatest values that the history has, such as abs(w)")
      .on_restart(OnRestart::free);
  schema.sections("spectra", options.spectra, "Spectra by wavenumber, sampled with the history")
      .on_restart(OnRestart::fixed);
  schema.text("picture", options.picture, "Field that the report shows; none given: the first variable")
      .on_restart(OnRestart::fixed);
  schema.integer("history_interval", options.history_interval, "Steps between rows of the history")
      .at_least(1)
      .on_restart(OnRestart::free);
  describe(schema, options.checkpoints);
  schema.section("limits", options.limits, "When to stop with exit code 3").on_restart(OnRestart::free);
}

}  // namespace quintet::meshfreeflow::periodic
