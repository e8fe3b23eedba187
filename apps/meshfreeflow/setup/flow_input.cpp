#include "apps/meshfreeflow/setup/flow_input.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/data/samples.hpp"
#include "surrogates/flow/data/series_input.hpp"

namespace quintet::meshfreeflow {

namespace {
constexpr int most_frames = 1 << 30;  // what int counts, and sums of two
}

void describe(Schema& schema, FlowInputOptions& options) {
  schema
      .text(
          "file", options.file,
          "Fields over time: ours, The Well's, Dedalus', netCDF, zarr, vlasov's run.h5, the reference's npz")
      .required()
      .existing_file();
  schema.integer("sample", options.sample, "Number of the sample in the file").at_least(0);
  schema.integer("first_frame", options.first_frame, "The frame to begin with")
      .at_least(0)
      .at_most(most_frames);
  schema.integer("frames", options.frames, "How many from there on; absent: all")
      .at_least(1)
      .at_most(most_frames);
  schema.section("describe_file", options.describe_file, "What the file does not say of itself");
}

namespace {

FieldSeriesReader open_alone(const FlowInputOptions& options) {
  return FieldSeriesReader::open(Comm::self(), options.file, flow::reader_options(options.describe_file));
}

}  // namespace

flow::FlowModelHeader header_of(const Comm& comm, const FlowInputOptions& options) {
  flow::FlowModelHeader header;
  together(comm, [&] {
    const auto file = open_alone(options);
    const auto& axes = file.header().axes;
    QUINTET_CHECK(axes.size() == 2, "{}: has {} axes of space; expected 2", options.file, axes.size());
    header.axes[0].name = flow::time_name;
    for (std::size_t i = 0; i < axes.size(); ++i) header.axes[i + 1].name = axes[i].name;
    for (const auto& field : file.header().fields) {
      header.fields.emplace_back();
      header.fields.back().name = field.name;
    }
  });
  return header;
}

std::map<std::string, double> read_flow_parameters(const Comm& comm, const FlowInputOptions& options) {
  std::map<std::string, double> parameters;
  together(comm, [&] {
    const auto file = open_alone(options);
    QUINTET_CHECK(options.sample < static_cast<int>(file.n_samples()),
                  "{}: there is no sample {}; the file has {}", options.file, options.sample,
                  file.n_samples());
    parameters = file.parameters(options.sample);
  });
  return parameters;
}

flow::FlowDataOptions data_of(const FlowInputOptions& options, const flow::FlowModelHeader& model) {
  flow::FlowDataOptions data;
  data.files = {options.file};
  data.fields = model.field_names();
  data.axes.clear();
  for (const auto& name : model.axis_names())
    if (flow::is_space(name)) data.axes.push_back(name);
  data.describe_files = options.describe_file;
  for (const auto& field : model.fields) data.offsets.push_back(field.offset);
  return data;
}

FlowInput read_flow(const Comm& comm, const FlowInputOptions& options, const flow::FlowModelHeader& model,
                    double memory, const Interrupt& interrupt) {
  auto data = data_of(options, model);
  data.memory = memory;
  data.memory_key = "max_memory";
  std::int64_t count = 0;
  const auto check_frames = [&](std::int64_t n_frames) {
    count = options.frames.value_or(n_frames - options.first_frame);
    QUINTET_CHECK(count >= 2 && options.first_frame <= n_frames - count,
                  "{}: frames {} to {} are asked for; there are {}, and at least 2 are needed", options.file,
                  options.first_frame, options.first_frame + count - 1, n_frames);
  };
  bool is_equal = true;
  together(comm, [&] {
    const auto reader = flow::open_series(options.file, data);
    QUINTET_CHECK(options.sample < static_cast<int>(reader.n_samples()),
                  "{}: there is no sample {}; the file has {}", options.file, options.sample,
                  reader.n_samples());
    is_equal = flow::has_equal_times(reader);
    if (is_equal) check_frames(reader.n_frames(options.sample));
  });
  const flow::SampleChoice choice{static_cast<std::uint64_t>(options.sample),
                                  static_cast<int>(options.first_frame), static_cast<int>(count)};
  const flow::Samples samples(comm, data.files, data, interrupt, choice);
  const auto& sample = samples[0];
  if (!is_equal) check_frames(sample.n_frames());  // interpolated ones
  FlowInput input{sample.name, {}, sample.parameters, sample.wall_values};
  auto& block = input.block;
  block.axes = sample.axes;
  block.n_fields = data.fields.size();
  block.values.assign(sample.values, sample.values + data.fields.size() * sample.n_points());
  if (!is_equal) keep_frames(block, options.first_frame, static_cast<int>(count));
  return input;
}

void keep_frames(flow::FieldBlock& block, int first, int count) {
  auto& axis = block.axes[0];
  const auto n = axis.coordinates.size(), from = static_cast<std::size_t>(first),
             kept = static_cast<std::size_t>(count);
  if (kept == n) return;
  const std::size_t frame = block.n_points() / n;
  std::vector<float> values;
  values.reserve(block.n_fields * kept * frame);
  for (std::size_t f = 0; f < static_cast<std::size_t>(block.n_fields); ++f) {
    const float* begin = &block.values[(f * n + from) * frame];
    values.insert(values.end(), begin, begin + kept * frame);
  }
  block.values = std::move(values);
  const auto part = [&](const std::vector<double>& all) {
    const auto begin = all.begin() + first;
    return all.empty() ? all : std::vector<double>(begin, begin + count);
  };
  axis.coordinates = part(axis.coordinates);
  axis.widths = part(axis.widths);
  axis.lower = axis.coordinates.front();
  axis.upper = axis.coordinates.back();
}

flow::FieldBlock made_coarser(flow::FieldBlock& block, const flow::LowResolutionOptions& options,
                              const std::array<std::string, 3>& names, const std::string& where) {
  flow::require_whole_nodes(block.axes, names, coarsening(options), where);
  const int factor = options.factor[0];
  const int n = block.axes[0].size();
  QUINTET_CHECK(n / factor >= 2,
                "{}: {} made {} times fewer (low_resolution.factor) leave {}; at least 2 are needed", where,
                counted(n, "frame"), factor, n / factor);
  keep_frames(block, 0, n / factor * factor);
  return flow::coarsen(flow::BlockView(block), coarsening(options));
}

flow::Coarsening coarsening(const flow::LowResolutionOptions& options) {
  flow::Coarsening result;
  for (std::size_t i = 0; i < 3; ++i) result.factor[i] = options.factor[i];
  result.filter = {options.time_filter, options.space_filter, options.space_filter};
  return result;
}

FieldAxis field_axis(const flow::BlockAxis& axis, const std::string& name, const std::string& units) {
  return {name, units, axis.coordinates, axis.periodic, axis.lower, axis.upper};
}

const std::vector<std::pair<std::string, OutsideTraining>>& outside_training_names() {
  static const std::vector<std::pair<std::string, OutsideTraining>> names{{"refuse", OutsideTraining::refuse},
                                                                          {"mark", OutsideTraining::mark}};
  return names;
}

void judge_training(Context& context, const std::vector<std::string>& doubts, OutsideTraining choice,
                    const std::string& model) {
  if (doubts.empty()) return;
  QUINTET_CHECK(choice == OutsideTraining::mark,
                "{}: this goes beyond what the model was trained for: {}. To compute it all the same, marked "
                "in file and "
                "report, set outside_training: mark",
                model, fmt::join(doubts, "; "));
  for (const auto& doubt : doubts) {
    log::warning("Beyond the training of {}: {}", model, doubt);
    context.report().warning("Beyond the training of " + model + ": " + doubt + ".");
  }
}

}  // namespace quintet::meshfreeflow
