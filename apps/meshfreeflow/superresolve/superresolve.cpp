#include "apps/meshfreeflow/superresolve/superresolve.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/report/report.hpp"
#include "apps/meshfreeflow/superresolve/output_grid.hpp"
#include "apps/meshfreeflow/superresolve/point_list.hpp"
#include "apps/meshfreeflow/superresolve/predicted_frames.hpp"
#include "apps/meshfreeflow/superresolve/predicted_points.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/log/rounded_up.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/flow/prediction/error_bars.hpp"

namespace quintet::meshfreeflow {
namespace {

flow::FieldBlock coarse_block(FlowInput&& input, const flow::LowResolutionOptions& options,
                              const std::array<std::string, 3>& names) {
  const bool as_it_is = std::all_of(options.factor.begin(), options.factor.end(),
                                    [](std::int64_t factor) { return factor == 1; });
  if (as_it_is) return std::move(input.block);
  return made_coarser(input.block, options, names, input.name);
}

double n_models(const SuperresolveOptions& options) {
  return 1.0 + (options.error_bars ? options.error_bars->members.size() : 0);
}

/// Bytes of max_memory for each model, beside the output's own: the members of an ensemble get as much as the
/// model.
double bytes_for_each(const SuperresolveOptions& options, double output_bytes) {
  return (options.max_memory * 1e9 - output_bytes) / n_models(options);
}

flow::PredictionOptions prediction_options(const Context& context, const SuperresolveOptions& options,
                                           const DeviceSession& device, double bytes) {
  return {options.encoder, options.residuals,    bytes, options.precision, options.precision_bound,
          device,          interrupt_of(context)};
}

/// Refuse a max_memory that does not hold output and models, with the least that does. One model beside an
/// output that fits says so itself.
void check_memory(const Context& context, const SuperresolveOptions& options, const DeviceSession& device,
                  const flow::FlowModel& model, const flow::FieldBlock& coarse,
                  const std::map<std::string, double>& parameters, double output_bytes) {
  const double each = bytes_for_each(options, output_bytes);
  if (each > 0 && !options.error_bars) return;
  const flow::FlowPredictor predictor(model, coarse, parameters,
                                      prediction_options(context, options, device, 1e18));
  const double least = predictor.least_memory();
  QUINTET_CHECK(
      each >= least,
      "max_memory of {:.4g} GB is too little: the output alone takes {:.4g} GB on a rank; the least that "
      "works is {} GB",
      options.max_memory, output_bytes * 1e-9, rounded_up((output_bytes + n_models(options) * least) * 1e-9));
}

/// Error bars of the model's fields, if they are asked for. Collective.
std::optional<flow::ErrorBars> make_error_bars(Context& context, const SuperresolveOptions& options,
                                               const DeviceSession& device, const flow::FlowModel& model,
                                               const flow::FieldBlock& coarse,
                                               const std::map<std::string, double>& parameters,
                                               double output_bytes) {
  if (!options.error_bars) return std::nullopt;
  flow::ErrorBars bars(load_members(context.comm(), *options.error_bars, model), model.header, coarse,
                       parameters,
                       prediction_options(context, options, device, bytes_for_each(options, output_bytes)),
                       options.error_bars->scale);
  if (options.error_bars->scale.empty())
    log::warning(
        "Error bars are not calibrated: error_bars.scale is absent. `meshfreeflow evaluate` with error_bars, "
        "on "
        "flows with a known truth, prints it");
  return bars;
}

/// What the members are beyond, where the model is not: said once.
std::vector<std::string> only_theirs(const std::vector<std::string>& members,
                                     const std::vector<std::string>& model) {
  std::vector<std::string> left;
  for (const auto& doubt : members)
    if (std::find(model.begin(), model.end(), doubt) == model.end() &&
        std::find(left.begin(), left.end(), doubt) == left.end())
      left.push_back(doubt);
  return left;
}

/// Who made the fields, in their file.
void sign(Context& context, const experts::ChosenModel& chosen, const std::string& file) {
  auto written = hdf5::File::open_for_update(context.comm(), context.directory() + "/" + file);
  written.root().set_attribute("expert", chosen.name);
  written.root().set_attribute("expert_reason", chosen.reason);
  written.close();
  context.summarise("expert", chosen.expert, chosen.reason);
}

/// The device of the networks. Collective. Throws ResourceError where the one that is asked for is not there.
DeviceSession open_device(Context& context, const SuperresolveOptions& options) {
  const bool rounds = options.precision == flow::ProductPrecision::bf16;
  return context.open_device(options.device == Device::automatic && rounds
                                 ? Device::cpu
                                 : device_with_torch(options.device, torch_has_gpus()));
}

}  // namespace

void superresolve(Context& context, const SuperresolveOptions& options) {
  const DeviceSession device = open_device(context, options);
  experts::Request request{options.input.file, {}, {}};
  if (options.experts) request.values = read_flow_parameters(context.comm(), options.input);
  const auto chosen =
      experts::chosen_model(context.comm(), options.model, options.experts, "meshfreeflow", request);
  auto model = flow::load_flow_model(context.comm(), chosen.name);
  const auto header = model.header;
  QUINTET_CHECK(options.precision == flow::ProductPrecision::fp32 ||
                    header.options.decoder.kind == flow::DecoderKind::continuous,
                "precision: the decoder of {} is convolutional, which runs in fp32", chosen.name);
  std::optional<VolumeInput> volumes;
  if (header.of_volumes()) {
    QUINTET_CHECK(!options.output.points,
                  "output.points: {} refines volumes, which are written on a grid; give output.factor, grid "
                  "or like",
                  chosen.name);
    volumes.emplace(context.comm(), options.input, header, options.low_resolution);
  }
  auto input = context.timed("read", [&] {
    return volumes
               ? FlowInput{volumes->name(), volumes->coarse(0), volumes->parameters()}
               : read_flow(context.comm(), options.input, header, options.max_memory, interrupt_of(context));
  });
  const auto parameters = input.parameters;
  const auto name = input.name;
  auto coarse = volumes ? std::move(input.block)
                        : coarse_block(std::move(input), options.low_resolution, header.axis_names());
  const auto domain = coarse.axes;

  const int n_columns =
      header.fields.size() * (options.error_bars ? 2 : 1) + header.equations.interior.size();
  std::vector<double> points;
  OutputFrames frames;
  double output_bytes = 0, least_output = 0;
  if (options.output.points) {
    points = read_points(*options.output.points, header.axis_names());
    output_bytes = least_output = points.size() * (8 + 3.0 * n_columns);
  } else {
    frames.grid = output_grid(options.output, options.input, domain, header);
    frames.volumes = volumes ? &*volumes : nullptr;
    frames.rows_at_a_time = frames.most_rows(context.comm());
    if (volumes) {
      const flow::FlowPredictor predictor(model, coarse, parameters,
                                          prediction_options(context, options, device, 1e18));
      // The next frame is read while the last one is at hand; a truth is compared with it.
      output_bytes = volumes->bytes() + 2 * 4.0 * static_cast<double>(coarse.values.size());
      frames.choose_rows(context.comm(), options.max_memory * 1e9,
                         n_models(options) * predictor.least_memory() + output_bytes, n_columns);
    }
    least_output = output_bytes + frames.bytes(volumes ? 1 : frames.rows_at_a_time, n_columns);
    output_bytes += frames.bytes(frames.rows_at_a_time, n_columns);
  }
  check_memory(context, options, device, model, coarse, parameters, output_bytes);
  auto bars = make_error_bars(context, options, device, model, coarse, parameters, output_bytes);
  flow::FlowPredictor predictor(
      std::move(model), std::move(coarse), parameters,
      prediction_options(context, options, device, bytes_for_each(options, output_bytes)));
  judge_training(context, predictor.doubts(), options.outside_training, chosen.name);
  if (bars)
    judge_training(context, only_theirs(bars->doubts(), predictor.doubts()), options.outside_training,
                   "error_bars.members");

  context.describe_run("model",
                       fmt::format("{}, for {}", chosen.name, fmt::join(header.field_names(), ", ")));
  context.describe_run("input", fmt::format("{}: {}{} x {} x {} coarse nodes", name,
                                            volumes ? counted(volumes->times().size(), "frame") + " of " : "",
                                            domain[0].size(), domain[1].size(), domain[2].size()));
  context.describe_run(
      "output", options.output.points
                    ? fmt::format("{} of {}", counted(points.size() / 3, "point"), *options.output.points)
                    : fmt::format("{} of {}{} x {} points", counted(frames.times().size(), "frame"),
                                  volumes ? fmt::format("{} x ", frames.grid[0].size()) : "",
                                  frames.grid[1].size(), frames.grid[2].size()));
  if (volumes)
    log::info("Volumes: each frame by itself, {} of {} along {} at a time on a rank", frames.rows_at_a_time,
              counted(frames.rows().size(), "row"), header.axes[0].name);
  if (options.residuals && !predictor.has_residuals())
    log::warning("No residuals: {}", header.equations.interior.empty() ? "the model has no equations"
                                                                       : "its decoder is convolutional");
  const double memory = predictor.memory() + (bars ? bars->memory() : 0) + output_bytes,
               least = predictor.least_memory() + (bars ? bars->least_memory() : 0) + least_output;
  log::info("{:.3g} MB of memory on a rank, {:.3g} MB would do", memory * 1e-6, least * 1e-6);
  context.require_memory(memory, "fields, latents and points");
  if (!context.go_ahead({frames_file, "fields.xmf", "points.h5", "points.csv"})) return;

  context.report().title("meshfreeflow superresolve", name);
  if (options.output.points)
    predict_points(context, predictor, bars ? &*bars : nullptr, points);
  else
    predict_frames(context, predictor, bars ? &*bars : nullptr, frames, parameters);
  if (options.experts) sign(context, chosen, options.output.points ? "points.h5" : frames_file);
  context.summarise("outside_training", predictor.doubts().size(),
                    "in how many ways the input goes beyond the model's training");
}

}  // namespace quintet::meshfreeflow
