#include "apps/podlstm/evaluate/judgement.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "physics/ocean/calendar.hpp"
#include "surrogates/sequence/forecast/validity.hpp"

namespace quintet::podlstm {

namespace {

std::vector<double> normal_of(const sequence::Climatology& climatology, const sequence::Windows& windows) {
  std::vector<double> values, one(climatology.n_modes());
  for (const double day : windows.dates) {
    climatology.evaluate(day, one.data());
    values.insert(values.end(), one.begin(), one.end());
  }
  return values;
}

/// "0.1035(42)" with the error in the last digits; "0.1035" where it is not known.
std::string with_error(const sequence::Estimate& estimate, int digits = 4) {
  if (std::isnan(estimate.value)) return "-";
  if (std::isnan(estimate.error)) return fmt::format("{:.{}f}", estimate.value, digits);
  return fmt::format("{:.{}f}({:.0f})", estimate.value, digits, estimate.error * std::pow(10, digits));
}

std::string with_verdict(const sequence::Estimate& gain, int digits = 4) {
  return fmt::format("{} {}", with_error(gain, digits), verdict_text(verdict_of(gain)));
}

/// The leads that tables show: all of up to twelve, else about twelve with the first and the last.
std::vector<int> shown_leads(int out) {
  std::vector<int> leads;
  const int step = std::max(1, (out + 11) / 12);
  for (int lead = 1; lead < out; lead += step) leads.push_back(lead);
  leads.push_back(out);
  return leads;
}

std::string leaks_caption(const Judgement& judgement) {
  std::string text;
  for (const auto& leak : judgement.leaks) text += fmt::format(" LEAKS: {}.", leak);
  return text;
}

}  // namespace

Judgement judge_references(const ocean::OceanModes& modes, const sequence::Windows& windows,
                           const sequence::FitData& fit, const sequence::ReferenceOptions& options) {
  const auto& series = modes.series;
  Judgement judgement;
  judgement.truth = targets(series, windows);
  judgement.shape = {windows.size(), windows.shape.out, series.n_modes};
  judgement.period =
      fmt::format("{} windows, forecasts for {} to {}", windows.size(),
                  ocean::date_text(windows.dates.front()), ocean::date_text(windows.dates.back()));
  auto& normal = judgement.normal;
  for (const auto& row : sequence::references()) {
    const auto forecaster = fit_reference(row.value, fit, options);
    if (normal.empty()) normal = normal_of(forecaster.climatology, windows);
    judgement.references.push_back(
        {forecaster.name, forecaster.forecast(series, windows),
         forecaster.climatology.is_zero() ? normal : normal_of(forecaster.climatology, windows)});
  }
  return judgement;
}

void add_ours(Judgement& judgement, const sequence::ForecastModel& model, const ocean::OceanModes& modes,
              const sequence::Windows& windows) {
  judgement.leaks = leaks_of(model, modes, windows);
  const auto ensemble = sequence::forecast(model, modes.series, windows);
  const auto own =
      model.base.climatology.is_zero() ? judgement.normal : normal_of(model.base.climatology, windows);
  const auto n = model.members.size();
  const auto name = n == 0   ? fmt::format("ours ({})", model.base.name)
                    : n == 1 ? "ours"
                             : fmt::format("ours (mean of {})", n);
  judgement.ours = {name, ensemble.mean, own};
  judgement.members.clear();
  if (n > 1)
    for (std::size_t k = 0; k < n; ++k)
      judgement.members.push_back({fmt::format("network {}", k + 1), ensemble.members[k], own});
}

Judgement judge(const sequence::ForecastModel& model, const ocean::OceanModes& modes,
                const sequence::Windows& windows, const sequence::FitData& fit,
                const sequence::ReferenceOptions& references) {
  auto judgement = judge_references(modes, windows, fit, references);
  add_ours(judgement, model, modes, windows);
  return judgement;
}

Verdicts::Verdicts(const Judgement& judgement, sequence::Metric metric, int block, std::string unit)
    : judgement_(judgement),
      comparison_(judgement.truth, judgement.shape, std::move(metric), block),
      unit_(std::move(unit)),
      ours_(comparison_.sample(judgement.ours)) {
  for (const auto& member : judgement.members) members_.push_back(comparison_.sample(member));
  for (const auto& reference : judgement.references) references_.push_back(comparison_.sample(reference));
}

std::vector<const sequence::Sampled*> Verdicts::everybody() const {
  std::vector<const sequence::Sampled*> all = {&ours_};
  for (const auto& member : members_) all.push_back(&member);
  for (const auto& reference : references_) all.push_back(&reference);
  return all;
}

sequence::Gain Verdicts::gain_over(const std::string& reference) const {
  for (const auto& other : references_)
    if (other.name == reference) return comparison_.gain(ours_, other);
  throw InternalError(fmt::format("{} is not among the references", reference));
}

void Verdicts::report_scores(Report& report) const {
  const auto leads = shown_leads(judgement_.shape.out);
  std::vector<std::string> header = {"forecast", "R2 (paper)", "R2 pooled", fmt::format("RMSE ({})", unit_)};
  std::vector<std::string> correlations = {"forecast"};
  for (const int lead : leads) {
    header.push_back(fmt::format("RMSE, lead {}", lead));
    correlations.push_back(fmt::format("lead {}", lead));
  }
  std::vector<std::vector<std::string>> rows, correlation_rows;
  for (const auto* contender : everybody()) {
    const auto score = comparison_.score(*contender);
    rows.push_back({score.name, with_error(score.r2), with_error(score.r2_pooled), with_error(score.rmse)});
    correlation_rows.push_back({score.name});
    for (const int lead : leads) {
      rows.back().push_back(with_error(score.rmse_at[lead - 1]));
      correlation_rows.back().push_back(with_error(score.correlation_at[lead - 1], 3));
    }
  }
  const auto& name = comparison_.metric().name;
  const auto errors =
      comparison_.bootstrap().knows_errors()
          ? fmt::format(
                "In brackets: standard errors of the last digits, by bootstrap of blocks of {} windows.",
                comparison_.bootstrap().block())
          : fmt::format(
                "Fewer than three blocks of {} windows: no errors are known, and nothing is more than a tie.",
                comparison_.bootstrap().block());
  report.table(
      header, rows,
      fmt::format("{}; {}. {} R2 (paper) is the mean over all leads and modes; pooled weighs them by their "
                  "variance; both are of coefficients, whatever the region.{}",
                  name, judgement_.period, errors, leaks_caption(judgement_)));
  report.table(
      correlations, correlation_rows,
      fmt::format(
          "Anomaly correlation, {}, each about its own climatology (that of the references where it has "
          "none). {}{}",
          name, errors, leaks_caption(judgement_)));
}

void Verdicts::report_gains(Report& report) const {
  const auto leads = shown_leads(judgement_.shape.out);
  std::vector<std::string> header = {"against", "R2 (paper)", fmt::format("RMSE ({})", unit_), "skill"};
  std::vector<std::string> skill_header = {"against"};
  for (const int lead : leads) {
    header.push_back(fmt::format("RMSE, lead {}", lead));
    skill_header.push_back(fmt::format("lead {}", lead));
  }
  std::vector<std::vector<std::string>> rows, skills;
  for (const auto& reference : references_) {
    const auto gain = comparison_.gain(ours_, reference);
    rows.push_back(
        {gain.reference, with_verdict(gain.r2), with_verdict(gain.rmse), with_error(gain.skill, 3)});
    skills.push_back({gain.reference});
    for (const int lead : leads) {
      rows.back().push_back(with_verdict(gain.rmse_at[lead - 1]));
      skills.back().push_back(with_error(gain.skill_at[lead - 1], 3));
    }
  }
  report.table(
      header, rows,
      fmt::format(
          "Gain of {} over each reference (positive: ours is better), {}; less than two errors of the "
          "difference is a tie.{}",
          ours_.name, comparison_.metric().name, leaks_caption(judgement_)));
  report.table(skill_header, skills,
               fmt::format("Skill 1 - MSE/MSE of the reference, {}.{}", comparison_.metric().name,
                           leaks_caption(judgement_)));
}

void Verdicts::plot(Report& report) const {
  Plot plot;
  plot.title = fmt::format("RMSE by lead: {}", comparison_.metric().name);
  plot.x_label = "lead (steps)", plot.y_label = fmt::format("RMSE ({})", unit_);
  plot.caption = fmt::format("References dashed; those whose errors are more than twice ours are left out.{}",
                             leaks_caption(judgement_));
  const auto curve_of = [&](const sequence::Sampled& contender) {
    Curve curve{contender.name, {}, {}};
    for (int lead = 1; lead <= judgement_.shape.out; ++lead) {
      curve.x.push_back(lead);
      curve.y.push_back(
          std::sqrt(contender.squares[static_cast<std::size_t>(lead) - 1] / judgement_.shape.n));
    }
    return curve;
  };
  plot.curves.push_back(curve_of(ours_));
  const double most = 2 * *std::max_element(plot.curves[0].y.begin(), plot.curves[0].y.end());
  for (const auto& reference : references_) {
    auto curve = curve_of(reference);
    curve.dashed = true;
    if (*std::max_element(curve.y.begin(), curve.y.end()) < most) plot.curves.push_back(std::move(curve));
  }
  report.plot(plot);
}

void Verdicts::report(Report& report) const {
  report_scores(report);
  report_gains(report);
  plot(report);
}

std::vector<std::string> Verdicts::lines() const {
  std::vector<std::string> lines = {
      fmt::format("{} ({}), {}:", comparison_.metric().name, unit_, judgement_.period)};
  for (const auto& leak : judgement_.leaks) lines.push_back(fmt::format("  LEAKS: {}", leak));
  const int out = judgement_.shape.out, middle = (out + 1) / 2;
  const auto lead = [](int number) { return fmt::format("lead {}", number); };
  lines.push_back(
      fmt::format("  {:<22} {:>12} {:>12} {:>12} {:>12} {:>12}  ours against it, RMSE at lead {} / {}",
                  "forecast", "R2 (paper)", "RMSE", lead(1), lead(middle), lead(out), middle, out));
  const auto n_others = 1 + members_.size();
  const auto all = everybody();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto score = comparison_.score(*all[i]);
    std::string verdicts;
    if (i >= n_others) {
      const auto gain = comparison_.gain(ours_, *all[i]);
      verdicts = fmt::format("{} / {}", verdict_text(verdict_of(gain.rmse_at[middle - 1])),
                             verdict_text(verdict_of(gain.rmse_at[out - 1])));
    }
    lines.push_back(fmt::format("  {:<22} {:>12} {:>12} {:>12} {:>12} {:>12}  {}", score.name,
                                with_error(score.r2), with_error(score.rmse), with_error(score.rmse_at[0]),
                                with_error(score.rmse_at[middle - 1]), with_error(score.rmse_at[out - 1]),
                                verdicts));
  }
  return lines;
}

void Verdicts::summarise(Context& context, const std::string& prefix) const {
  const auto put = [&](const std::string& key, const sequence::Estimate& estimate,
                       const std::string& meaning) {
    context.summarise(prefix + key, estimate.value, meaning);
    context.summarise(prefix + key + "_error", estimate.error, "by block bootstrap");
  };
  const auto score = ours();
  put("r2", score.r2, "mean over leads and modes");
  put("rmse", score.rmse, "all leads");
  for (int lead = 1; lead <= judgement_.shape.out; ++lead)
    put(fmt::format("rmse_lead_{}", lead), score.rmse_at[lead - 1], "");
  for (const auto& reference : references_) {
    const auto theirs = comparison_.score(reference);
    const auto gain = comparison_.gain(ours_, reference);
    context.summarise(fmt::format("{}r2_{}", prefix, reference.name), theirs.r2.value);
    context.summarise(fmt::format("{}rmse_{}", prefix, reference.name), theirs.rmse.value);
    put(fmt::format("rmse_gain_{}", reference.name), gain.rmse, "RMSE of the reference minus ours");
    put(fmt::format("r2_gain_{}", reference.name), gain.r2, "R2 of ours minus the reference's");
    for (int lead = 1; lead <= judgement_.shape.out; ++lead)
      context.summarise(fmt::format("{}verdict_{}_lead_{}", prefix, reference.name, lead),
                        std::string(verdict_text(verdict_of(gain.rmse_at[lead - 1]))));
  }
  context.summarise(prefix + "leaks", static_cast<std::int64_t>(judgement_.leaks.size()),
                    judgement_.leaks.empty() ? "none known" : judgement_.leaks[0]);
}

}  // namespace quintet::podlstm
