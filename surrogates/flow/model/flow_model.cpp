#include "surrogates/flow/model/flow_model.hpp"
#include "io/parallel/together.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <set>

#include "io/config/suggest.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "surrogates/flow/model/flow_inference.hpp"

namespace quintet::flow {

namespace {

/// Keys `NAME_least` and `NAME_most`.
void describe_range(Schema& schema, const std::string& name, Range& range, const std::string& doc) {
  schema.number(name + "_least", range.least, doc + ", least").required();
  schema.number(name + "_most", range.most, doc + ", most").required();
}

}  // namespace

void describe(Schema& schema, ModelAxis& axis) {
  schema.text("name", axis.name, "Name").required();
  schema.text("units", axis.units, "Unit");
  schema.flag("periodic", axis.periodic, "Whether it is periodic");
  schema.number("lower", axis.lower, "Lower end of the domain").required();
  schema.number("upper", axis.upper, "Upper end of the domain").required();
  describe_range(schema, "spacing", axis.spacing, "Spacing of coarse nodes");
  describe_range(schema, "extent", axis.extent, "Extent of blocks");
}

void describe(Schema& schema, ModelField& field) {
  schema.text("name", field.name, "Name").required();
  schema.text("units", field.units, "Unit");
  schema.number("mean", field.mean, "Mean over the training samples").required();
  schema.number("deviation", field.deviation, "Standard deviation over the training samples")
      .required()
      .above(0);
  schema.number("offset", field.offset,
                "Taken off in double precision: the model is of the field without it");
}

void describe(Schema& schema, ModelParameter& parameter) {
  schema.text("name", parameter.name, "Name").required();
  describe_range(schema, "range", parameter.range, "Values in training");
}

namespace {

/// The header as it is written: lists in place of arrays.
struct HeaderFile {
  FlowModelHeader header;
  std::vector<ModelAxis> axes;
  std::vector<std::int64_t> block, refinement;

  HeaderFile() : axes(n_axes), block(3, 1), refinement(3, 1) {}
  explicit HeaderFile(const FlowModelHeader& from)
      : header(from),
        axes(from.axes.begin(), from.axes.end()),
        block(from.block.begin(), from.block.end()),
        refinement(from.refinement.begin(), from.refinement.end()) {}

  [[nodiscard]] FlowModelHeader take() const {
    FlowModelHeader made = header;
    std::copy_n(axes.begin(), n_axes, made.axes.begin());
    std::copy_n(block.begin(), 3, made.block.begin());
    std::copy_n(refinement.begin(), 3, made.refinement.begin());
    return made;
  }
};

void describe(Schema& schema, HeaderFile& file) {
  schema.section("model", file.header.options, "Networks");
  schema.sections("axes", file.axes, "Axes, time first; of volumes three of space")
      .required()
      .length(n_axes, n_axes);
  schema.sections("fields", file.header.fields, "Fields").required().length(1, 1000);
  schema.sections("parameters", file.header.parameters, "Parameters of the flow");
  schema.integers("block", file.block, "Coarse nodes of a training block")
      .required()
      .length(3, 3)
      .at_least(1)
      .at_most(65536);
  schema.integers("refinement", file.refinement, "Fine points a coarse node")
      .required()
      .length(3, 3)
      .at_least(1)
      .at_most(1024);
  schema.section("equations", file.header.equations, "Equations");
  schema.flag("reference_compatible", file.header.reference_compatible,
              "Trained with the released reference's wrong conventions");
}

bool all_finite(const auto& values) {
  return std::all_of(values.begin(), values.end(), [](auto v) { return std::isfinite(v); });
}

void check_header(const FlowModelHeader& header, const std::string& path) {
  std::set<std::string> names;
  for (const auto& field : header.fields)
    QUINTET_CHECK(names.insert(field.name).second, "{}: two fields are named '{}'", path, field.name);
  for (const auto& axis : header.axes)
    QUINTET_CHECK(axis.upper >= axis.lower && axis.spacing.least > 0 &&
                      axis.spacing.most >= axis.spacing.least && axis.extent.most >= axis.extent.least,
                  "{}: axis {} has ends {} and {}, spacings {} to {}; expected ascending numbers", path,
                  axis.name, axis.lower, axis.upper, axis.spacing.least, axis.spacing.most);
  for (const auto& parameter : header.parameters)
    QUINTET_CHECK(parameter.range.most >= parameter.range.least,
                  "{}: parameter {} was {} to {} in training; expected ascending numbers", path,
                  parameter.name, parameter.range.least, parameter.range.most);
  for (const auto& name : header.options.conditioning) {
    const auto known = header.parameter_names();
    QUINTET_CHECK(std::find(known.begin(), known.end(), name) != known.end(),
                  "{}: conditioning on '{}', which is no parameter{}; expected one of {}", path, name,
                  did_you_mean(name, known), name_list(known));
  }
}

}  // namespace

std::vector<std::string> FlowModelHeader::field_names() const {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  return names;
}
std::vector<std::string> FlowModelHeader::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& parameter : parameters) names.push_back(parameter.name);
  return names;
}
std::array<std::string, n_axes> FlowModelHeader::axis_names() const {
  return {axes[0].name, axes[1].name, axes[2].name};
}
std::array<bool, n_axes> FlowModelHeader::axis_periods() const {
  return {axes[0].periodic, axes[1].periodic, axes[2].periodic};
}
FlowEquations FlowModelHeader::flow_equations() const {
  return {equations, field_names(), axis_names(), axis_periods(), parameter_names()};
}

void save_flow_model(const Comm& comm, const std::string& path, const FlowModel& model,
                     const hdf5::Provenance& provenance) {
  const std::string temporary = path + ".tmp";
  hdf5::File file = hdf5::File::create(comm, temporary);
  hdf5::write_header(file.root(), flow_model_schema, flow_model_version, provenance);
  HeaderFile header(model.header);
  file.root().write_text("model", to_yaml(options_tree(described(header))), {"1", {}, "what the model is"});
  file.root().write("parameters", std::span<const float>(model.parameters),
                    {flow_network_size(model.header).parameters},
                    {"1", {"parameter"}, "encoder's, then decoder's"});
  file.root().write("statistics", std::span<const double>(model.statistics), {model.statistics.size()},
                    {"1", {"statistic"}, "running means and variances of the encoder's normalisations"});
  const auto write_frames = [&](const char* name, const std::vector<std::int64_t>& frames, const char* text) {
    if (!frames.empty())
      file.root().write<std::int64_t>(name, frames, {frames.size()}, {"1", {"frame"}, text});
  };
  write_frames("trained_on", model.header.trained_on, "Fingerprints of the frames it learned from");
  write_frames("chosen_by", model.header.chosen_by, "Fingerprints of the frames by which it was chosen");
  file.close();
  hdf5::seal(comm, temporary);
  on_root(comm, [&] { std::filesystem::rename(temporary, path); });
}

FlowModel load_flow_model(const Comm& comm, const std::string& path) {
  hdf5::verify_if_sealed(comm, path);
  const hdf5::File file = hdf5::File::open(comm, path);
  hdf5::check_header(file, flow_model_schema, flow_model_version);
  HeaderFile header;
  parse_options(parse_yaml(file.root().read_text("model"), path + ": model"), described(header));
  FlowModel model;
  model.header = header.take();
  check_header(model.header, path);
  // Sizes before numbers: a network of these options may be larger than any file.
  const FlowNetworkSize size = flow_network_size(model.header);
  model.parameters = file.root().read<float>("parameters", {size.parameters});
  model.statistics = file.root().read<double>("statistics", {size.statistics});
  const auto read_frames = [&](const char* name, std::vector<std::int64_t>& frames) {
    if (!file.root().has(name)) return;
    frames = file.root().read<std::int64_t>(name);
    std::sort(frames.begin(), frames.end());
  };
  read_frames("trained_on", model.header.trained_on);
  read_frames("chosen_by", model.header.chosen_by);
  QUINTET_CHECK(all_finite(model.parameters) && all_finite(model.statistics),
                "{}: a weight of the model is not finite", path);
  static_cast<void>(model.header.flow_equations());  // texts that cannot be read end here
  return model;
}

namespace {

/// Whether blocks of the training reached around a periodic axis. Of shorter ones the network has learnt no
/// period: any does that holds a block.
bool met_whole(const FlowModelHeader& header, std::size_t i) {
  const ModelAxis& axis = header.axes[i];
  return (header.block[i] + 0.5) * axis.spacing.most > axis.upper - axis.lower;
}

}  // namespace

std::vector<std::string> beyond_training(const FlowModelHeader& header, const PredictionSetting& setting,
                                         double tolerance) {
  std::vector<std::string> found;
  if (header.reference_compatible)
    found.push_back("the model was trained with the released reference's conventions, for comparison only");
  for (const auto& parameter : header.parameters) {
    const auto given = setting.parameters.find(parameter.name);
    const auto [least, most] = parameter.range;
    const double slack = tolerance * std::max(std::abs(least), std::abs(most));
    if (given == setting.parameters.end())
      found.push_back(
          fmt::format("{0} is not known (describe_file: {{parameters: {{{0}: ...}}}} gives it); the model "
                      "was trained for {1} to {2}",
                      parameter.name, least, most));
    else if (!(given->second >= least - slack && given->second <= most + slack))
      found.push_back(fmt::format("{} = {}; the model was trained for {} to {}", parameter.name,
                                  given->second, least, most));
  }
  for (std::size_t i = 0; i < n_axes; ++i) {
    const ModelAxis &known = header.axes[i], &asked = setting.axes[i];
    if (known.name != asked.name)
      found.push_back(
          fmt::format("axis {} is named '{}'; the model was trained for '{}'", i, asked.name, known.name));
    if (!(asked.spacing.least >= known.spacing.least * (1 - tolerance) &&
          asked.spacing.most <= known.spacing.most * (1 + tolerance)))
      found.push_back(fmt::format(
          "spacing along {} of {:.6g} to {:.6g}; the model was trained for {:.6g} to "
          "{:.6g}",
          known.name, asked.spacing.least, asked.spacing.most, known.spacing.least, known.spacing.most));
    if (i == 0 && !header.of_volumes()) continue;
    if (known.periodic != asked.periodic)
      found.push_back(fmt::format("axis {} is {}periodic; the model was trained for one that is{}",
                                  known.name, asked.periodic ? "" : "not ", known.periodic ? "" : " not"));
    else if (!known.periodic &&
             (std::abs(asked.lower - known.lower) > tolerance * (known.upper - known.lower) ||
              std::abs(asked.upper - known.upper) > tolerance * (known.upper - known.lower)))
      found.push_back(fmt::format("walls of {} at {} and {}; the model was trained for {} and {}", known.name,
                                  asked.lower, asked.upper, known.lower, known.upper));
    else if (known.periodic && met_whole(header, i) &&
             std::abs((asked.upper - asked.lower) - (known.upper - known.lower)) >
                 tolerance * (known.upper - known.lower))
      found.push_back(fmt::format("period of {} along {}; the model was trained for {}",
                                  asked.upper - asked.lower, known.name, known.upper - known.lower));
  }
  return found;
}

}  // namespace quintet::flow
