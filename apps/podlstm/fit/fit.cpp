#include "apps/podlstm/fit/fit.hpp"

#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/podlstm/fit/fit_report.hpp"
#include "io/log/error.hpp"
#include "physics/ocean/calendar.hpp"
#include "physics/ocean/coefficient_file.hpp"
#include "physics/ocean/modes_file.hpp"

namespace quintet::podlstm {
namespace {

/// Norm of each coefficient over the first n times.
std::vector<double> norms(const CoefficientSeries& series, int n) {
  std::vector<double> sums(static_cast<std::size_t>(series.n_modes));
  for (int t = 0; t < n; ++t)
    for (int m = 0; m < series.n_modes; ++m)
      sums[static_cast<std::size_t>(m)] += series.row(t)[m] * series.row(t)[m];
  for (double& sum : sums) sum = std::sqrt(sum);
  return sums;
}

ocean::OceanModes modes_of_coefficients(const Comm& comm, const FitOptions& options) {
  const auto& [path, variable] = *options.coefficients;
  auto file = ocean::read_coefficients(comm, path, variable);
  ocean::OceanModes modes;
  modes.series = std::move(file.series);
  modes.calendar = file.calendar;
  modes.source = std::filesystem::path(path).filename().string();
  const int n_times = modes.series.n_times();
  const auto n_fit = options.n_fit.value_or(file.n_fit.value_or(n_times));
  QUINTET_CHECK(n_fit <= n_times, "n_fit: {} times are asked for, {} has {}", n_fit, path, n_times);
  QUINTET_CHECK(!options.n_fit || !file.n_fit || *options.n_fit == *file.n_fit,
                "n_fit: is {}, {} says that {} times are behind its modes; leave it out", n_fit, path,
                *file.n_fit);
  modes.n_fit = static_cast<int>(n_fit);
  modes.singular_values = norms(modes.series, modes.n_fit);
  modes.captured_variance = std::numeric_limits<double>::quiet_NaN();
  return modes;
}

}  // namespace

void fit(Context& context, const FitOptions& options) {
  auto modes = context.timed("read", [&] { return modes_of_coefficients(context.comm(), options); });
  context.describe_run(
      "coefficients",
      fmt::format("{}: {} modes at {} times, {} to {}", modes.source, modes.n_modes(), modes.series.n_times(),
                  ocean::date_text(modes.series.time.front()), ocean::date_text(modes.series.time.back())));
  if (!context.go_ahead({"modes.h5"})) return;
  context.timed("write",
                [&] { write_modes(context.comm(), context.path("modes.h5"), modes, context.provenance()); });
  report_fit(context, modes);
}

}  // namespace quintet::podlstm
