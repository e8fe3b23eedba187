#include "apps/podlstm/fit/fit.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/application/life/context.hpp"
#include "apps/podlstm/fit/fit_report.hpp"
#include "apps/podlstm/setup/cf_file.hpp"
#include "apps/podlstm/setup/with_slepc.hpp"
#include "io/hdf5/file.hpp"
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

/// The leading times that the user asks for, of these days; none if the input does not say.
std::optional<int> asked_times(const FitOptions& options, const std::vector<double>& days) {
  if (options.n_fit) return static_cast<int>(*options.n_fit);
  if (options.fit_until.empty()) return std::nullopt;
  const double until = ocean::parse_date(options.fit_until, "fit_until") + 1;
  const auto n = std::lower_bound(days.begin(), days.end(), until) - days.begin();
  QUINTET_CHECK(n >= 2, "fit_until: {} has {} of {} times up to it, which begin on {}; expected 2 or more",
                options.fit_until, n, days.size(), ocean::date_text(days.front()));
  return static_cast<int>(n);
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
  QUINTET_CHECK(n_fit >= 2 && n_fit <= n_times, "n_fit: {} times are asked for, but {} has {}", n_fit, path,
                n_times);
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
      fmt::format("{}: {} modes at {} times, {} to {}", modes.source, modes.n_modes(), modes.series.n_times(),
                  ocean::date_text(modes.series.time.front()), ocean::date_text(modes.series.time.back())));
  if (!context.go_ahead({"modes.h5"})) return;
  context.timed("write",
                [&] { write_modes(context.comm(), context.path("modes.h5"), modes, context.provenance()); });
  report_fit(context, modes);
  report_coefficients(context, modes);
}

ocean::PodOptions pod_options(const FitOptions& options, const ocean::Record& record) {
  ocean::PodOptions pod;
  pod.n_modes = options.pod.modes;
  pod.n_fit = asked_times(options, record.days()).value_or(record.n_times());
  pod.weights = options.pod.weights;
  pod.background = options.pod.background;
  pod.harmonics = options.pod.harmonics;
  pod.background_years = years_of(options.pod.background_years);
  pod.method = options.pod.method;
  pod.seed = options.pod.seed;
  pod.filling = dineof_of(options.pod.dineof, pod.seed);
  pod.lanczos = lanczos_svd();
  return pod;
}

void fit_fields(Context& context, const FitOptions& options) {
  const auto record = context.timed("scan", [&] { return open_record(context.comm(), *options.fields); });
  const auto pod = pod_options(options, record);
  check_pod(record, pod);
  QUINTET_CHECK(pod.method != ocean::PodMethod::lanczos || pod.lanczos,
                "pod.method: lanczos needs SLEPc, and this program was built without it; choose snapshots");
  context.describe_run(
      "fields",
      fmt::format("{}: {} times, {} to {}, {} sea points of {} x {}", record.source_names(), record.n_times(),
                  ocean::date_text(record.days().front()), ocean::date_text(record.days().back()),
                  record.n_points(), record.grid().latitude.size(), record.grid().longitude.size()));
  context.require_memory(pod_bytes(record, pod), "fields of the fit's times");
  if (!context.go_ahead({"modes.h5", "modes.nc"})) return;
  for (const auto& note : record.notes()) log::info("{}", note);
  const auto made = context.timed("pod", [&] { return make_pod(context.comm(), record, pod); });
  context.timed("write", [&] {
    write_modes(context.comm(), context.path("modes.h5"), made.modes, context.provenance());
    write_modes_netcdf(context.comm(), context.path("modes.nc"), made.modes,
                       fmt::format("{} podlstm fit", context.provenance().date));
  });
  report_fit(context, made.modes);
  report_fields(context, made, record.notes());
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
