#include "apps/meshfreeflow/evaluate/evaluate_volumes.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/report/report.hpp"
#include "apps/meshfreeflow/setup/volume_input.hpp"
#include "apps/meshfreeflow/superresolve/predicted_frames.hpp"
#include "apps/meshfreeflow/superresolve/truth_errors.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/data/fingerprints.hpp"
#include "surrogates/flow/evaluation/axis_rules.hpp"

namespace quintet::meshfreeflow {
namespace {

void refuse_flat_keys(const EvaluateOptions& options) {
  const std::pair<bool, const char*> keys[] = {{options.flow.has_value(), "flow"},
                                               {!options.spectra_at.empty(), "spectra_at"},
                                               {options.tricubic, "tricubic"},
                                               {options.picture.has_value(), "picture"},
                                               {options.error_bars.has_value(), "error_bars"}};
  for (const auto& [is_given, key] : keys)
    QUINTET_CHECK(!is_given, "{}: of volumes errors and residuals are judged; leave it out", key);
  for (const auto& one : options.cases)
    QUINTET_CHECK(!one.coarse, "case {}: coarse: of volumes the truth itself is made coarser; leave it out",
                  one.name);
}

/// A case, a part of each frame at a time.
struct VolumeCase {
  std::string name;
  VolumeInput volumes;
  bool looks_for_frames = false;  ///< of the training: a whole frame fits into memory

  [[nodiscard]] double frame_bytes(std::size_t n_fields) const {
    double bytes = 4.0 * static_cast<double>(n_fields);
    for (const auto& axis : volumes.axes()) bytes *= axis.size();
    return bytes;
  }
};

/// What a model reaches on a case.
struct VolumeScore {
  TruthErrors errors;
  std::vector<double> residuals;  ///< rms of each equation
  std::vector<std::string> equations;
};

flow::PredictionOptions prediction(Context& context, const EvaluateOptions& options, const JudgedModel& model,
                                   double bytes) {
  return {.cover = model.options.encoder,
          .residuals = options.residuals,
          .max_memory = bytes,
          .interrupt = interrupt_of(context)};
}

/// Rows at a time, and what they leave to the predictor of a model.
std::pair<OutputFrames, double> rows_of(Context& context, const EvaluateOptions& options,
                                        const JudgedModel& model, const VolumeCase& one,
                                        const flow::FieldBlock& coarse) {
  const auto& header = model.model.header;
  const double reading = one.volumes.bytes() + 2 * 4.0 * static_cast<double>(coarse.values.size()),
               all = options.max_memory * 1e9;
  const flow::FlowPredictor predictor(model.model, coarse, one.volumes.parameters(),
                                      prediction(context, options, model, 1e18));
  judge_training(context, predictor.doubts(), options.outside_training,
                 fmt::format("{} on case {}", model.options.name, one.name));
  OutputFrames frames{one.volumes.axes(), &one.volumes};
  const int n_columns = header.fields.size() + header.equations.interior.size();
  frames.choose_rows(context.comm(), all, predictor.least_memory() + reading, n_columns);
  return {frames, all - reading - frames.bytes(frames.rows_at_a_time, n_columns)};
}

/// Frame by frame; of each, this rank's rows in parts, so that a volume may be larger than memory.
VolumeScore score(Context& context, const EvaluateOptions& options, const JudgedModel& model,
                  const VolumeCase& one) {
  const Comm& comm = context.comm();
  const auto& volumes = one.volumes;
  auto coarse = volumes.coarse(0);
  const auto [frames, left] = rows_of(context, options, model, one, coarse);
  flow::FlowPredictor predictor(model.model, coarse, volumes.parameters(),
                                prediction(context, options, model, left));
  const std::size_t n_fields = model.model.header.fields.size();
  VolumeScore result{TruthErrors(n_fields), {}, predictor.equation_names()};
  const std::size_t n_equations = result.equations.size();
  std::vector<double> squares(n_equations + 1, 0);
  const RankRows own(comm, frames.rows().size());
  const std::size_t n_row = volumes.axes()[1].coordinates.size() * volumes.axes()[2].coordinates.size();
  std::vector<float> values, residuals;
  for (std::size_t frame = 0; frame < volumes.times().size(); ++frame) {
    give_up_if_asked(comm, interrupt_of(context));
    if (frame > 0) coarse = context.timed("read", [&] { return volumes.coarse(static_cast<int>(frame)); });
    result.errors.take(coarse);
    if (frame > 0) predictor.replace(coarse);
    const auto timer = context.phase("predict");
    together(comm, [&] {
      for (int done = 0; done < own.count; done += frames.rows_at_a_time) {
        const int first = own.first + done, count = std::min(frames.rows_at_a_time, own.count - done);
        values.resize(count * n_row * n_fields), residuals.resize(count * n_row * n_equations);
        const auto points = frames.points(first, count, volumes.times()[frame]);
        predictor.predict(points, values, residuals);
        result.errors.add(points, volumes.rows(static_cast<int>(frame), first, count), values);
        for (std::size_t i = 0; i < residuals.size(); ++i)
          squares[i % n_equations] += double{residuals[i]} * residuals[i];
        squares[n_equations] += static_cast<double>(count * n_row);
      }
    });
  }
  result.errors.combine(comm);
  comm.reduce(std::span<double>(squares), Comm::Reduction::sum);
  for (std::size_t k = 0; k < n_equations; ++k)
    result.residuals.push_back(std::sqrt(squares[k] / squares[n_equations]));
  return result;
}

/// How many frames of a case a model has seen, said where it is any.
void tell_seen(Context& context, const VolumeCase& one, const JudgedModel& model, const std::string& prefix) {
  const auto& header = model.model.header;
  if (header.trained_on.empty())
    return log::info("{} does not say what it was trained on", model.options.file);
  if (!one.looks_for_frames)
    return log::warning("case {}: a frame is larger than max_memory: whether {} learned from it is not known",
                        one.name, model.options.name);
  const auto& axes = one.volumes.axes();
  std::vector<std::int64_t> seen(2, 0);
  together(context.comm(), [&] {
    for (std::size_t i = 0; i < one.volumes.times().size(); ++i) {
      if (static_cast<int>(i) % context.comm().size() != context.comm().rank()) continue;
      give_up_if_asked(interrupt_of(context));
      const auto values = one.volumes.rows(static_cast<int>(i), 0, axes[0].size());
      const auto frame = flow::frame_fingerprints(values.data(), static_cast<int>(header.fields.size()), 1,
                                                  values.size() / header.fields.size());
      seen[0] += flow::count_known(frame, header.trained_on);
      seen[1] += flow::count_known(frame, header.chosen_by);
    }
  });
  context.comm().reduce(std::span<std::int64_t>(seen), Comm::Reduction::sum);
  context.summarise(prefix + model.options.name + "_frames_trained_on", seen[0],
                    "frames of the case that the model learned from");
  if (seen[0] + seen[1] == 0) return;
  const auto text = fmt::format(
      "{} was trained on {} of the {} frames of case {}, and chosen by {}: its numbers here are no "
      "test of new flows",
      model.options.name, seen[0], one.volumes.times().size(), one.name, seen[1]);
  log::warning("{}", text);
  context.report().warning(text + ".");
}

void report_case(Context& context, const VolumeCase& one, const flow::FlowModelHeader& header,
                 const std::vector<JudgedModel>& models, const std::vector<VolumeScore>& scores,
                 const std::string& prefix) {
  std::vector<std::string> head{"field", "deviation of the truth", "linear interpolation"};
  for (const auto& model : models) head.push_back(model.options.name);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t f = 0; f < header.fields.size(); ++f) {
    const auto& name = header.fields[f].name;
    const auto& first = scores.front().errors;
    rows.push_back({name, fmt::format("{:.3g}", first.deviation(f)), fmt::format("{:.4f}", first.linear(f))});
    for (const auto& score : scores) rows.back().push_back(fmt::format("{:.4f}", score.errors.model(f)));
    if (first.deviation(f) == 0) continue;  // nothing to compare with
    context.summarise(prefix + "trilinear_error_" + name, first.linear(f),
                      "rms error over the deviation of the truth");
    for (std::size_t m = 0; m < models.size(); ++m)
      context.summarise(prefix + models[m].options.name + "_error_" + name, scores[m].errors.model(f),
                        "rms error over the deviation of the truth");
    log::info("case {}: error of {}: {} (linear interpolation, {})", one.name, name,
              fmt::join(rows.back().begin() + 2, rows.back().end(), ", "),
              fmt::join(head.begin() + 3, head.end(), ", "));
  }
  context.report().section(fmt::format("{}: {} of {}", one.name, counted(one.volumes.times().size(), "frame"),
                                       one.volumes.name()));
  context.report().table(
      head, rows, "Root mean square errors over the deviation of the truth, over all points and frames.");
  for (std::size_t m = 0; m < models.size(); ++m)
    for (std::size_t k = 0; k < scores[m].equations.size(); ++k)
      context.summarise(prefix + models[m].options.name + "_residual_" + scores[m].equations[k],
                        scores[m].residuals[k], "rms residual of the equation, by the decoder's derivatives");
}

}  // namespace

void evaluate_volumes(Context& context, const EvaluateOptions& options,
                      const std::vector<JudgedModel>& models) {
  refuse_flat_keys(options);
  const auto& header = models.front().model.header;
  flow::LowResolutionOptions low;
  low.factor.assign(header.refinement.begin(), header.refinement.end());
  if (options.low_resolution) low = *options.low_resolution;
  std::vector<VolumeCase> cases;
  for (const auto& one : options.cases) {
    cases.push_back({one.name, VolumeInput(context.comm(), one.truth, header, low)});
    auto& added = cases.back();
    QUINTET_CHECK(added.volumes.is_truth(),
                  "low_resolution.factor is [{}]: the truth is not made coarser, there is nothing to judge",
                  fmt::join(low.factor, ", "));
    added.looks_for_frames = added.frame_bytes(header.fields.size()) < options.max_memory * 1e9;
    const auto& axes = added.volumes.axes();
    context.describe_run("case " + one.name,
                         fmt::format("{}: {} of {} x {} x {} points", added.volumes.name(),
                                     counted(added.volumes.times().size(), "frame"), axes[0].size(),
                                     axes[1].size(), axes[2].size()));
  }
  for (const auto& one : cases) {  // what is refused is refused before anything is written
    const auto coarse = one.volumes.coarse(0);
    for (const auto& model : models) static_cast<void>(rows_of(context, options, model, one, coarse));
  }
  context.require_memory(options.max_memory * 1e9, "parts of volumes and networks (max_memory)");
  if (!context.go_ahead()) return;

  context.report().title(
      "meshfreeflow evaluate",
      fmt::format("{}, {} of volumes", counted(models.size(), "model"), counted(cases.size(), "case")));
  for (const auto& one : cases) {
    const std::string prefix = cases.size() > 1 ? one.name + "_" : "";
    std::vector<VolumeScore> scores;
    for (const auto& model : models) {
      scores.push_back(score(context, options, model, one));
      tell_seen(context, one, model, prefix);
    }
    report_case(context, one, header, models, scores, prefix);
  }
}

}  // namespace quintet::meshfreeflow
