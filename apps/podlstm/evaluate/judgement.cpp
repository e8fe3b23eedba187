#include "apps/podlstm/evaluate/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::podlstm {

Judgement judge_references(const ocean::OceanModes& modes, const sequence::Windows& windows,
                           const sequence::FitData& fit, const sequence::ReferenceOptions& options,
                           const std::function<void()>& between) {
  const auto& series = modes.series;
  Judgement judgement;
  judgement.truth = targets(series, windows);
  judgement.shape = {windows.size(), windows.shape.out, series.n_modes};
  judgement.period =
      fmt::format("{}, forecasts for {} to {}", counted(windows.size(), "window"),
                  ocean::date_text(windows.dates.front()), ocean::date_text(windows.dates.back()));
  // Anomalies of all tables are about what the reference `climatology` forecasts, where it holds.
  const auto normal = forecast_beside(sequence::Reference::climatology, fit, options, windows);
  if (normal) judgement.normal = *normal;
  for (const auto& row : sequence::references()) {
    if (is_left_out(row, options)) continue;
    if (between) between();
    auto forecast = row.value == sequence::Reference::climatology
                        ? normal
                        : forecast_beside(row.value, fit, options, windows);
    if (!forecast) forecast.emplace(judgement.truth.size(), std::numeric_limits<double>::quiet_NaN());
    judgement.references.push_back({row.name, std::move(*forecast)});
  }
  return judgement;
}

void add_ours(const Comm& comm, Judgement& judgement, const sequence::ForecastModel& model,
              const ocean::OceanModes& modes, const sequence::Windows& windows, sequence::Purpose purpose) {
  judgement.leaks = leaks_of(model, modes, windows, purpose);
  const auto ensemble = sequence::forecast(comm, model, modes.series, windows);
  const auto n = model.members.size();
  const auto name = n == 0   ? fmt::format("ours ({})", model.base.name)
                    : n == 1 ? "ours"
                             : fmt::format("ours (mean of {})", n);
  judgement.ours = {name, ensemble.mean};
  judgement.members.clear();
  if (n > 1)
    for (std::size_t k = 0; k < n; ++k)
      judgement.members.push_back({fmt::format("network {}", k + 1), ensemble.members[k]});
}

}  // namespace quintet::podlstm
