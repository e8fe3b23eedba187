#include "apps/podlstm/append/append.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/pod.hpp"

namespace quintet::podlstm {
namespace {

constexpr double same_time = 0.01;        // days
constexpr double round_off = 1e-6;        // of the largest coefficient
constexpr std::size_t most_compared = 8;  // last times that are read again

/// The coefficients that the record gives, from a time on that the modes have, too.
struct Projected {
  std::size_t first;  ///< of the modes' times
  std::vector<double> days, values;
};

Projected projected(const Comm& comm, const std::string& name, const ocean::OceanModes& modes,
                    const FieldsOptions& fields) {
  const auto& time = modes.series.time;
  const std::size_t first = time.size() - std::min(most_compared, time.size());
  std::vector<RecordPart> parts;
  for (const auto* one : variables_of(modes))
    parts.push_back({one->name.empty() ? time[first] - same_time : ocean::joint_from(time, first),
                     ocean::MaskFile{{one->latitude, one->longitude}, one->mask},
                     one->name.empty() ? name : fmt::format("{}: {}", name, one->name)});
  const auto records = open_records(comm, fields, parts);
  for (const auto& note : notes_of(records)) log::info("{}", note);
  return {first, records.front().record.days(), ocean::project(comm, joint(records), modes)};
}

/// How many of the last times that both have are to be replaced: those from the first on that differs, as an
/// analysis may be revised. Throws where the first of all does, or dates are others: then it is another
/// record.
std::size_t n_replaced(const ocean::OceanModes& modes, const Projected& now) {
  const auto& series = modes.series;
  const std::size_t n = series.time.size() - now.first, n_modes = modes.n_modes();
  double largest = 0;
  for (const double a : series.values) largest = std::max(largest, std::abs(a));
  std::size_t first_changed = n;
  for (std::size_t t = 0; t < n; ++t) {
    const double day = series.time[now.first + t];
    QUINTET_CHECK(t < now.days.size() && std::abs(now.days[t] - day) <= same_time,
                  "fields: the record lacks {}, a date of the modes file; give the record that `podlstm fit` "
                  "has read",
                  ocean::date_text(day));
    double miss = 0;
    for (std::size_t m = 0; m < n_modes; ++m)
      miss = std::max(miss, std::abs(now.values[t * n_modes + m] - series.row(now.first + t)[m]));
    QUINTET_CHECK(
        t > 0 || miss <= round_off * largest,
        "fields: those of {} are not the ones behind the modes file: a coefficient differs by {:.3g}; "
        "give the record that `podlstm fit` has read, or fit it anew",
        ocean::date_text(day), miss);
    if (miss > round_off * largest) first_changed = std::min(first_changed, t);
  }
  return n - first_changed;
}

}  // namespace

void append(Context& context, const AppendOptions& options) {
  const auto& comm = context.comm();
  auto modes = context.timed("read", [&] { return ocean::read_modes(comm, options.modes); });
  QUINTET_CHECK(modes.has_fields(), "{}: has coefficients alone: there are no modes to project fields on",
                options.modes);
  const auto now =
      context.timed("project", [&] { return projected(comm, options.modes, modes, options.fields); });
  const std::size_t known = modes.series.time.size(), replaced = n_replaced(modes, now),
                    added = now.days.size() - (known - now.first), n_modes = modes.n_modes();
  QUINTET_CHECK(
      static_cast<std::size_t>(modes.n_fit) <= known - replaced, "fields: {} other values now; fit them anew",
      counted(replaced, "time behind the modes themselves has", "times behind the modes themselves have"));
  QUINTET_CHECK(added > 0 || replaced > 0,
                "fields: the record ends on {}, as the modes file does: nothing is new",
                ocean::date_text(modes.series.time.back()));
  auto& series = modes.series;
  const std::size_t keep = known - replaced, skip = keep - now.first;
  series.time.resize(keep);
  series.values.resize(keep * n_modes);
  series.time.insert(series.time.end(), now.days.begin() + skip, now.days.end());
  series.values.insert(series.values.end(), now.values.begin() + (skip * n_modes), now.values.end());
  const auto last = ocean::date_text(series.time.back());
  context.describe_run("record",
                       fmt::format("{} to {}, {} replaced", counted(added, "new time"), last, replaced));
  if (!context.go_ahead({"modes.h5"})) return;
  if (replaced > 0)
    log::info("from {} on coefficients are replaced: its values are others now, as of a revised analysis",
              ocean::date_text(series.time[keep]));
  context.timed("write", [&] { write_modes(comm, context.path("modes.h5"), modes, context.provenance()); });
  context.report().title("podlstm append", modes.source);
  context.headline("new times", fmt::format("{}", added));
  context.headline("to", last);
  context.headline("replaced", fmt::format("{}", replaced));
  context.summarise("n_times", std::int64_t{series.n_times()});
  context.summarise("n_added", added);
  context.summarise("n_replaced", replaced, "known times from the first on whose values are others now");
  context.summarise("last_time", last);
  context.summarise("modes_checksum", modes.checksum(), "of dates, coefficients and modes");
}

}  // namespace quintet::podlstm
