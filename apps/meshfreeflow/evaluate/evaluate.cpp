#include "apps/meshfreeflow/evaluate/evaluate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/training/timed_threads.hpp"
#include "apps/meshfreeflow/evaluate/error_bar_report.hpp"
#include "apps/meshfreeflow/evaluate/evaluate_pictures.hpp"
#include "apps/meshfreeflow/evaluate/evaluate_report.hpp"
#include "apps/meshfreeflow/evaluate/evaluate_volumes.hpp"
#include "apps/meshfreeflow/evaluate/judgement.hpp"
#include "apps/meshfreeflow/evaluate/node_jumps.hpp"
#include "apps/meshfreeflow/setup/data_check.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/flow/data/fingerprints.hpp"
#include "surrogates/flow/model/coded_decoder.hpp"
#include "surrogates/flow/prediction/flow_predictor.hpp"

namespace quintet::meshfreeflow {
namespace {

/// Each model with a decoder of 1 bit a weight, of 2, and so on.
void add_coded(const DecoderCodesOptions& options, std::vector<JudgedModel>& models) {
  for (std::size_t k = 0, n = models.size(); k < n; ++k)
    for (int bits = 1; bits <= options.codes.bits; ++bits) {
      auto codes = options.codes;
      codes.bits = bits;
      auto coded = flow::code_decoder(models[k].model, codes);
      auto own = models[k].options;
      own.name += fmt::format("_{}bit", bits);
      for (const auto& other : models)
        QUINTET_CHECK(other.options.name != own.name,
                      "quantise: a model is named '{}' already; name it otherwise", own.name);
      models.push_back({own, std::move(coded.model), coded.bytes, coded.bytes_float});
    }
}

void report_codes(Context& context, const DecoderCodesOptions& options,
                  const std::vector<JudgedModel>& models) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : models) {
    if (one.decoder_bytes == 0) continue;
    const double bytes = one.decoder_bytes, as_float = one.decoder_bytes_float;
    rows.push_back({one.options.name, fmt::format("{:.1f}", bytes / 1000),
                    fmt::format("{:.1f}", as_float / 1000), fmt::format("{:.1f}", as_float / bytes)});
    context.summarise(one.options.name + "_decoder_bytes", one.decoder_bytes);
  }
  context.report().section("Bits a weight of the decoder");
  context.report().table(
      {"model", "decoder (kB)", "as floats (kB)", "times smaller"}, rows,
      fmt::format("Binary codes, {}, {}; biases and the encoder are as they were. What that costs the tables "
                  "below say, where these models stand beside the ones that they are made of.",
                  options.codes.group == 0
                      ? "a scale a row"
                      : fmt::format("a scale for {}", counted(options.codes.group, "input")),
                  counted(options.codes.rounds, "alternating round")));
  context.report().paragraph(
      "Fields are computed with the decoded matrices: codes make files smaller, not fields faster.");
}

std::vector<JudgedModel> load_models(const Comm& comm, const EvaluateOptions& options) {
  std::vector<JudgedModel> models;
  for (const auto& one : options.models) {
    models.push_back({one, flow::load_flow_model(comm, one.file)});
    const auto &first = models.front().model.header, &header = models.back().model.header;
    QUINTET_CHECK(header.field_names() == first.field_names() && header.axis_names() == first.axis_names(),
                  "{}: is for the fields {} along {}, but {} for {} along {}: judge them apart", one.file,
                  fmt::join(header.field_names(), ", "), fmt::join(header.axis_names(), ", "),
                  options.models.front().file, fmt::join(first.field_names(), ", "),
                  fmt::join(first.axis_names(), ", "));
  }
  if (options.quantise) add_coded(*options.quantise, models);
  return models;
}

/// Fields and axes to judge by: of the first model with equations, so that residuals of all are judged by the
/// same ones; else of the first model; without models all that the first case has.
flow::FlowModelHeader reference_header(const Comm& comm, const EvaluateOptions& options,
                                       const std::vector<JudgedModel>& models) {
  for (const auto& one : models)
    if (!one.model.header.equations.interior.empty()) return one.model.header;
  return models.empty() ? header_of(comm, options.cases.front().truth) : models.front().model.header;
}

/// Bytes of a case on this rank: truth and coarse fields, and fields and residuals of the truth and one
/// prediction.
double bytes_of(const CaseData& data, std::size_t n_equations) {
  const double held = static_cast<double>(data.n_held()) * data.grid.size();
  return 4.0 * (data.truth.values.size() + data.coarse.values.size()) +
         8.0 * held * (2.0 * data.fields.size() + 2.0 * n_equations);
}

/// What a model has seen of a case: in words, and as numbers of the summary. Empty: nothing.
std::string seen_of(Context& context, const CaseData& data, const JudgedModel& model,
                    const std::string& prefix) {
  const auto& header = model.model.header;
  const int n = data.n_frames();
  const auto frames =
      flow::frame_fingerprints(data.truth.values.data(), header.fields.size(), n, data.truth.n_points() / n);
  const auto trained = flow::count_known(frames, header.trained_on),
             chosen = flow::count_known(frames, header.chosen_by);
  if (header.trained_on.empty())
    log::info("{} does not say what it was trained on", model.options.file);
  else
    context.summarise(prefix + model.options.name + "_frames_trained_on", trained,
                      "frames of the case that the model learned from");
  if (!header.chosen_by.empty())
    context.summarise(prefix + model.options.name + "_frames_chosen_by", chosen,
                      "frames of the case by which the model was chosen");
  if (trained + chosen == 0) return "";
  const auto text = fmt::format("{} was trained on {} of the {} frames of case {}, and chosen by {}",
                                model.options.name, trained, n, data.name, chosen);
  log::warning("{}: its numbers here are no test of new flows", text);
  context.report().warning(text + ": its numbers here are no test of new flows.");
  return text;
}

int picture_field(const EvaluateOptions& options, const std::vector<std::string>& fields) {
  const std::string name = options.picture ? *options.picture
                           : options.flow  ? options.flow->scalar
                                           : fields.front();
  const auto found = std::find(fields.begin(), fields.end(), name);
  QUINTET_CHECK(found != fields.end() || !options.picture,
                "picture: there is no field '{}'; the models have {}", name, fmt::join(fields, ", "));
  return found == fields.end() ? 0 : static_cast<int>(found - fields.begin());
}

// The truth is judged first, then interpolation, then models in the order of the input, which tables keep.
JudgedCase judge_case(Context& context, const CaseData& data, const flow::FlowModelHeader& header,
                      const std::vector<JudgedModel>& models, const EvaluateOptions& options,
                      double predictor_bytes, const std::string& prefix) {
  const Comm& comm = context.comm();
  const auto truth = true_fields(data);
  const Interrupt interrupt = interrupt_of(context);
  const Judge judge(data, truth, header, options.spectra_at, interrupt);
  CasePictures pictures(data, picture_field(options, data.fields));
  JudgedCase judged{data.name, data.text, data.truth.axes[0].coordinates, data.fields, {}, 0, {}};
  for (const auto& [name, text] : header.equations.interior) judged.equations.push_back(name);
  if (data.meaning) judged.viscosity = data.meaning->constants.viscosity;
  const auto add = [&](const CaseFields& fields) {
    pictures.add(fields);
    judged.judgements.push_back(context.timed("judge", [&] { return judge.judge(comm, fields); }));
  };
  add(truth);
  const auto interpolate = [&](bool by_cubics) {
    CaseFields fields;
    together(comm, [&] { fields = interpolated_fields(data, by_cubics, interrupt); });
    add(fields);
  };
  interpolate(false);
  for (const auto& model : models) {
    CaseFields fields;
    context.timed("predict", [&] {
      together(comm, [&] {
        fields = predicted_fields(data, model,
                                  {.cover = model.options.encoder,
                                   .residuals = options.residuals,
                                   .max_memory = predictor_bytes,
                                   .interrupt = interrupt});
      });
    });
    add(fields);
    judged.judgements.back().seen = seen_of(context, data, model, prefix);
  }
  if (options.tricubic) interpolate(true);
  pictures.report(context, data.name);
  return judged;
}

/// Choose LibTorch's threads by timed fields of the first model at the coarse nodes of one time of a case.
void choose_threads(Context& context, const CaseData& data, const JudgedModel& model,
                    double predictor_bytes) {
  const auto& axes = data.coarse.axes;
  const double time = axes[0].coordinates[axes[0].coordinates.size() / 2];
  std::vector<double> points;
  for (const double z : axes[1].coordinates)
    for (const double x : axes[2].coordinates) points.insert(points.end(), {time, z, x});
  std::vector<float> values(points.size() / 3 * model.model.header.fields.size());
  const auto piece = [&] {
    flow::FlowPredictor(model.model, data.coarse, data.parameters,
                        {model.options.encoder, false, predictor_bytes})
        .predict(points, values, {});
  };
  const int threads =
      choose_timed_threads(context.comm(), context.threads(), {"predictions", set_torch_threads, piece});
  context.summarise("prediction_threads", std::int64_t{threads}, "of torch, a rank");
}

std::string percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100 * share); }

void add_headlines(Context& context, const JudgedCase& judged, const EvaluateOptions& options) {
  const std::size_t field = picture_field(options, judged.fields);
  for (std::size_t k = 1; k < judged.judgements.size(); ++k)
    context.headline(fmt::format("error of {}, {}{}", judged.fields[field], judged.judgements[k].name,
                                 judged.judgements[k].seen.empty() ? "" : " (seen in training)"),
                     percent(judged.judgements[k].errors[field].scaled()));
  const auto& last = judged.judgements.size() > 2 ? judged.judgements[2] : judged.judgements.back();
  if (last.calibration && !std::isnan(last.calibration->rank_correlation))
    context.headline("residual and error",
                     fmt::format("rank correlation {:.2f}", last.calibration->rank_correlation));
}

}  // namespace

void evaluate(Context& context, const EvaluateOptions& options) {
  const Comm& comm = context.comm();
  const auto models = load_models(comm, options);
  if (!models.empty() && models.front().model.header.of_volumes())
    return evaluate_volumes(context, options, models);
  std::vector<flow::FlowModel> members;
  if (options.error_bars) members = load_members(comm, *options.error_bars, models.front().model);
  const auto header = reference_header(comm, options, models);
  const std::size_t n_equations = header.equations.interior.size();
  static_cast<void>(picture_field(options, header.field_names()));  // refused before anything is written
  std::vector<CaseData> cases;
  double bytes = 0;
  for (const auto& one : options.cases) {
    cases.push_back(
        context.timed("read", [&] { return load_case(comm, one, options, header, interrupt_of(context)); }));
    const auto& data = cases.back();
    bytes += bytes_of(data, n_equations);
    QUINTET_CHECK(bytes < options.max_memory * 1e9,
                  "the cases up to {} take {:.3g} GB on a rank, max_memory is {:.3g} GB: raise it, judge "
                  "fewer at a time, or "
                  "give truth.frames",
                  one.name, bytes * 1e-9, options.max_memory);
    context.describe_run(
        "case " + one.name,
        fmt::format("{}: {} of {} x {} points from {} x {} x {} coarse nodes", data.text,
                    counted(data.n_frames(), "frame"), data.grid.size(0), data.grid.size(1),
                    data.coarse.axes[0].size(), data.coarse.axes[1].size(), data.coarse.axes[2].size()));
  }
  std::vector<AskedSample> asked;
  for (const auto& data : cases)
    asked.push_back({data.text, &data.truth.axes, data.truth.values, data.parameters});
  // Who marks what is beyond a model's training judges flows of other equations, too.
  const auto check =
      options.outside_training == OutsideTraining::mark && options.check == flow::DataCheck::refuse
          ? flow::DataCheck::warn
          : options.check;
  context.timed("check", [&] { check_truth(context, header.flow_equations(), asked, check, "check"); });
  const double predictor_bytes = options.max_memory * 1e9 - bytes;
  const auto judged_bars = [&] {
    return JudgedErrorBars{models.front(), members, options.error_bars->scale, predictor_bytes,
                           interrupt_of(context)};
  };
  for (const auto& data : cases) {
    if (options.error_bars) check_error_bars(context, data, judged_bars(), options.outside_training);
    for (const auto& one : models) {
      const flow::FlowPredictor predictor(one.model, data.coarse, data.parameters,
                                          {one.options.encoder, options.residuals, predictor_bytes});
      judge_training(context, predictor.doubts(), options.outside_training,
                     fmt::format("{} on case {}", one.options.name, data.name));
    }
  }
  context.require_memory(bytes, "fields of all cases");
  if (!context.go_ahead()) return;
  if (!models.empty())
    context.timed("start", [&] {
      choose_threads(context, cases.front(), models.front(), predictor_bytes);
      return 0;
    });

  context.report().title("meshfreeflow evaluate", fmt::format("{}, {}", counted(models.size(), "model"),
                                                              counted(cases.size(), "case")));
  if (options.quantise) report_codes(context, *options.quantise, models);
  for (const auto& data : cases) {
    log::info("Judging {}", data.text);
    const std::string prefix = cases.size() > 1 ? data.name + "_" : "";
    const auto judged = judge_case(context, data, header, models, options, predictor_bytes, prefix);
    if (&data == &cases.front()) add_headlines(context, judged, options);
    report_case(context, judged, prefix);
    report_node_jumps(context, data, models, predictor_bytes, prefix);
    if (options.error_bars) report_error_bars(context, data, judged_bars(), prefix);
  }
}

}  // namespace quintet::meshfreeflow
