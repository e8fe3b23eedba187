#include "apps/podlstm/evaluate/evaluate.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/podlstm/evaluate/judgement.hpp"
#include "apps/podlstm/evaluate/left_out.hpp"
#include "apps/podlstm/evaluate/networks.hpp"
#include "apps/podlstm/evaluate/quantised.hpp"
#include "apps/podlstm/evaluate/skill_maps.hpp"
#include "apps/podlstm/setup/sea_map.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/kernels/rounded_root.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"
#include "surrogates/sequence/forecast/quantised_forecast.hpp"
#include "surrogates/sequence/forecast/validity.hpp"

namespace quintet::podlstm {

namespace {

/// The windows of the test period, but those beyond the climatologies' validity, which are told of.
sequence::Windows test_windows(Context& context, const sequence::ForecastModel& model,
                               const CoefficientSeries& series, const EvaluateOptions& options,
                               double valid_years) {
  const double from = options.from.empty()
                          ? std::nextafter(model.validated_until, std::numeric_limits<double>::infinity())
                          : ocean::parse_date(options.from, "from");
  const double until =
      options.until.empty() ? series.time.back() : ocean::parse_date(options.until, "until") + 1 - 1e-6;
  const auto windows_to = [&](double end) {
    return sequence::windows_of(series, model.shape, sequence::rows_between(series, from, end),
                                model.irregular);
  };
  auto windows = windows_to(until);
  QUINTET_CHECK(
      windows.size() > 0,
      "the test period, {}, holds no unbroken window of {} + {} (from, until; the record ends on {})",
      counted(sequence::rows_between(series, from, until).size(), "time"), model.shape.in,
      counted(model.shape.out, "step"), ocean::date_text(series.time.back()));
  const auto& own = model.base.climatology;
  double valid_until = sequence::Climatology::after(model.trained_until, valid_years);
  std::string held = fmt::format("references.climatology.valid_years: {:g}", valid_years);
  if (!own.is_zero() && own.valid_until() <= valid_until) {
    valid_until = own.valid_until();
    held = fmt::format("references.climatology.valid_years: {:g} in its training", own.valid_years());
  }
  if (windows.dates.back() <= valid_until) return windows;
  const auto wanted = windows.size();
  windows = windows_to(valid_until);
  const auto last = ocean::date_text(std::floor(valid_until));
  QUINTET_CHECK(
      windows.size() > 0,
      "no window of the test period ends by {}, until which the climatology of {} holds ({}): test an "
      "earlier period, or train again with newer data or a longer validity",
      last, options.model, held);
  log::warning(
      "{} of {} windows are left out: they forecast dates after {}, until which the climatology of {} holds "
      "({})",
      wanted - windows.size(), wanted, last, options.model, held);
  context.summarise("windows_left_out", wanted - windows.size(),
                    fmt::format("they forecast dates after {}", last));
  return windows;
}

void check_regions(const EvaluateOptions& options) {
  std::set<std::string> names;
  for (const auto& region : options.regions) {
    QUINTET_CHECK(region.latitudes[0] < region.latitudes[1] && region.longitudes[0] < region.longitudes[1],
                  "region {}: edges run from south to north and from west to east (add 360 to the east edge "
                  "of a box across Greenwich)",
                  region.name);
    QUINTET_CHECK(names.insert(region.name).second, "region {}: comes twice", region.name);
  }
}

std::string key_of(std::string name) {
  for (char& c : name)
    c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::tolower(c)) : '_';
  return name;
}

/// The mean of the ensemble beside the references; its networks stand in the tables of all points.
void report_regions(Context& context, Judgement judgement, const ocean::OceanModes& modes,
                    const LeftOut* left_out, const EvaluateOptions& options) {
  judgement.members.clear();
  for (const auto& region : options.regions) {
    const auto weights = weights_in(modes, region);
    if (*std::max_element(weights.begin(), weights.end()) <= 0) {
      log::warning("region {}: none of its points is sea; it is left out", region.name);
      continue;
    }
    const int block = block_of(modes, options.block);
    const auto unit = short_unit(modes.units);
    const auto metric = sequence::region_metric(region.name, modes.modes, weights);
    const auto index = sequence::index_metric(fmt::format("mean of {}", region.name), modes.modes, weights);
    context.report().section(region.name);
    const Verdicts over(judgement, metric, block, unit,
                        left_out != nullptr ? left_out->over(weights) : sequence::Truncation{});
    const Verdicts mean(judgement, index, block, unit,
                        left_out != nullptr ? left_out->of_mean(weights) : sequence::Truncation{});
    for (const auto* verdicts : {&over, &mean}) {
      for (const auto& line : verdicts->lines()) log::info("{}", line);
      verdicts->report(context.report());
    }
    const auto prefix = (left_out != nullptr ? "field_" : "") + key_of(region.name);
    over.summarise(context, prefix + "_");
    mean.summarise(context, prefix + "_mean_");
  }
}

void report_whole_fields(Context& context, const Judgement& judgement, const ocean::OceanModes& modes,
                         const LeftOut& left_out, const EvaluateOptions& options) {
  const auto unit = short_unit(modes.units);
  const Verdicts verdicts(judgement, metric_of(modes, options.points), block_of(modes, options.block), unit,
                          left_out.over(modes.weights));
  const auto score = verdicts.ours();
  context.headline("RMSE, whole fields",
                   fmt::format("{:.4f} ± {:.4f} {}", score.rmse.value, score.rmse.error, unit),
                   judgement.leaks.empty() ? "" : judgement.leaks[0]);
  context.report().section("All points, whole fields");
  context.report().paragraph(
      fmt::format("The modes leave out {:.4f} {} (root mean square over the same dates and points): no "
                  "forecast of their coefficients is better than that.",
                  verdicts.truncation_rmse(), unit));
  for (const auto& line : verdicts.lines()) log::info("{}", line);
  verdicts.report(context.report());
  verdicts.summarise(context, "field_");
  context.summarise("truncation_rmse", verdicts.truncation_rmse(), "what the modes leave out of the fields");
}

/// Damped persistence, by which maps show skill; none where it is left out or cannot be fitted.
const sequence::Contender* damped(const Judgement& judgement) {
  for (const auto& reference : judgement.references)
    if (reference.name == "damped_persistence" && !std::isnan(reference.forecast[0])) return &reference;
  return nullptr;
}

/// A skill as it is drawn; what is not known stays so.
double cut(double skill) { return skill < -1 ? -1 : skill; }

// Skill is 1 - MSE / MSE of damped persistence, at the first, middle and last lead; below -1 it is drawn as
// -1.
void report_maps(Context& context, const Judgement& judgement, const ocean::OceanModes& modes,
                 const LeftOut* left_out) {
  context.report().section("Maps of skill");
  const auto errors = [&](const std::vector<double>& forecast, int lead) {
    return left_out != nullptr ? left_out->square_error_map(judgement.truth, forecast, judgement.shape, lead)
                               : square_error_map(modes, judgement.truth, forecast, judgement.shape, lead);
  };
  const int out = judgement.shape.out;
  const auto* reference = damped(judgement);
  for (const int lead : std::set<int>{1, (out + 1) / 2, out}) {
    const auto ours = errors(judgement.ours.forecast, lead);
    std::vector<double> skill(ours.size()), rmse(ours.size());
    for (std::size_t x = 0; x < ours.size(); ++x) rmse[x] = rounded_root(ours[x]);
    if (reference != nullptr) {
      const auto theirs = errors(reference->forecast, lead);
      for (std::size_t x = 0; x < ours.size(); ++x)
        skill[x] = theirs[x] <= 0 ? 0 : cut(1 - ours[x] / theirs[x]);
    }
    const std::string where = left_out != nullptr ? "Whole fields; " : "In the space of the modes; ";
    std::string leaks;
    for (const auto& leak : judgement.leaks) leaks += fmt::format(" LEAKS: {}.", leak);
    if (reference != nullptr)
      context.report().heatmap(map_of(modes, skill,
                                      fmt::format("Skill against damped persistence, lead {}", lead),
                                      "1 - MSE/MSE", where + judgement.period + "; cut at -1." + leaks));
    context.report().heatmap(map_of(modes, rmse,
                                    fmt::format("RMSE of {}, lead {}", judgement.ours.name, lead),
                                    short_unit(modes.units), where + judgement.period + "." + leaks));
    auto maps = context.results().root().group("maps");
    if (reference != nullptr)
      maps.write<double>(fmt::format("skill_lead_{}", lead), skill, {skill.size()},
                         {"1", {"point"}, "1 - MSE/MSE of damped persistence"});
    maps.write<double>(fmt::format("rmse_lead_{}", lead), rmse, {rmse.size()},
                       {"degree_Celsius", {"point"}, "Root mean square error of ours"});
  }
}

void write_results(Context& context, const Judgement& judgement, const sequence::Windows& windows) {
  auto& root = context.results().root();
  const std::uint64_t n = windows.size(), out = windows.shape.out, modes = judgement.shape.modes;
  root.write<double>("time", windows.dates, {n, out},
                     {"days since 1800-01-01 00:00:00", {"window", "lead"}, "Dates that are forecast"});
  const auto write = [&](const std::string& name, const std::vector<double>& values,
                         const std::string& text) {
    root.group("forecasts")
        .write<double>(name, values, {n, out, modes}, {"degree_Celsius", {"window", "lead", "mode"}, text});
  };
  write("truth", judgement.truth, "What came");
  write("ours", judgement.ours.forecast, judgement.ours.name);
  for (const auto& member : judgement.members)
    write(key_of(member.name), member.forecast, "A network of the ensemble");
  for (const auto& reference : judgement.references) write(reference.name, reference.forecast, "A reference");
  root.set_attribute("leaks", judgement.leaks);
}

std::optional<LeftOut> left_out_of(Context& context, const ocean::OceanModes& modes,
                                   const sequence::Windows& windows, const EvaluateOptions& options) {
  if (!options.fields) return std::nullopt;
  QUINTET_CHECK(modes.has_fields(), "fields: {} has coefficients alone, no modes to compare fields with",
                options.modes);
  return context.timed("fields", [&]() -> std::optional<LeftOut> {
    const auto records = open_records(context.comm(), *options.fields);
    for (const auto& note : notes_of(records)) log::info("{}", note);
    context.require_memory(LeftOut::bytes(records.front().record, windows), "fields of the test's dates");
    return LeftOut(context.comm(), modes, joint(records), windows, interrupt_of(context));
  });
}

}  // namespace

void evaluate(Context& context, const EvaluateOptions& options) {
  const auto& comm = context.comm();
  check_regions(options);
  const auto modes = context.timed("read", [&] { return ocean::read_modes(comm, options.modes); });
  const auto trained = sequence::read_forecast_model(comm, options.model);
  const auto model = options.quantise ? quantised(trained, *options.quantise) : trained;
  check_valid(model, modes);
  check_points(modes, options.points);
  const auto& series = modes.series;
  auto references = options.references;
  auto& years = references.climatology.valid_years;
  if (!years && !model.base.climatology.is_zero()) years = model.base.climatology.valid_years();
  const auto windows = test_windows(context, model, series, options,
                                    years.value_or(sequence::ClimatologyOptions::usual_validity));
  const auto rows = training_rows(model, series);
  const auto trained_on = sequence::windows_of(series, model.shape, rows, model.irregular);
  context.describe_run(
      "model", fmt::format("{}, {}{}, trained on {} to {}", base_text(model),
                           counted(model.members.size(), "network"), codes_text(model),
                           ocean::date_text(model.trained_from), ocean::date_text(model.trained_until)));
  for (const double day : windows.dates) model.base.climatology.check_validity(day);
  auto judgement = context.timed("references", [&] {
    return judge_references(modes, windows, {series, rows, trained_on, model.irregular}, references,
                            [&] { give_up_if_asked(comm, interrupt_of(context)); });
  });
  const auto left_out = left_out_of(context, modes, windows, options);
  if (model.graph) require_nodes(context, *model.graph, GraphWork::forecasts);
  if (!context.go_ahead()) return;
  tell_spans(series.time, references, options.block);

  context.timed("forecast", [&] {
    add_ours(comm, judgement, model, modes, windows, sequence::Purpose::test);
    share(comm, judgement);
  });
  context.report().title("podlstm evaluate", judgement.period);
  for (const auto& leak : judgement.leaks) context.report().warning(fmt::format("Leaks: {}.", leak));
  const auto metric = metric_of(modes, options.points);
  const auto unit = error_unit(modes, options.points);
  const auto timer = context.phase("judge");
  const Verdicts verdicts(judgement, metric, block_of(modes, options.block), unit);
  const auto score = verdicts.ours();
  const std::string doubt = judgement.leaks.empty() ? "" : judgement.leaks[0];
  context.headline("R2 (paper)", fmt::format("{:.4f} ± {:.4f}", score.r2.value, score.r2.error), doubt);
  context.headline("RMSE", fmt::format("{:.4f} ± {:.4f} {}", score.rmse.value, score.rmse.error, unit),
                   doubt);
  context.headline("against damped persistence", verdicts.gain_text("damped_persistence"), doubt);
  context.report().section("All points");
  for (const auto& line : verdicts.lines()) log::info("{}", line);
  verdicts.report(context.report());
  verdicts.summarise(context, "");
  if (options.quantise)
    report_codes(context, judgement, trained, *options.quantise, modes, windows, metric, unit,
                 block_of(modes, options.block));
  write_results(context, judgement, windows);
  const auto interrupt = interrupt_of(context);
  give_up_if_asked(comm, interrupt);
  if (left_out) report_whole_fields(context, judgement, modes, *left_out, options);
  if (modes.has_fields()) {
    const auto* fields = left_out ? &*left_out : nullptr;
    give_up_if_asked(comm, interrupt);
    report_maps(context, judgement, modes, fields);
    give_up_if_asked(comm, interrupt);
    report_regions(context, judgement, modes, fields, options);
  } else {
    context.report().paragraph("The modes file has coefficients alone: no regions and no maps.");
  }
}

}  // namespace quintet::podlstm
