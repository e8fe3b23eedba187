#include "surrogates/flow/data/data_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/config/schema.hpp"

namespace quintet::flow {
namespace {

const std::vector<std::pair<std::string, LowResolutionFilter>> filters{{"box", LowResolutionFilter::box},
                                                                       {"point", LowResolutionFilter::point}};

}  // namespace

const std::vector<std::pair<std::string, DataCheck>>& data_check_names() {
  static const std::vector<std::pair<std::string, DataCheck>> names{
      {"refuse", DataCheck::refuse}, {"warn", DataCheck::warn}, {"off", DataCheck::off}};
  return names;
}
const char* const data_check_text =
    "Where residuals of the equations on the data, by finite differences, are more than a tenth of their "
    "largest term: refuse, or warn and go on; off: not looked at";

void describe(Schema& schema, LowResolutionOptions& options) {
  schema
      .integers("factor", options.factor,
                "How many times fewer points along each axis: time, then two of space; or three of space")
      .length(3, 3)
      .at_least(1)
      .at_most(1024);
  schema.choice("time_filter", options.time_filter, filters,
                "Along time: mean over `factor` frames (box), or one of them (point)");
  schema.choice("space_filter", options.space_filter, filters,
                "Along space: mean over `factor` points, weighted by their cells' widths (box), or one of "
                "them (point)");
  schema
      .texts("files", options.files,
             "Independent coarse runs in place of a filter: one file for each of `data.files`, with as many "
             "samples")
      .existing_file();
}

void describe(Schema& schema, SplitOptions& options) {
  schema.choice(
      "by", options.by, {{"sample", SplitBy::sample}, {"time", SplitBy::time}},
      "sample: the last samples are for the test, those before for validation; time: the last frames of each "
      "sample in the same way");
  schema.number("validation", options.validation, "Share for validation").at_least(0).below(1);
  schema.number("test", options.test, "Share for the test").at_least(0).below(1);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.validation + options.test < 1) return std::nullopt;
    return fmt::format(
        "validation + test = {:g} leave nothing to train on; expected less than 1 together, as 0.25 and 0.25",
        options.validation + options.test);
  });
}

void describe(Schema& schema, FileAxisOptions& options) {
  schema.text("name", options.name, "Name of the axis").required();
  schema.number("lower", options.lower, "Lower end of the domain");
  schema.number("upper", options.upper, "Upper end of the domain");
  schema.choice("points", options.points,
                {{"stored", AxisFacts::Points::stored},
                 {"uniform", AxisFacts::Points::uniform},
                 {"chebyshev", AxisFacts::Points::chebyshev}},
                "Where the points lie: as the file says, equally spaced (cell centres; from `lower` on where "
                "periodic), "
                "or at Chebyshev roots");
  schema.choice("periodic", options.periodic,
                {{"stored", FileAxisOptions::Periodic::stored},
                 {"yes", FileAxisOptions::Periodic::yes},
                 {"no", FileAxisOptions::Periodic::no}},
                "Whether the axis is periodic");
}

void describe(Schema& schema, FileOptions& options) {
  schema.text("part", options.part,
              "Which series of a file that holds several, such as pictures/elc_x_vx of vlasov's");
  schema.named_quantities("parameters", options.parameters, "1",
                          "Named numbers that hold for all files, such as Ra");
  schema.sections("axes", options.axes, "Axes of space: ends, points");
  schema.number("time_spacing", options.time_spacing, "Time between frames, for files without times")
      .above(0);
}

FieldSeriesOptions reader_options(const FileOptions& options) {
  FieldSeriesOptions result;
  result.part = options.part;
  result.parameters.insert(options.parameters.begin(), options.parameters.end());
  result.time_spacing = options.time_spacing;
  for (const auto& axis : options.axes) {
    AxisFacts facts{axis.lower, axis.upper, std::nullopt, axis.points};
    if (axis.periodic != FileAxisOptions::Periodic::stored)
      facts.periodic = axis.periodic == FileAxisOptions::Periodic::yes;
    result.facts[axis.name] = facts;
  }
  return result;
}

void describe(Schema& schema, FlowDataOptions& options) {
  schema
      .texts(
          "files", options.files,
          "Fields over time: ours, The Well's, Dedalus', netCDF, zarr, vlasov's run.h5, the reference's npz")
      .required()
      .length(1)
      .existing_file();
  schema.texts("fields", options.fields, "Fields that are the channels, in this order").length(1);
  schema
      .texts("axes", options.axes,
             "Axes of space, slowest first. Three: volumes, of which each frame is refined by itself")
      .length(2, 3);
  schema
      .integers("crop", options.crop,
                "Points of a crop at high resolution: time, then two of space; or three of space")
      .length(3, 3)
      .at_least(2)
      .at_most(65536);
  schema.integer("points", options.points, "Points drawn in each crop").at_least(1).at_most(1 << 22);
  schema.section("low_resolution", options.low_resolution, "How the low resolution is made");
  schema.section("split", options.split, "What is kept for validation and test");
  schema.section("describe_files", options.describe_files, "What the files do not say of themselves");
  schema.choice("check", options.check, data_check_names(), data_check_text).on_restart(OnRestart::free);
  schema.number("memory", options.memory, "Memory that the fields may take on a node (GB)")
      .above(0)
      .on_restart(OnRestart::free);
  schema.flag(
      "reference_compatible", options.reference_compatible,
      "The conventions of the released reference, right or wrong, for comparison only: low resolution at "
      "linspace(0, n - 1, n/factor), coordinates by index in [0, 1], statistics over all frames");
  schema.check([&options]() -> std::optional<std::string> {
    for (const auto& field : options.fields)
      if (std::count(options.fields.begin(), options.fields.end(), field) > 1)
        return fmt::format("fields: '{}' is there twice", field);
    const auto& files = options.low_resolution.files;
    if (!files.empty() && files.size() != options.files.size())
      return fmt::format("low_resolution.files has {} entries, files has {}", files.size(),
                         options.files.size());
    if (!files.empty() && options.reference_compatible)
      return "reference_compatible has no low resolution of its own: leave low_resolution.files out";
    if (options.of_volumes() && options.reference_compatible)
      return "reference_compatible: the reference has no volumes; expected two axes";
    for (std::size_t d = 0; d < 3 && d < options.crop.size() && d < options.low_resolution.factor.size();
         ++d) {
      if (options.crop[d] % options.low_resolution.factor[d] != 0)
        return fmt::format(
            "crop {} cannot be made {} times smaller: choose multiples of low_resolution.factor",
            options.crop[d], options.low_resolution.factor[d]);
      if (options.crop[d] / options.low_resolution.factor[d] < 2)
        return fmt::format("crop {} made {} times smaller has no 2 nodes", options.crop[d],
                           options.low_resolution.factor[d]);
    }
    return std::nullopt;
  });
}

}  // namespace quintet::flow
