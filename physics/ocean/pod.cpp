#include "physics/ocean/pod.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/coordinates/grid.hpp"
#include "physics/ocean/gaps/fill_by_modes.hpp"
#include "physics/ocean/gaps/known_values.hpp"
#include "physics/ocean/sources/joined_source.hpp"
#include "physics/ocean/svd/background.hpp"

namespace quintet::ocean {
namespace {

constexpr double least_weight = 1e-3;
/// From here on block Lanczos takes less time than products of all pairs of times (1.2 times at 85 times a
/// mode, 3 times at 380; twice as long at 11).
constexpr int least_times_a_mode = 64;
constexpr double least_span =
    330;                         ///< days, of twelve months from the middle of the first to that of the last
constexpr int times_later = 64;  ///< of the times after the fit that are held at once

std::vector<double> weights_of(const Record& record, PodWeights weights) {
  std::vector<double> values;
  for (int p = 0; p < record.n_points(); ++p)
    values.push_back(weights == PodWeights::points
                         ? 1.0
                         : std::max(std::cos(record.latitude_of(p) * std::numbers::pi / 180), least_weight));
  return values;
}

int harmonics_of(const PodOptions& options) {
  return options.background == PodBackground::climatology ? options.harmonics : 0;
}

/// 1 and the seasonal functions at some times: [n, 1 + 2 harmonics].
SmallMatrix background_functions(const Record& record, int first, int n, int harmonics) {
  SmallMatrix functions(n, 1 + 2 * harmonics);
  for (int t = 0; t < n; ++t) {
    const auto season = season_of(record.days()[first + t], harmonics);
    functions.at(t, 0) = 1;
    for (std::size_t k = 0; k < season.size(); ++k) functions.at(t, static_cast<int>(k) + 1) = season[k];
  }
  return functions;
}

/// Times of the fit that are behind the background: [first, last).
struct TimeSpan {
  int first, last;
};
TimeSpan background_times(const Record& record, const PodOptions& options) {
  if (!options.background_years) return {0, options.n_fit};
  const auto& days = record.days();
  const auto end = days.begin() + options.n_fit;
  const auto number = [&](int year) {
    return static_cast<int>(std::lower_bound(days.begin(), end, day_of({year, 1, 1})) - days.begin());
  };
  return {number(options.background_years->first), number(options.background_years->last + 1)};
}

/// Functions that are 0 at times outside the span, so that least squares see those within alone.
SmallMatrix within(SmallMatrix functions, const TimeSpan& span) {
  for (int t = 0; t < functions.rows; ++t)
    for (int k = 0; k < functions.columns; ++k)
      if (t < span.first || t >= span.last) functions.at(t, k) = 0;
  return functions;
}

void scale_rows(TallMatrix& x, const double* factors) {
  for (int p = 0; p < x.rows(); ++p)
    for (int t = 0; t < x.columns(); ++t) x.row(p)[t] *= factors[p];
}

SingularTriplets triplets_of(const Comm& comm, const TallMatrix& x, const PodOptions& options) {
  switch (chosen_method(options)) {
    case PodMethod::automatic:
      break;
    case PodMethod::snapshots:
      return svd_of_snapshots(comm, x, options.n_modes);
    case PodMethod::randomised: {
      BlockLanczosOptions randomised;
      randomised.seed = options.seed;
      return svd_randomised(comm, x, options.n_modes, randomised);
    }
    case PodMethod::lanczos:
      QUINTET_CHECK(
          options.lanczos,
          "pod.method: lanczos needs SLEPc, and this program was built without it; choose snapshots");
      return options.lanczos(comm, x, options.n_modes);
  }
  throw InternalError("no such method of the POD");
}

/// Each mode's largest coefficient becomes positive.
void choose_signs(SingularTriplets& triplets) {
  for (int m = 0; m < triplets.right.rows; ++m) {
    int largest = 0;
    for (int t = 1; t < triplets.right.columns; ++t)
      // The first of several that are alike but for round-off.
      if (std::abs(triplets.right.at(m, t)) > (1 + 1e-9) * std::abs(triplets.right.at(m, largest)))
        largest = t;
    if (triplets.right.at(m, largest) > 0) continue;
    for (int t = 0; t < triplets.right.columns; ++t) triplets.right.at(m, t) *= -1;
    for (int p = 0; p < triplets.left.rows(); ++p) triplets.left.row(p)[m] *= -1;
  }
}

/// Whether a value of these times is missing. Collective.
bool has_gaps(const Comm& comm, const Record& record, const TallMatrix& x) {
  if (record.n_missing() == 0) return false;
  bool mine = false;
  for (int p = 0; p < x.rows(); ++p)
    mine =
        mine || std::any_of(x.row(p), x.row(p) + x.columns(), [](double value) { return std::isnan(value); });
  return comm.any(mine);
}

/// Fill what the fit's times lack: about the background of what is known, with rows weighted as in the modes.
std::optional<GapFilling> fill_fit(const Comm& comm, const Record& record, TallMatrix& x,
                                   const SmallMatrix& functions, const std::vector<double>& root,
                                   const PodOptions& options) {
  const int first = record.first_point(comm.rank());
  const auto background = fit_known(comm, x, within(functions, background_times(record, options)), functions,
                                    [&](int p) { return record.place_of_point(first + p); });
  subtract(x, functions, background);
  scale_rows(x, root.data());
  auto filling = fill_by_dineof(comm, x, root, first,
                                {record.days().data(), record.days().data() + x.columns()}, options.filling);
  std::vector<double> back;
  for (const double r : root) back.push_back(1 / r);
  scale_rows(x, back.data());
  auto negative = background;
  for (double& value : negative.values) value = -value;
  subtract(x, functions, negative);
  return filling;
}

}  // namespace

PodMethod chosen_method(const PodOptions& options) {
  if (options.method != PodMethod::automatic) return options.method;
  return options.n_fit / std::max(options.n_modes, 1) >= least_times_a_mode ? PodMethod::randomised
                                                                            : PodMethod::snapshots;
}

void check_pod(const Record& record, const PodOptions& options) {
  QUINTET_CHECK(options.n_fit >= 2 && options.n_fit <= record.n_times(),
                "n_fit: {} times are asked for, there are {}", options.n_fit, record.n_times());
  const int most = std::min(options.n_fit - 1 - 2 * harmonics_of(options), record.n_points());
  QUINTET_CHECK(
      options.n_modes >= 1 && options.n_modes <= most,
      "pod.modes: {} modes are asked for, but {} times at {} points about their background have at most {}",
      options.n_modes, options.n_fit, record.n_points(), std::max(most, 0));
  const auto times = background_times(record, options);
  const auto& days = record.days();
  if (options.background_years) {
    const auto [first, last] = *options.background_years;
    // A step of slack: the first week of a year may begin with its second day, the last month ends before it.
    const double step = usual_step(days), begins = day_of({first, 1, 1}), ends = day_of({last + 1, 1, 1});
    QUINTET_CHECK(days.front() <= begins + step && days[options.n_fit - 1] >= ends - 2 * step &&
                      times.last > times.first,
                  "pod.background_years: {}-{} are not within the fit's times, {} to {}: choose years within "
                  "them, or a later fit_until",
                  first, last, date_text(days.front()), date_text(days[options.n_fit - 1]));
  }
  QUINTET_CHECK(times.last - times.first > 2 * harmonics_of(options),
                "pod.background: {} times are too few for a background of {} functions",
                times.last - times.first, 1 + 2 * harmonics_of(options));
  const double span = days[times.last - 1] - days[times.first];
  QUINTET_CHECK(
      options.background == PodBackground::mean || span >= least_span,
      "pod.background: climatology needs a year of times to be made of; the fit's times span {:g} days",
      span);
}

double pod_bytes(const Record& record, const PodOptions& options) {
  const double n = options.n_fit, mine = record.n_mine(), points = record.n_points();
  const bool squares = chosen_method(options) == PodMethod::snapshots;
  // The times after the fit come when those of the fit are gone.
  const double fields = std::max(n + 8, double{times_later});
  return 8 * (mine * (fields + 3 * options.n_modes) + (squares ? 3 * n * n : 0) +
              points * (options.n_modes + 2 + 2 * harmonics_of(options))) +
         record.bytes_of_reading() + (record.n_missing() > 0 ? dineof_bytes(mine, n, options.filling) : 0);
}

Pod make_pod(const Comm& comm, const Record& record, const PodOptions& options) {
  check_pod(record, options);
  const int n_fit = options.n_fit, n_modes = options.n_modes, harmonics = harmonics_of(options),
            n_times = record.n_times();
  Pod pod;
  auto& modes = pod.modes;
  modes.weights = weights_of(record, options.weights);
  const int first_mine = record.first_point(comm.rank());
  std::vector<double> root(record.n_mine());
  for (std::size_t p = 0; p < root.size(); ++p) root[p] = std::sqrt(modes.weights[first_mine + p]);

  auto x = record.read(0, n_fit);
  const auto functions = background_functions(record, 0, n_fit, harmonics);
  if (has_gaps(comm, record, x)) pod.filling = fill_fit(comm, record, x, functions, root, options);
  const auto background = fit_rows(x, within(functions, background_times(record, options)));
  subtract(x, functions, background);
  scale_rows(x, root.data());
  const double total = sum_of_squares(comm, x);
  QUINTET_CHECK(total > 0, "the fields do not change in time: they have no modes");
  auto triplets = triplets_of(comm, x, options);
  x = {};
  choose_signs(triplets);

  modes.series.n_modes = n_modes;
  modes.series.time = record.days();
  modes.series.values.resize(static_cast<std::size_t>(n_times) * n_modes);
  modes.singular_values = triplets.values;
  double captured = 0;
  for (int m = 0; m < n_modes; ++m) {
    const double s = triplets.values[m];
    captured += s * s;
    for (int t = 0; t < n_fit; ++t) modes.series.row(t)[m] = s * triplets.right.at(m, t);
  }
  double weight = 0;
  for (const double w : modes.weights) weight += w;
  pod.variance_fit = total / weight / n_fit;
  pod.error_fit = std::sqrt(std::max(total - captured, 0.0) / weight / n_fit);
  modes.captured_variance = captured / total;

  std::vector<double> variances;
  for (const double s : modes.singular_values) variances.push_back(s * s / n_fit);
  // What the modes leave out, shared by all values; a little, where they leave nothing.
  const double noise = std::max(total - captured, 1e-12 * total) / n_fit / record.n_points();
  double total_later = 0, captured_later = 0;
  for (int first = n_fit; first < n_times; first += times_later) {
    const int n = std::min(times_later, n_times - first);
    auto later = record.read(first, n);
    subtract(later, background_functions(record, first, n, harmonics), background);
    scale_rows(later, root.data());
    if (record.n_missing() > 0)
      pod.filled_later += fill_by_modes(comm, later, triplets.left, variances, noise);
    total_later += sum_of_squares(comm, later);
    const auto a = transposed_product(comm, triplets.left, later);
    for (int t = 0; t < n; ++t)
      for (int m = 0; m < n_modes; ++m) {
        modes.series.row(first + t)[m] = a.at(m, t);
        captured_later += a.at(m, t) * a.at(m, t);
      }
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  pod.captured_later = n_times > n_fit ? captured_later / total_later : none;
  pod.error_later = n_times > n_fit
                        ? std::sqrt(std::max(total_later - captured_later, 0.0) / weight / (n_times - n_fit))
                        : none;

  std::vector<double> mine(record.n_mine());
  const auto gather = [&](auto value_of, std::vector<double>& to) {
    for (int p = 0; p < record.n_mine(); ++p) mine[p] = value_of(p);
    const auto all = comm.all_gather(std::span<const double>(mine));
    to.insert(to.end(), all.begin(), all.end());
  };
  for (int m = 0; m < n_modes; ++m)
    gather([&](int p) { return triplets.left.row(p)[m] / root[p]; }, modes.modes);
  gather([&](int p) { return background.at(0, p); }, modes.mean);
  for (int k = 1; k < background.rows; ++k) gather([&](int p) { return background.at(k, p); }, modes.cycle);
  modes.harmonics = harmonics;
  modes.n_fit = n_fit;
  modes.units = record.units();
  modes.anomalies = record.quantity() == FieldQuantity::anomaly;
  modes.calendar = record.calendar();
  modes.source = record.source_names();
  modes.latitude = record.grid().latitude, modes.longitude = record.grid().longitude;
  modes.mask = record.mask();
  return pod;
}

std::vector<double> project(const Comm& comm, const Record& record, const OceanModes& modes) {
  QUINTET_CHECK(same_grid({modes.latitude, modes.longitude}, record.grid()) && modes.mask == record.mask(),
                "fields: are on a grid of {} x {} with {} sea points, the modes on {} x {} with {}; give the "
                "record and the region that `podlstm fit` has read",
                record.grid().latitude.size(), record.grid().longitude.size(), record.n_points(),
                modes.latitude.size(), modes.longitude.size(), modes.n_points());
  const int first_mine = record.first_point(comm.rank()), n_modes = modes.n_modes();
  const std::size_t points = modes.n_points();
  QUINTET_CHECK(
      record.n_missing() == 0,
      "fields: {} values are missing, and gaps are filled where modes are fitted alone: fit them anew "
      "with the new times, or fields.incomplete_points: drop",
      record.n_missing());
  std::vector<double> values;
  for (int first = 0; first < record.n_times(); first += times_later) {
    const int n = std::min(times_later, record.n_times() - first);
    const auto fields = record.read(first, n);
    std::vector<double> sums(static_cast<std::size_t>(n) * n_modes, 0.0);
    const std::vector<double> none(n_modes, 0.0);
    for (int t = 0; t < n; ++t) {
      const auto background = expand(modes, record.days()[first + t], none.data());
      for (int m = 0; m < n_modes; ++m)
        for (int p = 0; p < record.n_mine(); ++p) {
          const std::size_t x = static_cast<std::size_t>(first_mine) + p;
          sums[static_cast<std::size_t>(t) * n_modes + m] +=
              modes.weights[x] * modes.modes[m * points + x] * (fields.row(p)[t] - background[x]);
        }
    }
    comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
    values.insert(values.end(), sums.begin(), sums.end());
  }
  return values;
}

}  // namespace quintet::ocean
