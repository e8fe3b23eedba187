#include "apps/podlstm/fit/fit.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/podlstm/fit/fit_report.hpp"
#include "apps/podlstm/setup/cf_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/ocean/coefficient_file.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::podlstm {
namespace {

/// Norm of each coefficient over the first n times.
std::vector<double> norms(const CoefficientSeries& series, int n) {
  std::vector<double> sums(series.n_modes);
  for (int t = 0; t < n; ++t)
    for (int m = 0; m < series.n_modes; ++m) sums[m] += series.row(t)[m] * series.row(t)[m];
  for (double& sum : sums) sum = std::sqrt(sum);
  return sums;
}

ocean::OceanModes modes_of_coefficients(const Comm& comm, const FitOptions& options) {
  const auto& [path, variable] = *options.coefficients;
  auto file = ocean::read_coefficients(comm, path, variable);
  if (!file.reading.empty()) log::info("{}: {}", path, file.reading.text());
  ocean::OceanModes modes;
  modes.series = std::move(file.series);
  modes.calendar = file.calendar;
  modes.source = std::filesystem::path(path).filename().string();
  const int n_times = modes.series.n_times();
  const auto asked = asked_times(options, modes.series.time);
  const int n_fit = asked.value_or(file.n_fit.value_or(n_times));
  QUINTET_CHECK(n_fit >= 2 && n_fit <= n_times, "n_fit: {} asked for, but {} has {}",
                counted(n_fit, "time is", "times are"), path, n_times);
  QUINTET_CHECK(!asked || !file.n_fit || *asked == *file.n_fit,
                "n_fit: is {}, {} says that {} times are behind its modes; leave it out", n_fit, path,
                file.n_fit.value_or(0));
  modes.n_fit = n_fit;
  modes.singular_values = norms(modes.series, modes.n_fit);
  modes.captured_variance = std::numeric_limits<double>::quiet_NaN();
  return modes;
}

void fit_coefficients(Context& context, const FitOptions& options) {
  auto modes = context.timed("read", [&] { return modes_of_coefficients(context.comm(), options); });
  context.describe_run(
      "coefficients",
      fmt::format("{}: {} at {}, {} to {}", modes.source, counted(modes.n_modes(), "mode"),
                  counted(modes.series.n_times(), "time"), ocean::date_text(modes.series.time.front()),
                  ocean::date_text(modes.series.time.back())));
  if (!context.go_ahead({"modes.h5"})) return;
  context.timed("write",
                [&] { write_modes(context.comm(), context.path("modes.h5"), modes, context.provenance()); });
  report_fit(context, modes);
  report_coefficients(context, modes);
}

// All is refused that can be, before any mode is computed: what memory is needed is known once records are
// scanned.
void fit_fields(Context& context, const FitOptions& options) {
  const auto opened = context.timed("scan", [&] { return open_records(context.comm(), *options.fields); });
  const auto records = joint(opened);
  const auto& record = opened.front().record;
  auto pod = pod_of(options.pod, asked_times(options, record.days()).value_or(record.n_times()));
  pod.interrupt = interrupt_of(context);
  check_pod(records, pod);
  context.describe_run(
      "fields", fmt::format("{}: {}, {} to {}, {} of {} x {}", record.source_names(),
                            counted(record.n_times(), "time"), ocean::date_text(record.days().front()),
                            ocean::date_text(record.days().back()), counted(record.n_points(), "sea point"),
                            record.grid().latitude.size(), record.grid().longitude.size()));
  for (std::size_t v = 1; v < opened.size(); ++v)
    context.describe_run(
        opened[v].name,
        fmt::format("{}: {} of {} x {}, in {}", opened[v].record.source_names(),
                    counted(opened[v].record.n_points(), "point"), opened[v].record.grid().latitude.size(),
                    opened[v].record.grid().longitude.size(), opened[v].record.units()));
  context.require_memory(pod_bytes(records, pod), "fields of the fit's times");
  if (!context.go_ahead({"modes.h5", "modes.nc"})) return;
  const auto notes = notes_of(opened);
  for (const auto& note : notes) log::info("{}", note);
  const auto made = context.timed("pod", [&] { return make_pod(context.comm(), records, pod); });
  context.timed("write", [&] {
    write_modes(context.comm(), context.path("modes.h5"), made.modes, context.provenance());
    write_modes_netcdf(context.comm(), context.path("modes.nc"), made.modes,
                       fmt::format("{} podlstm fit", context.provenance().date));
  });
  report_fit(context, made.modes);
  report_fields(context, made, notes);
  report_coefficients(context, made.modes);
}

}  // namespace

void fit(Context& context, const FitOptions& options) {
  if (options.coefficients)
    fit_coefficients(context, options);
  else
    fit_fields(context, options);
}

}  // namespace quintet::podlstm
