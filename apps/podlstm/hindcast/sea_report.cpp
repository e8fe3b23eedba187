#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/podlstm/evaluate/skill_maps.hpp"
#include "apps/podlstm/hindcast/estimate_text.hpp"
#include "apps/podlstm/hindcast/sea_judgement.hpp"
#include "apps/podlstm/setup/sea_map.hpp"
#include "io/log/counted.hpp"
#include "surrogates/sequence/hindcast/sea/heat_wave.hpp"

namespace quintet::podlstm {

namespace {

/// What a reader of the whole sea's scores must know.
std::string waves_caption(const sequence::SeaScores& scores) {
  const int least = scores.options().least_steps;
  return fmt::format(
      "Marine heat waves: warmer than {:.0f} % of what the season has at a point, for {} (Hobday et al. "
      "2016), over all points by area, in the space of the modes. A forecast says so where its mean is as "
      "warm. Brier: of the probability of being as warm at the date, its skill against 0.1. Standard errors "
      "of the last digits in brackets, of {} of {}.",
      100 * sequence::heat_wave::share, least > 1 ? fmt::format("{} steps or more", least) : "a step or more",
      counted(scores.n_windows() / scores.options().block, "block"),
      counted(scores.options().block, "window"));
}

void report_waves(Context& context, const sequence::SeaScores& scores, const std::vector<std::string>& names,
                  const Judged& judged) {
  for (std::size_t i = 0; i < scores.options().leads.size(); ++i) {
    const int lead = scores.options().leads[i], number = i;
    std::vector<std::string> header = {fmt::format("forecast, lead {}", lead)};
    for (const auto& row : sequence::heat_wave_rows()) header.emplace_back(row.name);
    std::vector<std::vector<std::string>> rows;
    for (int k = 0; k < scores.n_methods(); ++k) {
      rows.push_back({names[k]});
      for (const auto& row : sequence::heat_wave_rows()) {
        const auto score = scores.heat_waves(row, k, number);
        rows.back().push_back(estimate_text(score, 3));
        context.summarise(fmt::format("{}_heat_wave_{}_lead_{}", names[k], row.name, lead), score.value);
      }
    }
    context.report().table(header, rows, waves_caption(scores) + " " + judged.words());
  }
}

void report_reliability(Context& context, const sequence::SeaScores& scores,
                        const std::vector<std::string>& names, int best, const Judged& judged) {
  const int last = static_cast<int>(scores.options().leads.size()) - 1, lead = scores.options().leads.back();
  Plot plot;
  plot.title = fmt::format("Reliability of terciles over the sea, lead {}", lead);
  plot.x_label = "probability that was forecast";
  plot.y_label = "how often it came";
  plot.caption = "Of the lowest and the highest third of the season at each point. " + judged.words();
  for (int k = 0; k < scores.n_methods(); ++k) {
    Curve curve{names[k], {}, {}};
    for (const auto& bin : scores.reliability(k, last)) {
      constexpr double enough = 1e-3;  // of all forecasts
      if (bin.share < enough) continue;
      curve.x.push_back(bin.probability), curve.y.push_back(bin.frequency.value);
    }
    if (!curve.x.empty()) plot.curves.push_back(std::move(curve));
  }
  Curve right{"right", {0, 1}, {0, 1}};
  right.dashed = true;
  plot.curves.push_back(std::move(right));
  context.report().plot(plot);
  std::vector<std::vector<std::string>> rows;
  for (const auto& bin : scores.reliability(best, last))
    if (bin.share > 0)
      rows.push_back({fmt::format("{:.3f}", bin.probability), estimate_text(bin.frequency, 3),
                      fmt::format("{:.1f} %", 100 * bin.share)});
  context.report().table({"probability that was forecast", "how often it came", "share of forecasts"}, rows,
                         fmt::format("The same of {}. {}", names[best], judged.words()));
}

void report_maps(Context& context, const sequence::SeaScores& scores, const ocean::OceanModes& modes,
                 const std::vector<std::string>& names, int best, const Judged& judged) {
  const int last = static_cast<int>(scores.options().leads.size()) - 1, lead = scores.options().leads.back();
  const auto of_lead = [&](const std::string& what) { return fmt::format("{}, lead {}", what, lead); };
  for (const auto& row : sequence::sea_map_rows()) {
    const auto values = scores.map(row, best, last);
    std::string caption = fmt::format("{}: {}, in the space of the modes.", names[best], row.doc);
    if (std::string(row.name) == "rmse_gain") {
      if (best == judged.against) continue;
      const auto error = scores.gain_error(best, last);
      double better = 0, worse = 0;
      for (std::size_t x = 0; x < values.size(); ++x)
        better += values[x] > 2 * error[x] ? 1 : 0, worse += values[x] < -2 * error[x] ? 1 : 0;
      const double points = values.size();
      caption += fmt::format(
          " All are compared with {}. By more than two errors: better at {:.0f} % of the points, "
          "worse at {:.0f} %.",
          names[judged.against], 100 * better / points, 100 * worse / points);
      context.summarise(names[best] + "_points_better", better / points);
      context.summarise(names[best] + "_points_worse", worse / points);
    }
    context.report().heatmap(map_of(modes, {values.begin(), values.end()}, of_lead(row.title),
                                    std::string(row.unit) == "1" ? "" : score_unit(row.unit, modes),
                                    caption));
  }
}

}  // namespace

void report_sea(Context& context, const sequence::SeaScores& scores, const ocean::OceanModes& modes,
                const std::vector<std::string>& names, int best, const Judged& judged) {
  context.report().section(fmt::format("The whole sea, {}", counted(scores.n_windows(), "window")));
  report_waves(context, scores, names, judged);
  report_reliability(context, scores, names, best, judged);
  context.report().paragraph("Maps; skill_maps.nc has those of all methods.");
  report_maps(context, scores, modes, names, best, judged);
}

}  // namespace quintet::podlstm
