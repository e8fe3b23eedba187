#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/podlstm/evaluate/judgement.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::podlstm {

namespace {

/// "0.1035(42)" with the error in the last digits; "0.1035" where it is not known.
std::string with_error(const sequence::Estimate& estimate, int digits = 4) {
  if (std::isnan(estimate.value)) return "-";
  if (std::isnan(estimate.error)) return fmt::format("{:.{}f}", estimate.value, digits);
  return fmt::format("{:.{}f}({:.0f})", estimate.value, digits, estimate.error * std::pow(10, digits));
}

/// Write an estimate with no more digits than two of its error.
std::string in_short(const sequence::Estimate& estimate) {
  int digits = 4;
  while (digits > 1 && estimate.error * std::pow(10, digits) >= 99.5) --digits;
  return with_error(estimate, digits);
}

/// "better", "tie", "worse"; "-" where there is nothing to compare with.
std::string verdict_or_none(const sequence::Estimate& gain) {
  return std::isnan(gain.value) ? "-" : verdict_text(verdict_of(gain));
}

std::string with_verdict(const std::string& number, const sequence::Estimate& gain) {
  if (std::isnan(gain.value)) return number;
  return fmt::format("{} {}", number, verdict_text(verdict_of(gain)));
}

/// The leads that tables show: all of up to eight, else about eight with the first and the last.
std::vector<int> shown_leads(int out) {
  std::vector<int> leads;
  const int step = std::max(1, (out + 7) / 8);
  for (int lead = 1; lead < out; lead += step) leads.push_back(lead);
  leads.push_back(out);
  return leads;
}

}  // namespace

Verdicts::Verdicts(const Judgement& judgement, sequence::Metric metric, int block, std::string unit,
                   sequence::Truncation truncation)
    : judgement_(judgement),
      comparison_(judgement.truth, judgement.shape, std::move(metric), block,
                  {std::move(truncation), judgement.normal}),
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

std::optional<sequence::Gain> Verdicts::gain_over(const std::string& reference) const {
  for (const auto& other : references_)
    if (other.name == reference) return comparison_.gain(ours_, other);
  return std::nullopt;
}

std::string Verdicts::gain_text(const std::string& reference) const {
  const auto gain = gain_over(reference);
  if (!gain || std::isnan(gain->rmse.value)) return "-";
  return fmt::format("{:+.4f} ± {:.4f} {}: {}", gain->rmse.value, gain->rmse.error, unit_,
                     verdict_text(verdict_of(gain->rmse)));
}

std::string Verdicts::place() const {
  return comparison_.metric().name + (comparison_.of_whole_fields() ? ", whole fields" : "");
}

bool Verdicts::of_coefficients() const {
  return comparison_.metric().of_all_points && !comparison_.of_whole_fields();
}

sequence::Estimate Verdicts::r2_of(const sequence::Score& score) const {
  return of_coefficients() ? score.r2 : score.metric_r2;
}

sequence::Estimate Verdicts::r2_of(const sequence::Gain& gain) const {
  return of_coefficients() ? gain.r2 : gain.metric_r2;
}

std::string Verdicts::r2_meaning() const {
  if (of_coefficients())
    return "R2 (paper) is the mean over all leads and modes; pooled weighs them by their variance; both are "
           "of "
           "coefficients.";
  return "R2 is that of this table's own series: the mean over leads of 1 - (sum of squared errors)/(sum of "
         "squares about the mean), both sums over windows and points.";
}

std::string Verdicts::leaks_caption() const {
  std::string text;
  for (const auto& leak : judgement_.leaks) text += fmt::format(" LEAKS: {}.", leak);
  return text;
}

std::string Verdicts::errors_caption() const {
  const auto& bootstrap = comparison_.bootstrap();
  if (bootstrap.knows_errors())
    return fmt::format("In brackets: standard errors of the last digits, by bootstrap of blocks of {}.",
                       counted(bootstrap.block(), "window"));
  return fmt::format("Fewer than three blocks of {}: no errors are known, and nothing is more than a tie.",
                     counted(bootstrap.block(), "window"));
}

std::vector<std::string> Verdicts::lead_header(const std::string& first, bool all) const {
  std::vector<std::string> header = {first};
  if (all) header.emplace_back("all leads");
  for (const int lead : shown_leads(judgement_.shape.out)) header.push_back(fmt::format("lead {}", lead));
  return header;
}

void Verdicts::report_all_leads(Report& report) const {
  std::vector<std::vector<std::string>> rows;
  const auto n_others = 1 + members_.size();
  const auto all = everybody();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto score = comparison_.score(*all[i]);
    rows.push_back({score.name, with_error(r2_of(score))});
    if (of_coefficients()) rows.back().push_back(with_error(score.r2_pooled));
    rows.back().push_back(with_error(score.rmse));
    if (i < n_others) {
      rows.back().insert(rows.back().end(), {"", "", ""});
      continue;
    }
    const auto gain = comparison_.gain(ours_, *all[i]);
    rows.back().push_back(with_verdict(with_error(r2_of(gain)), r2_of(gain)));
    rows.back().push_back(with_verdict(with_error(gain.rmse), gain.rmse));
    rows.back().push_back(with_error(gain.skill, 3));
  }
  std::vector<std::string> header = {"forecast", r2_name()};
  if (of_coefficients()) header.emplace_back("R2 pooled");
  header.insert(header.end(), {fmt::format("RMSE ({})", unit_), "ours: gain in R2", "gain in RMSE", "skill"});
  report.table(
      header, rows,
      fmt::format("All leads, {}; {}. {} {} Gains and skill 1 - MSE/MSE are of {} over each "
                  "reference: positive is better, less than two errors of the difference is a tie.{}",
                  place(), judgement_.period, errors_caption(), r2_meaning(), ours_.name, leaks_caption()));
}

void Verdicts::report_scores(Report& report) const {
  const auto leads = shown_leads(judgement_.shape.out);
  std::vector<std::vector<std::string>> errors, correlations, r2;
  for (const auto* contender : everybody()) {
    const auto score = comparison_.score(*contender);
    errors.push_back({score.name, in_short(score.rmse)});
    correlations.push_back({score.name});
    r2.push_back({score.name});
    for (const int lead : leads) {
      errors.back().push_back(in_short(score.rmse_at[lead - 1]));
      r2.back().push_back(with_error(score.metric_r2_at[lead - 1], 3));
      correlations.back().push_back(
          score.correlation_at.empty() ? "-" : with_error(score.correlation_at[lead - 1], 3));
    }
  }
  report.table(
      lead_header(fmt::format("RMSE ({})", unit_), true), errors,
      fmt::format("RMSE, {}; {}. {}{}", place(), judgement_.period, errors_caption(), leaks_caption()));
  if (!of_coefficients())
    report.table(lead_header("R2", false), r2,
                 fmt::format("R2 of the same series, {}, lead by lead. {}{}", place(), errors_caption(),
                             leaks_caption()));
  report.table(lead_header("correlation", false), correlations,
               fmt::format("Anomaly correlation, {}: all rows about one climatology, that of the reference "
                           "`climatology`, which has no anomalies of its own. {}{}",
                           place(), errors_caption(), leaks_caption()));
}

void Verdicts::report_gains(Report& report) const {
  const auto leads = shown_leads(judgement_.shape.out);
  std::vector<std::vector<std::string>> rows, skills;
  for (const auto& reference : references_) {
    const auto gain = comparison_.gain(ours_, reference);
    rows.push_back({gain.reference, with_verdict(in_short(gain.rmse), gain.rmse)});
    skills.push_back({gain.reference, with_error(gain.skill, 3)});
    for (const int lead : leads) {
      rows.back().push_back(with_verdict(in_short(gain.rmse_at[lead - 1]), gain.rmse_at[lead - 1]));
      skills.back().push_back(with_error(gain.skill_at[lead - 1], 3));
    }
  }
  report.table(lead_header("gain over", true), rows,
               fmt::format("RMSE of each reference minus that of {} ({}), {}: positive, ours is better; less "
                           "than two errors of the difference is a tie.{}",
                           ours_.name, unit_, place(), leaks_caption()));
  report.table(lead_header("skill against", true), skills,
               fmt::format("Skill 1 - MSE/MSE of the reference, {}.{}", place(), leaks_caption()));
}

void Verdicts::plot(Report& report) const {
  Plot plot;
  plot.title = fmt::format("RMSE by lead: {}", place());
  plot.x_label = "lead (steps)", plot.y_label = fmt::format("RMSE ({})", unit_);
  plot.caption = fmt::format("References dashed; those whose errors are more than twice ours are left out.{}",
                             leaks_caption());
  const auto curve_of = [&](const sequence::Sampled& contender) {
    Curve curve{contender.name, {}, {}};
    for (int lead = 1; lead <= judgement_.shape.out; ++lead) {
      curve.x.push_back(lead);
      curve.y.push_back(std::sqrt(contender.squares[lead - 1] / judgement_.shape.n));
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
  plot(report);
  report_all_leads(report);
  report_scores(report);
  report_gains(report);
}

std::vector<std::string> Verdicts::lines() const {
  std::vector<std::string> lines = {fmt::format("{} ({}), {}:", place(), unit_, judgement_.period)};
  for (const auto& leak : judgement_.leaks) lines.push_back(fmt::format("  LEAKS: {}", leak));
  const int out = judgement_.shape.out;
  const std::set<int> leads = {1, (out + 1) / 2, out};
  const auto row = [&](const std::string& name, const auto& cell_of, const std::string& r2,
                       const std::string& rmse, const std::string& verdicts) {
    auto line = fmt::format("  {:<22} {:>14} {:>14}", name, r2, rmse);
    for (const int lead : leads) line += fmt::format(" {:>14}", cell_of(lead));
    return line + "  " + verdicts;
  };
  lines.push_back(row(
      "forecast", [](int lead) { return fmt::format("lead {}", lead); }, r2_name(), "RMSE",
      fmt::format("ours against it, RMSE at lead {}", fmt::join(leads, " / "))));
  const auto n_others = 1 + members_.size();
  const auto all = everybody();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto score = comparison_.score(*all[i]);
    std::vector<std::string> verdicts;
    if (i >= n_others) {
      const auto gain = comparison_.gain(ours_, *all[i]);
      for (const int lead : leads) verdicts.push_back(verdict_or_none(gain.rmse_at[lead - 1]));
    }
    lines.push_back(row(
        score.name, [&](int lead) { return with_error(score.rmse_at[lead - 1]); }, with_error(r2_of(score)),
        with_error(score.rmse), fmt::format("{}", fmt::join(verdicts, " / "))));
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
  put("r2", r2_of(score),
      of_coefficients() ? "mean over leads and modes" : "of this place's own series, mean over leads");
  put("rmse", score.rmse, "all leads");
  for (int lead = 1; lead <= judgement_.shape.out; ++lead)
    put(fmt::format("rmse_lead_{}", lead), score.rmse_at[lead - 1], "");
  for (const auto& reference : references_) {
    const auto theirs = comparison_.score(reference);
    const auto gain = comparison_.gain(ours_, reference);
    context.summarise(fmt::format("{}r2_{}", prefix, reference.name), r2_of(theirs).value);
    context.summarise(fmt::format("{}rmse_{}", prefix, reference.name), theirs.rmse.value);
    put(fmt::format("rmse_gain_{}", reference.name), gain.rmse, "RMSE of the reference minus ours");
    put(fmt::format("r2_gain_{}", reference.name), r2_of(gain), "R2 of ours minus the reference's");
    for (int lead = 1; lead <= judgement_.shape.out; ++lead)
      context.summarise(fmt::format("{}verdict_{}_lead_{}", prefix, reference.name, lead),
                        verdict_or_none(gain.rmse_at[lead - 1]));
  }
  context.summarise(prefix + "leaks", judgement_.leaks.size(),
                    judgement_.leaks.empty() ? "none known" : judgement_.leaks[0]);
}

}  // namespace quintet::podlstm
