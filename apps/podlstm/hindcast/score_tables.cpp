#include "apps/podlstm/hindcast/score_tables.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/report/report.hpp"
#include "apps/podlstm/hindcast/estimate_text.hpp"
#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "surrogates/sequence/skill/comparison.hpp"

namespace quintet::podlstm {

namespace {

using sequence::Estimate;
using sequence::LeadRange;

std::string gain_text(const Estimate& gain) {
  if (std::isnan(gain.value)) return "-";
  if (std::isnan(gain.error)) return fmt::format("{:+.4f}, error not known", gain.value);
  return fmt::format("{:+.4f} ± {:.4f} {}", gain.value, gain.error, verdict_text(verdict_of(gain)));
}

std::string key_of(std::string name) {
  std::string key;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      key += static_cast<char>(std::tolower(c));
    else if (!key.empty() && key.back() != '_')
      key += '_';
  return key;
}

/// Leads of tables: all of up to eight, else about eight with the first and the last.
std::vector<int> shown_leads(int out) {
  std::vector<int> leads;
  for (int lead = 1; lead < out; lead += std::max(1, (out + 7) / 8)) leads.push_back(lead);
  leads.push_back(out);
  return leads;
}

/// Sums of all methods in one measure and season.
using AllSums = std::vector<std::vector<double>>;

class Tables {
 public:
  Tables(Context& context, const sequence::Hindcasts& hindcasts, const sequence::PooledScores& scores,
         const Judged& judged)
      : context_(context), names_(hindcasts.names), scores_(scores), judged_(judged) {}

  void measure(int measure) {
    const auto& name = judged_.measures[measure];
    const auto& seasons = sequence::start_seasons();
    context_.report().section(fmt::format("{}, {}", name, counted(scores_.n_windows(), "window")));
    const auto year = sums_of(measure, seasons[0]);
    by_lead(measure, year, "rmse");
    by_lead(measure, year, "acc");
    together(measure, year);
    probabilities(measure, year);
    plot(measure, year);
    by_season(measure);
    if (measure == 0) pairs(year);
    summarise(measure, year);
    if (measure > 0) reliability(measure);
  }
  [[nodiscard]] const std::string& csv() const { return csv_; }

 private:
  [[nodiscard]] std::string caption(const std::string& text) const { return text + " " + judged_.words(); }
  [[nodiscard]] std::string leads_text() const {
    return fmt::format("leads {} to {}", judged_.leads.first, judged_.leads.last);
  }

  AllSums sums_of(int measure, const sequence::StartSeason& season) {
    AllSums all;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      give_up_if_asked(context_.comm(), interrupt_of(context_));
      all.push_back(scores_.sums(static_cast<int>(k), measure, season));
      for (const auto& row : sequence::score_rows())
        for (int lead = 1; lead <= scores_.out(); ++lead) {
          const auto score = scores_.score(all.back(), row, {lead, lead});
          if (std::isnan(score.value)) continue;
          csv_ +=
              fmt::format("\"{}\",\"{}\",\"{}\",{},{},{:.17g},{:.17g}\n", names_[k],
                          judged_.measures[measure], season.name, row.name, lead, score.value, score.error);
        }
    }
    return all;
  }

  void by_lead(int measure, const AllSums& sums, const std::string& score) const {
    const auto& row = sequence::score_row(score);
    std::vector<std::string> header = {"forecast"};
    for (const int lead : shown_leads(scores_.out())) header.push_back(fmt::format("lead {}", lead));
    header.push_back(leads_text());
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      std::vector<std::string> cells = {names_[k]};
      for (const int lead : shown_leads(scores_.out()))
        cells.push_back(estimate_text(scores_.score(sums[k], row, {lead, lead})));
      cells.push_back(estimate_text(scores_.score(sums[k], row, judged_.leads)));
      rows.push_back(std::move(cells));
    }
    const auto unit = score == "rmse" ? " (" + judged_.units[measure] + ")" : "";
    context_.report().table(
        header, rows,
        caption(fmt::format("{}{}; standard errors of the last digits in brackets, of blocks of {}.", row.doc,
                            unit, counted(scores_.bootstrap().block(), "window"))));
  }

  void together(int measure, const AllSums& sums) const {
    const auto& rmse = sequence::score_row("rmse");
    const auto& r2 = sequence::score_row("r2");
    const auto& reference = names_[judged_.against];
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const auto gain = scores_.gain(sums[k], sums[judged_.against], rmse, judged_.leads);
      const bool self = static_cast<int>(k) == judged_.against;
      rows.push_back({names_[k], estimate_text(scores_.score(sums[k], rmse, judged_.leads)),
                      self ? "-" : gain_text(gain),
                      estimate_text(scores_.score(sums[k], r2, judged_.leads))});
      if (measure == 0)
        log::info("{:<22} RMSE at {} {} {}; against {}: {}", names_[k], leads_text(),
                  estimate_text(scores_.score(sums[k], rmse, judged_.leads)), judged_.units[measure],
                  reference, self ? "-" : gain_text(gain));
    }
    context_.report().table(
        {"forecast", fmt::format("RMSE, {} ({})", leads_text(), judged_.units[measure]),
         fmt::format("RMSE of {} minus its own", reference), "R2"},
        rows,
        caption("Differences by the same draws of blocks; below two of their errors they are a tie. R2 is "
                "about the verifying climatology."));
  }

  void probabilities(int measure, const AllSums& sums) const {
    const auto& crps = sequence::score_row("crps");
    std::vector<std::string> header = {"forecast",
                                       fmt::format("CRPS ({})", judged_.units[measure]),
                                       "CRPS skill against climatology",
                                       "RPSS of terciles",
                                       "spread/error",
                                       "within 50 %",
                                       "within 90 %"};
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const auto score = [&](const char* name) {
        return estimate_text(scores_.score(sums[k], sequence::score_row(name), judged_.leads), 3);
      };
      const int from = judged_.climatology;
      rows.push_back(
          {names_[k], estimate_text(scores_.score(sums[k], crps, judged_.leads)),
           from < 0 ? "-" : estimate_text(scores_.skill(sums[k], sums[from], crps, judged_.leads), 3),
           score("rpss"), score("spread_error"), score("within_50"), score("within_90")});
    }
    context_.report().table(
        header, rows,
        caption(fmt::format("At {}, by the normal distribution that each forecast gives. {}", leads_text(),
                            measure == 0 ? "CRPS and shares are means over the modes." : "")));
  }

  void plot(int measure, const AllSums& sums) const {
    Plot plot;
    plot.title = fmt::format("Error by lead, {}", judged_.measures[measure]);
    plot.x_label = "lead (steps)";
    plot.y_label = fmt::format("RMSE ({})", judged_.units[measure]);
    Plot spread = plot;
    spread.title = fmt::format("Spread over error, {}", judged_.measures[measure]);
    spread.y_label = "spread/RMSE";
    spread.levels = {{1, "as large as errors", true}};
    for (std::size_t k = 0; k < names_.size(); ++k) {
      Curve error{names_[k], {}, {}}, ratio{names_[k], {}, {}};
      for (int lead = 1; lead <= scores_.out(); ++lead) {
        error.x.push_back(lead), ratio.x.push_back(lead);
        error.y.push_back(scores_.score(sums[k], sequence::score_row("rmse"), {lead, lead}).value);
        ratio.y.push_back(scores_.score(sums[k], sequence::score_row("spread_error"), {lead, lead}).value);
      }
      plot.curves.push_back(std::move(error)), spread.curves.push_back(std::move(ratio));
    }
    context_.report().plot(plot);
    context_.report().plot(spread);
  }

  void by_season(int measure) {
    std::vector<std::string> header = {"forecast"};
    std::vector<std::vector<std::string>> rows;
    for (const auto& name : names_) rows.push_back({name});
    for (const auto& season : sequence::start_seasons()) {
      if (season.n_months == 12) continue;
      const auto sums = sums_of(measure, season);
      header.push_back(fmt::format("{}: RMSE", season.name));
      header.emplace_back("correlation");
      for (std::size_t k = 0; k < names_.size(); ++k)
        for (const char* score : {"rmse", "acc"})
          rows[k].push_back(
              estimate_text(scores_.score(sums[k], sequence::score_row(score), judged_.leads), 3));
    }
    context_.report().table(
        header, rows, caption(fmt::format("By the season in which forecasts start, {}.", leads_text())));
  }

  void pairs(const AllSums& sums) const {
    std::vector<std::string> header = {"gain in RMSE of ... over"};
    header.insert(header.end(), names_.begin(), names_.end());
    std::vector<std::vector<std::string>> rows;
    for (std::size_t a = 0; a < names_.size(); ++a) {
      give_up_if_asked(context_.comm(), interrupt_of(context_));
      std::vector<std::string> cells = {names_[a]};
      for (std::size_t b = 0; b < names_.size(); ++b)
        cells.push_back(
            a == b ? ""
                   : gain_text(scores_.gain(sums[a], sums[b], sequence::score_row("rmse"), judged_.leads)));
      rows.push_back(std::move(cells));
    }
    context_.report().table(
        header, rows,
        caption(fmt::format("Each method against each other, {} ({}).", leads_text(), judged_.units[0])));
  }

  void summarise(int measure, const AllSums& sums) const {
    const auto prefix = measure == 0 ? "" : key_of(judged_.measures[measure]) + "_";
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const auto put = [&](const std::string& name, const Estimate& value) {
        context_.summarise(prefix + names_[k] + "_" + name, value.value);
      };
      put("acc", scores_.score(sums[k], sequence::score_row("acc"), judged_.leads));
      if (measure > 0) continue;
      for (const char* name : {"rmse", "crps", "spread_error"})
        put(name, scores_.score(sums[k], sequence::score_row(name), judged_.leads));
      const auto gain =
          scores_.gain(sums[k], sums[judged_.against], sequence::score_row("rmse"), judged_.leads);
      put("rmse_gain", gain);
      context_.summarise(prefix + names_[k] + "_rmse_gain_error", gain.error);
      if (judged_.climatology >= 0)
        put("crps_skill",
            scores_.skill(sums[k], sums[judged_.climatology], sequence::score_row("crps"), judged_.leads));
    }
  }

  void reliability(int measure) const {
    Plot plot;
    plot.title = fmt::format("Reliability of terciles, {}", judged_.measures[measure]);
    plot.x_label = "probability that was forecast";
    plot.y_label = "how often it came";
    plot.caption = caption(fmt::format(
        "Of the lowest and the highest third, {}, forecasts sorted into ten classes; on the dashed line "
        "probabilities are right.",
        leads_text()));
    for (std::size_t k = 0; k < names_.size(); ++k) {
      Curve curve{names_[k], {}, {}};
      for (const auto& bin : scores_.reliability(k, measure, judged_.leads)) {
        constexpr int enough = 10;
        if (bin.forecasts < enough) continue;
        curve.x.push_back(bin.probability), curve.y.push_back(bin.frequency);
      }
      if (!curve.x.empty()) plot.curves.push_back(std::move(curve));
    }
    Curve right{"right", {0, 1}, {0, 1}};
    right.dashed = true;
    plot.curves.push_back(std::move(right));
    context_.report().plot(plot);
  }

  Context& context_;
  const std::vector<std::string>& names_;
  const sequence::PooledScores& scores_;
  const Judged& judged_;
  std::string csv_ = "forecast,measure,season,score,lead,value,error\n";
};

}  // namespace

std::string Judged::words() const { return period + (leak.empty() ? "" : " LEAKS: " + leak); }

void report_scores(Context& context, const sequence::Hindcasts& hindcasts,
                   const sequence::PooledScores& scores, const Judged& judged, const std::string& lines) {
  Tables tables(context, hindcasts, scores, judged);
  for (std::size_t measure = 0; measure < judged.measures.size(); ++measure)
    tables.measure(static_cast<int>(measure));
  on_root(context.comm(), [&] { write_text_file(context.path("scores.csv"), tables.csv() + lines); });
}

void report_learned(Context& context, const std::vector<std::string>& parts,
                    const std::vector<sequence::MixtureWeights>& weights,
                    const std::vector<sequence::Earned>& earned, const std::string& unit,
                    const std::string& verdict) {
  auto& report = context.report();
  if (!weights.empty()) {
    report.section("The mixture");
    std::vector<std::string> header = {"origin"};
    const auto k = parts.size(), out = weights[0].weights.size() / k;
    for (const auto lead : {std::size_t{1}, out})
      for (const auto& part : parts) header.push_back(fmt::format("{}, lead {}", part, lead));
    std::vector<std::vector<std::string>> rows;
    for (const auto& one : weights) {
      std::vector<std::string> cells = {ocean::date_text(one.date) + (one.learned ? "" : " (all alike)")};
      for (const auto lead : {std::size_t{0}, out - 1})
        for (std::size_t p = 0; p < k; ++p) {
          const double weight = one.weights[lead * k + p];
          cells.push_back(std::isnan(weight) ? "-" : fmt::format("{:.2f}", weight));
        }
      rows.push_back(std::move(cells));
    }
    report.table(header, rows,
                 "Weights learned from the windows that had come before each origin. '-': the method could "
                 "not be fitted there, and the mixture is of the others.");
  }
  if (earned.empty()) return;
  report.section("Networks where they earn it");
  if (!verdict.empty()) report.paragraph(verdict);
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : earned)
    rows.push_back({ocean::date_text(one.date), gain_text(one.gain), one.kept ? "kept" : "the base alone"});
  report.table({"origin", fmt::format("gain in RMSE so far ({})", unit), "networks"}, rows,
               "RMSE of the base minus that of base and networks over all windows that had come; kept above "
               "two standard errors.");
  context.summarise("networks_earn_their_place", std::string(earned.back().kept ? "yes" : "no"),
                    "after all origins");
}

}  // namespace quintet::podlstm
