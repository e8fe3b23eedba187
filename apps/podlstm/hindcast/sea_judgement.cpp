#include "apps/podlstm/hindcast/sea_judgement.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/hindcast/sea/heat_wave.hpp"
#include "surrogates/sequence/hindcast/sea/seasonal_quantiles.hpp"

namespace quintet::podlstm {

namespace {

/// The leads of the maps: the user's, else the first and last of those that are judged together.
std::vector<int> map_leads(const HindcastOptions& options) {
  std::vector<int> leads(options.maps->leads.begin(), options.maps->leads.end());
  if (!leads.empty()) return leads;
  const auto together = leads_of(options);
  leads.push_back(together.in);
  if (together.out != together.in) leads.push_back(together.out);
  return leads;
}

/// Modes and record of each origin; neighbours with the same modes share them.
std::vector<sequence::SeaAtOrigin> seas_at(const ModesAtOrigins& source, const sequence::Hindcasts& hindcasts,
                                           const HindcastOptions& options) {
  std::vector<sequence::SeaAtOrigin> seas;
  for (const auto& one : hindcasts.origins) {
    const auto modes = source.at(one.origin);
    if (!seas.empty() && seas.back().modes == modes) {
      seas.push_back(seas.back());
      continue;
    }
    const auto normal =
        sequence::verifying_climatology(modes->series, one.origin.training.begin, options.verification);
    seas.push_back({modes, std::make_shared<const CoefficientSeries>(anomalies(modes->series, normal))});
  }
  return seas;
}

}  // namespace

void require_maps(Context& context, const ModesAtOrigins& source, const HindcastOptions& options,
                  int origins) {
  if (!options.maps || source.n_points() == 0) return;
  constexpr double learned = 3;  // the mixture, networks, networks where they earn it
  const double points = source.n_points();
  double bytes =
      sequence::SeaScores::bytes(points, static_cast<double>(options.methods.names.size()) + learned,
                                 static_cast<double>(map_leads(options).size()), source.times().n_times());
  const double fitted = options.fields ? origins : 0;
  bytes += 8 * points * fitted * (options.pod.modes + 2 + 2 * options.pod.harmonics);
  context.require_memory(bytes, "maps of skill; fewer maps.leads need less, maps: null none");
}

std::optional<sequence::SeaScores> judge_sea(Context& context, const ModesAtOrigins& source,
                                             const sequence::Hindcasts& hindcasts, const Judged& judged,
                                             const HindcastOptions& options) {
  if (!options.maps || source.n_points() == 0) return std::nullopt;
  const auto step = sequence::time_step_of(source.times().time);
  const auto seas = seas_at(source, hindcasts, options);
  if (!sequence::SeasonalQuantiles(seas.back().anomalies->time).are_known())
    log::warning(
        "marine heat waves and terciles at points: some seasons have fewer than {} values in the record; "
        "there is '-' for them",
        sequence::SeasonalQuantiles::least_values);
  sequence::SeaScoreOptions of_sea;
  of_sea.leads = map_leads(options);
  of_sea.area = weights_in(*seas.back().modes, {"", {-90, 90}, {0, 360}});
  of_sea.warm_up = options.origins.warm_up;
  of_sea.block = options.block.in_steps(step);
  of_sea.against = judged.against;
  of_sea.climatology = judged.climatology;
  of_sea.interrupt = interrupt_of(context);
  of_sea.least_steps = sequence::heat_wave::least_steps(step);
  return context.timed(
      "maps", [&] { return sequence::SeaScores(context.comm(), hindcasts, seas, std::move(of_sea)); });
}

std::string sea_lines(const sequence::SeaScores& scores, const std::vector<std::string>& names) {
  std::string csv;
  const auto add = [&](const std::string& name, const char* measure, const std::string& score, int lead,
                       const sequence::Estimate& value) {
    if (!std::isnan(value.value))
      csv += fmt::format("\"{}\",\"{}\",\"all year\",{},{},{:.17g},{:.17g}\n", name, measure, score, lead,
                         value.value, value.error);
  };
  for (int k = 0; k < scores.n_methods(); ++k)
    for (std::size_t i = 0; i < scores.options().leads.size(); ++i) {
      const int lead = scores.options().leads[i], number = i;
      for (const auto& row : sequence::heat_wave_rows())
        add(names[k], "marine heat waves", row.name, lead, scores.heat_waves(row, k, number));
      for (const auto& bin : scores.reliability(k, number))
        add(names[k], "terciles of all points", fmt::format("frequency_at_{:.3f}", bin.probability), lead,
            bin.frequency);
    }
  return csv;
}

}  // namespace quintet::podlstm
