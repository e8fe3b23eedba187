#include "apps/meshfreeflow/evaluate/evaluate_options.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "apps/meshfreeflow/superresolve/superresolve_options.hpp"
#include "physics/codes/coded_matrix.hpp"

namespace quintet::meshfreeflow {
namespace {

/// Names become part of keys in summary.json.
bool is_plain(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

std::optional<std::string> problem_of_names(const std::vector<std::string>& names, const char* what) {
  std::set<std::string> seen;
  for (const auto& name : names) {
    if (!is_plain(name))
      return fmt::format("{}: '{}' is no name; lower-case letters, digits and _ make one", what, name);
    if (!seen.insert(name).second) return fmt::format("{}: '{}' is taken; choose another name", what, name);
  }
  return std::nullopt;
}

}  // namespace

void describe(Schema& schema, CaseOptions& options) {
  schema.text("name", options.name, "Its name in tables and keys").required();
  schema.section("truth", options.truth, "Fields at high resolution");
  schema.section(
      "coarse", options.coarse,
      "An independent coarse run of the same flow; absent: the truth is made coarser by `low_resolution`");
}

void describe(Schema& schema, JudgedModelOptions& options) {
  schema.text("name", options.name, "Its name in tables and keys: ours, gamma_0, unet").required();
  schema.text("file", options.file, "What `meshfreeflow train` wrote").required().existing_file();
  schema.choice("encoder", options.encoder, encoder_cover_names(), encoder_cover_text);
}

void describe(Schema& schema, WallValueOptions& options) {
  schema.text("field", options.field, "Name of the field").required();
  schema.text("at", options.at, "An end of an axis").required().example("z.lower");
  schema.number("value", options.value, "What the field is there");
}

void describe(Schema& schema, FlowOptions& options) {
  schema
      .texts("velocity", options.velocity,
             "Fields that are the velocity along each axis of space, slowest first")
      .length(2, 2);
  schema.text("scalar", options.scalar, "The field that is carried and heats; empty: none");
  schema.formula("viscosity", options.viscosity, "Of the parameters of the data");
  schema.formula("diffusivity", options.diffusivity, "Of the scalar, of the parameters of the data");
  schema.sections(
      "walls", options.walls,
      "What fields are known to be at walls; absent: what the file says, else what the data are there. A "
      "value that the data contradict is refused");
}

void describe(Schema& schema, DecoderCodesOptions& options) {
  describe_codes(schema, options.codes, "Models of 1 to so many bits a weight");
}

void describe(Schema& schema, EvaluateOptions& options) {
  schema
      .sections("cases", options.cases, "Flows that are known at high resolution, not those of the training")
      .required()
      .length(1);
  schema.sections("models", options.models,
                  "Models to be judged; linear interpolation is judged beside them, or alone where there are "
                  "none");
  schema.section("low_resolution", options.low_resolution,
                 "How the truth is made coarser; absent: by the first model's factors, with the default "
                 "filters. Needed where there is no model");
  schema.section("flow", options.flow, "What the fields mean; absent: no statistics of a flow");
  schema.numbers("spectra_at", options.spectra_at,
                 "Places along the axis that is not periodic at which spectra are shown; absent: its middle");
  schema.flag("tricubic", options.tricubic,
              "Judge interpolation by cubics, too: each axis through the four nearest coarse nodes");
  schema.flag("residuals", options.residuals,
              "Form residuals by the decoders' own derivatives, too, which takes about five times as long as "
              "fields alone; false: by finite differences only");
  schema.text("picture", options.picture,
              "The field that pictures show; absent: the scalar, else the first field");
  schema.section(
      "quantise", options.quantise,
      "Judge each model also with the matrices of its decoder as binary codes, as NAME_1bit, NAME_2bit ...");
  schema.section(
      "error_bars", options.error_bars,
      "Judge error bars of the first model by an ensemble, and print the scale that makes them right");
  schema.choice("outside_training", options.outside_training, outside_training_names(),
                "Where a case goes beyond what a model was trained for: refuse it, or mark it in the report");
  schema.choice("check", options.check, flow::data_check_names(),
                std::string(flow::data_check_text) + ". With outside_training: mark they are warned of, too");
  schema.number("max_memory", options.max_memory, "Memory that a rank may use (GB)")
      .above(0)
      .on_restart(OnRestart::free);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.models.empty() && !options.low_resolution &&
        std::any_of(options.cases.begin(), options.cases.end(), [](const auto& one) { return !one.coarse; }))
      return "without models, low_resolution must say how the truth is made coarser: "
             "'low_resolution: {factor: [4, 4, 4]}'";
    if (options.error_bars && options.models.empty())
      return "error_bars are of the first model, but there is none: name it in models";
    std::vector<std::string> cases, models{"trilinear", "tricubic", "truth"};
    for (const auto& one : options.cases) cases.push_back(one.name);
    for (const auto& one : options.models) models.push_back(one.name);
    if (auto problem = problem_of_names(cases, "cases")) return problem;
    return problem_of_names(models, "models");
  });
}

}  // namespace quintet::meshfreeflow
