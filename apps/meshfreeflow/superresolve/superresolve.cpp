#include "apps/meshfreeflow/superresolve/superresolve.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/meshfreeflow/superresolve/output_grid.hpp"
#include "apps/meshfreeflow/superresolve/point_list.hpp"
#include "apps/meshfreeflow/superresolve/predicted_frames.hpp"
#include "apps/meshfreeflow/superresolve/predicted_points.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/flow/prediction/flow_predictor.hpp"

namespace quintet::meshfreeflow {
namespace {

flow::FieldBlock coarse_block(FlowInput&& input, const flow::LowResolutionOptions& options) {
  const bool as_it_is = std::all_of(options.factor.begin(), options.factor.end(),
                                    [](std::int64_t factor) { return factor == 1; });
  if (as_it_is) return std::move(input.block);
  return made_coarser(input.block, options);
}

/// The predictor, with what is left of the memory beside the output's own.
flow::FlowPredictor make_predictor(const SuperresolveOptions& options, const DeviceSession& device,
                                   flow::FlowModel model, flow::FieldBlock coarse,
                                   const std::map<std::string, double>& parameters, double output_bytes) {
  const double all = options.max_memory * 1e9;
  flow::PredictionOptions unbounded{options.encoder,   options.residuals,       1e18,
                                    options.precision, options.precision_bound, device};
  if (all <= output_bytes) {
    const flow::FlowPredictor predictor(std::move(model), std::move(coarse), parameters, unbounded);
    QUINTET_CHECK(
        false,
        "max_memory of {:.4g} GB is too little: the output alone takes {:.4g} GB on a rank; the least that "
        "works is {:.4g} GB",
        options.max_memory, output_bytes * 1e-9,
        std::ceil((output_bytes + predictor.least_memory()) * 1e-6 + 1) * 1e-3);
  }
  return {std::move(model),
          std::move(coarse),
          parameters,
          {options.encoder, options.residuals, all - output_bytes, options.precision, options.precision_bound,
           device}};
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
  auto input = context.timed(
      "read", [&] { return read_flow(context.comm(), options.input, header, options.max_memory); });
  const auto parameters = input.parameters;
  const auto name = input.name;
  auto coarse = coarse_block(std::move(input), options.low_resolution);
  const auto domain = coarse.axes;

  const int n_columns = header.fields.size() + header.equations.interior.size();
  std::vector<double> points;
  flow::BlockAxes grid;
  double output_bytes = 0;
  if (options.output.points) {
    points = read_points(*options.output.points, header.axis_names());
    output_bytes = points.size() * (8 + 3.0 * n_columns);
  } else {
    grid = output_grid(options.output, domain, header);
    output_bytes = frame_bytes(context.comm(), grid, n_columns);
  }
  auto predictor =
      make_predictor(options, device, std::move(model), std::move(coarse), parameters, output_bytes);
  judge_training(context, predictor.doubts(), options.outside_training, chosen.name);

  context.describe_run("model",
                       fmt::format("{}, for {}", chosen.name, fmt::join(header.field_names(), ", ")));
  context.describe_run("input", fmt::format("{}: {} x {} x {} coarse nodes", name, domain[0].size(),
                                            domain[1].size(), domain[2].size()));
  context.describe_run(
      "output", options.output.points
                    ? fmt::format("{} of {}", counted(points.size() / 3, "point"), *options.output.points)
                    : fmt::format("{} of {} x {} points", counted(grid[0].size(), "frame"), grid[1].size(),
                                  grid[2].size()));
  if (options.residuals && !predictor.has_residuals())
    log::warning("No residuals: {}", header.equations.interior.empty() ? "the model has no equations"
                                                                       : "its decoder is convolutional");
  const double memory = predictor.memory() + output_bytes;
  log::info("{:.3g} MB of memory on a rank, {:.3g} MB would do", memory * 1e-6,
            (predictor.least_memory() + output_bytes) * 1e-6);
  context.require_memory(memory, "fields, latents and points");
  if (!context.go_ahead({frames_file, "fields.xmf", "points.h5", "points.csv"})) return;

  context.report().title("meshfreeflow superresolve", name);
  if (options.output.points)
    predict_points(context, predictor, points);
  else
    predict_frames(context, predictor, grid, parameters);
  if (options.experts) sign(context, chosen, options.output.points ? "points.h5" : frames_file);
  context.summarise("outside_training", static_cast<std::int64_t>(predictor.doubts().size()),
                    "in how many ways the input goes beyond the model's training");
}

}  // namespace quintet::meshfreeflow
