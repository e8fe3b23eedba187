#include "apps/meshfreeflow/evaluate/error_bar_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/meshfreeflow/setup/flow_input.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/evaluation/calibration.hpp"
#include "surrogates/flow/prediction/error_bars.hpp"

namespace quintet::meshfreeflow {
namespace {

/// One point of so many is kept for the curves: no divisor of a grid's points.
constexpr std::size_t stride = 67;

/// What this rank finds of one field.
struct FieldBars {
  flow::ErrorBarScore score;
  std::vector<double> bars, errors;  ///< of the points that are kept, over the field's deviation in training
};

/// How the model and each of the members predict.
flow::PredictionOptions options_of_each(const JudgedErrorBars& judged) {
  return {.cover = judged.model.options.encoder,
          .residuals = false,
          .max_memory = judged.bytes / (1.0 + judged.members.size()),
          .interrupt = judged.interrupt};
}

flow::ErrorBars bars_of(const CaseData& data, const JudgedErrorBars& judged) {
  return {judged.members,  judged.model.model.header, data.coarse,
          data.parameters, options_of_each(judged),   judged.scale};
}

/// Errors and bars of this rank's frames, [field].
std::vector<FieldBars> measure(const CaseData& data, const JudgedErrorBars& judged) {
  const auto& header = judged.model.model.header;
  flow::FlowPredictor predictor(judged.model.model, data.coarse, data.parameters, options_of_each(judged));
  auto bars = bars_of(data, judged);
  const std::size_t n_points = data.grid.size(), n_fields = data.fields.size(), n_frames = data.n_frames();
  std::vector<float> values(n_points * n_fields), own(n_points * n_fields);
  std::vector<FieldBars> fields(n_fields);
  for (int frame = data.first; frame < data.end; ++frame) {
    const auto points = points_of(data, frame);
    predictor.predict(points, values, {});
    bars.predict(points, values, own);
    for (std::size_t f = 0; f < n_fields; ++f)
      for (std::size_t p = 0; p < n_points; ++p) {
        const double truth = data.truth.values[(f * n_frames + frame) * n_points + p],
                     error = values[p * n_fields + f] - truth, bar = own[p * n_fields + f];
        fields[f].score.add(error, bar);
        if (p % stride != 0) continue;
        fields[f].bars.push_back(bar / header.fields[f].deviation);
        fields[f].errors.push_back(std::abs(error) / header.fields[f].deviation);
      }
  }
  return fields;
}

/// The rms error in ten classes of the bar, beside the line on which they are equal.
Plot classes_plot(const CaseData& data, const std::vector<flow::Calibration>& calibrations) {
  Plot plot;
  plot.title = "Error and error bar";
  plot.x_label = "error bar (deviations of the field)";
  plot.y_label = "true error (deviations of the field)";
  plot.log_x = plot.log_y = true;
  plot.caption =
      "Points in ten classes of their error bar, rms of each. On the dashed line error bars are right.";
  Curve equal{"right", {}, {}, false, true};
  for (std::size_t f = 0; f < calibrations.size(); ++f) {
    Curve curve{data.fields[f], {}, {}, true};
    for (const auto& [bar, error] : calibrations[f].classes) {
      if (!(bar > 0 && error > 0)) continue;
      curve.x.push_back(bar), curve.y.push_back(error);
      equal.x.push_back(bar);
    }
    plot.curves.push_back(curve);
  }
  std::sort(equal.x.begin(), equal.x.end());
  equal.y = equal.x;
  plot.curves.push_back(equal);
  return plot;
}

}  // namespace

void check_error_bars(Context& context, const CaseData& data, const JudgedErrorBars& judged,
                      OutsideTraining choice) {
  judge_training(context, bars_of(data, judged).doubts(), choice,
                 fmt::format("error_bars.members on case {}", data.name));
}

void report_error_bars(Context& context, const CaseData& data, const JudgedErrorBars& judged,
                       const std::string& prefix) {
  const Comm& comm = context.comm();
  std::vector<FieldBars> fields;
  context.timed("predict", [&] { together(comm, [&] { fields = measure(data, judged); }); });
  std::vector<std::vector<std::string>> rows;
  std::vector<flow::Calibration> calibrations;
  std::vector<std::string> scales;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    auto& score = fields[f].score;
    score.combine(comm);
    calibrations.push_back(flow::calibrate(comm.all_gather(std::span<const double>(fields[f].bars)),
                                           comm.all_gather(std::span<const double>(fields[f].errors))));
    const double scale = score.ratio() * (judged.scale.empty() ? 1 : judged.scale[f]);
    scales.push_back(fmt::format("{:.3g}", scale));
    rows.push_back({data.fields[f], fmt::format("{:.3g}", std::sqrt(score.error_squares / score.points)),
                    fmt::format("{:.3g}", std::sqrt(score.bar_squares / score.points)),
                    fmt::format("{:.2f}", score.ratio()), fmt::format("{:.1f} %", 100 * score.within(1)),
                    fmt::format("{:.1f} %", 100 * score.within(2)),
                    fmt::format("{:.2f}", calibrations.back().rank_correlation), scales.back()});
    const auto key = prefix + judged.model.options.name + "_error_bar_";
    context.summarise(key + "ratio_" + data.fields[f], score.ratio(), "rms error over rms error bar");
    context.summarise(key + "within_1_" + data.fields[f], score.within(1),
                      "share of points; 0.68 for normal errors");
    context.summarise(key + "within_2_" + data.fields[f], score.within(2),
                      "share of points; 0.95 for normal errors");
    context.summarise(key + "scale_" + data.fields[f], scale, "error_bars.scale that makes the ratio 1 here");
  }
  context.report().section(fmt::format("{}: error bars of {}", data.name, judged.model.options.name));
  context.report().table(
      {"field", "rms error", "rms error bar", "ratio", "within 1 bar", "within 2 bars", "rank correlation",
       "scale"},
      rows,
      fmt::format("Normal errors have 68 % within one bar and 95 % within two. A ratio of 1 comes with "
                  "error_bars.scale: [{}].",
                  fmt::join(scales, ", ")));
  context.report().plot(classes_plot(data, calibrations));
  log::info("{}: error_bars.scale: [{}] makes error bars right in the mean square", data.name,
            fmt::join(scales, ", "));
}

}  // namespace quintet::meshfreeflow
