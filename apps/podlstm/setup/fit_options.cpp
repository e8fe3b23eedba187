#include "apps/podlstm/setup/fit_options.hpp"

#include <algorithm>
#include <cstdio>

#include "apps/podlstm/setup/with_slepc.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::podlstm {

void describe(Schema& schema, CoefficientsOptions& options) {
  schema
      .text("file", options.file,
            "A netCDF file with coefficients over time and the coordinate of their times")
      .required()
      .existing_file();
  schema.text("variable", options.variable, "The coefficients: a variable of (time, mode)");
}

void describe(Schema& schema, FillingOptions& options) {
  schema.integer("most_modes", options.most_modes, "Largest number of modes that is tried")
      .at_least(1)
      .at_most(200);
  schema
      .number("held_out", options.held_out,
              "Share of the known values that are held out to choose how many modes fill the gaps")
      .above(0)
      .at_most(0.5);
  schema
      .number("tolerance", options.tolerance,
              "The filling ends where an iteration changes the filled values by less than this, root mean "
              "square, in units of that of all anomalies")
      .at_least(1e-10)
      .at_most(0.1);
  schema.integer("most_iterations", options.most_iterations, "For one number of modes")
      .at_least(1)
      .at_most(100'000);
}

void describe(Schema& schema, PodSection& options) {
  schema.integer("modes", options.modes, "Modes to keep").at_least(1).at_most(10'000);
  schema.choice("weights", options.weights,
                {{"points", ocean::PodWeights::points}, {"area", ocean::PodWeights::area}},
                "Weights of the inner product: 1 for each point, as in the paper, or cos(latitude)");
  schema.choice("background", options.background,
                {{"mean", ocean::PodBackground::mean}, {"climatology", ocean::PodBackground::climatology}},
                "What is taken away first: the mean of the fit's times, as in the paper, or their mean and "
                "seasonal cycle, so that "
                "modes are of anomalies");
  schema.integer("harmonics", options.harmonics, "Harmonics of the seasonal cycle").at_least(1).at_most(12);
  schema
      .text("background_years", options.background_years,
            "Years whose times are behind the background, first and last, within the fit's times: the named "
            "climatology period that anomalies are of; empty: all of the fit's times")
      .example("1991-2020");
  schema.choice(
      "method", options.method,
      {{"automatic", ocean::PodMethod::automatic},
       {"snapshots", ocean::PodMethod::snapshots},
       {"randomised", ocean::PodMethod::randomised},
       {"lanczos", ocean::PodMethod::lanczos}},
      "How singular triplets are found, all to round-off: eigenvectors of products of times (snapshots), "
      "block Lanczos from random vectors (faster where modes are few and times many), or SLEPc's "
      "thick-restart Lanczos method; automatic: randomised from 64 times a mode on, else snapshots");
  schema.integer("seed", options.seed, "Seed of the random vectors").at_least(0);
  schema.section("dineof", options.dineof,
                 "How values that are missing are filled, where fields.incomplete_points is dineof");
}

namespace {

ocean::DineofOptions dineof_of(const FillingOptions& options, std::uint64_t seed) {
  return {static_cast<int>(options.most_modes), options.held_out, options.tolerance,
          static_cast<int>(options.most_iterations), seed};
}

/// The years of `1991-2020`; none of an empty text.
std::optional<ocean::YearSpan> years_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  ocean::YearSpan years;
  int used = 0;
  const bool read = std::sscanf(text.c_str(), "%4d-%4d%n", &years.first, &years.last, &used) == 2 &&
                    used == std::ssize(text);
  QUINTET_CHECK(read && years.first >= 1 && years.first <= years.last,
                "pod.background_years: '{}' are no years; expected the first and the last, such as 1991-2020",
                text);
  return years;
}

}  // namespace

ocean::PodOptions pod_of(const PodSection& options, int n_fit) {
  ocean::PodOptions pod;
  pod.n_modes = static_cast<int>(options.modes);
  pod.n_fit = n_fit;
  pod.weights = options.weights;
  pod.background = options.background;
  pod.harmonics = static_cast<int>(options.harmonics);
  pod.background_years = years_of(options.background_years);
  pod.method = options.method;
  pod.seed = static_cast<std::uint64_t>(options.seed);
  pod.filling = dineof_of(options.dineof, pod.seed);
  pod.lanczos = lanczos_svd();
  QUINTET_CHECK(pod.method != ocean::PodMethod::lanczos || pod.lanczos,
                "pod.method: lanczos needs SLEPc, and this program was built without it; choose snapshots");
  return pod;
}

void describe(Schema& schema, FitOptions& options) {
  schema.section("fields", options.fields, "A record of fields");
  schema.section("coefficients", options.coefficients,
                 "A file of coefficients computed elsewhere, without fields");
  schema.section("pod", options.pod, "Proper orthogonal decomposition of the fields");
  schema
      .integer("n_fit", options.n_fit,
               "Number of first times from which modes and background are computed; absent: what a file of "
               "coefficients says (n_fit, n_train), else all")
      .at_least(2)
      .at_most(10'000'000);
  schema.text("fit_until", options.fit_until,
              "The same as a date: modes and background are of the times up to this day; empty: see n_fit");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.coefficients.has_value() == options.fields.has_value())
      return "give either fields or coefficients";
    if (options.n_fit && !options.fit_until.empty()) return "give n_fit or fit_until, not both";
    return std::nullopt;
  });
}

std::optional<int> asked_times(const FitOptions& options, const std::vector<double>& days) {
  if (options.n_fit) return static_cast<int>(*options.n_fit);
  if (options.fit_until.empty()) return std::nullopt;
  const double until = ocean::parse_date(options.fit_until, "fit_until") + 1;
  const auto n = std::lower_bound(days.begin(), days.end(), until) - days.begin();
  QUINTET_CHECK(n >= 2, "fit_until: {} has {} of {} times up to it, which begin on {}; expected 2 or more",
                options.fit_until, n, days.size(), ocean::date_text(days.front()));
  return static_cast<int>(n);
}

}  // namespace quintet::podlstm
