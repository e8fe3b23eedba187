#include "physics/ocean/pod.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/gaps/fill_by_modes.hpp"
#include "physics/ocean/pod_fields.hpp"
#include "physics/ocean/sources/joined_source.hpp"

namespace quintet::ocean {
namespace {

/// From here on block Lanczos takes less time than products of all pairs of times (1.2 times at 85 times a
/// mode, 3 times at 380; twice as long at 11).
constexpr int least_times_a_mode = 64;
constexpr double least_span =
    330;  ///< days, of twelve months from the middle of the first to that of the last

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

}  // namespace

PodMethod chosen_method(const PodOptions& options) {
  if (options.method != PodMethod::automatic) return options.method;
  return options.n_fit / std::max(options.n_modes, 1) >= least_times_a_mode ? PodMethod::randomised
                                                                            : PodMethod::snapshots;
}

void check_pod(const JointRecords& records, const PodOptions& options) {
  check_joint(records);
  const auto& record = *records.front().record;
  QUINTET_CHECK(options.n_fit >= 2 && options.n_fit <= record.n_times(),
                "n_fit: {} times are asked for, there are {}", options.n_fit, record.n_times());
  std::int64_t n_points = 0;
  for (const auto& one : records) n_points += one.record->n_points();
  const auto most = std::min<std::int64_t>(options.n_fit - 1 - 2 * harmonics_of(options), n_points);
  QUINTET_CHECK(
      options.n_modes >= 1 && options.n_modes <= most,
      "pod.modes: {} modes are asked for, but {} times at {} points about their background have at most {}",
      options.n_modes, options.n_fit, n_points, std::max<std::int64_t>(most, 0));
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

double pod_bytes(const JointRecords& records, const PodOptions& options, std::optional<int> n_ranks) {
  double mine = 0, points = 0, reading = 0, largest = 0;
  bool has_gaps = false;
  const double n = options.n_fit;
  for (const auto& [record, name, weight] : records) {
    const double own = n_ranks ? std::ceil(1.0 * record->n_points() / *n_ranks) : record->n_mine();
    mine += own, points += record->n_points();
    largest = std::max(largest, own);
    reading = std::max(reading, record->bytes_of_reading());
    has_gaps = has_gaps || record->n_missing() > 0;
  }
  const double filling = has_gaps ? dineof_bytes(mine, n, options.filling) : 0;
  const bool squares = chosen_method(options) == PodMethod::snapshots;
  // The times after the fit come when those of the fit are gone.
  const double fields = std::max(n + 8, double{times_later});
  return 8 * (mine * (fields + 3 * options.n_modes) + (records.size() > 1 ? largest * fields : 0) +
              (squares ? 3 * n * n : 0) + points * (options.n_modes + 2 + 2 * harmonics_of(options))) +
         reading + filling;
}
Pod make_pod(const Comm& comm, const Record& record, const PodOptions& options) {
  return make_pod(comm, JointRecords{{&record}}, options);
}

Pod make_pod(const Comm& comm, const JointRecords& records, const PodOptions& options) {
  check_pod(records, options);
  const auto& record = *records.front().record;
  const int n_fit = options.n_fit, n_modes = options.n_modes, harmonics = harmonics_of(options),
            n_times = record.n_times();
  Pod pod;
  auto& modes = pod.modes;
  auto parts = pod_variables(comm, records, options);
  auto x = fit_fields(comm, records, options, parts, pod);
  const int rows = x.rows();
  double total = 0, n_points = 0;
  for (const auto& part : parts) total += part.total, n_points += part.record->n_points();
  give_up_if_asked(comm, options.interrupt);
  auto triplets = triplets_of(comm, x, options);
  x = {};
  choose_signs(triplets);

  modes.series.n_modes = n_modes;
  modes.series.time = record.days();
  modes.series.values.resize(std::int64_t{n_times} * n_modes);
  modes.singular_values = triplets.values;
  double captured = 0;
  for (int m = 0; m < n_modes; ++m) {
    const double s = triplets.values[m];
    captured += s * s;
    for (int t = 0; t < n_fit; ++t) modes.series.row(t)[m] = s * triplets.right.at(m, t);
  }
  modes.captured_variance = captured / total;
  const auto each = parts.size() == 1 ? std::vector{captured} : captured_of(comm, parts, triplets);

  std::vector<double> variances;
  for (const double s : modes.singular_values) variances.push_back(s * s / n_fit);
  // What the modes leave out, shared by all values; a little, where they leave nothing.
  const double noise = std::max(total - captured, 1e-12 * total) / n_fit / n_points;
  double total_later = 0, captured_later = 0;
  std::int64_t n_missing = 0;
  for (const auto& one : records) n_missing += one.record->n_missing();
  std::vector<double> missed(parts.size(), 0.0);
  for (int first = n_fit; first < n_times; first += times_later) {
    const int n = std::min(times_later, n_times - first);
    give_up_if_asked(comm, options.interrupt);
    auto later = later_fields(parts, first, n, harmonics, rows);
    if (n_missing > 0) pod.filled_later += fill_by_modes(comm, later, triplets.left, variances, noise);
    total_later += sum_of_squares(comm, later);
    const auto a = transposed_product(comm, triplets.left, later);
    for (int t = 0; t < n; ++t)
      for (int m = 0; m < n_modes; ++m) {
        modes.series.row(first + t)[m] = a.at(m, t);
        captured_later += a.at(m, t) * a.at(m, t);
      }
    if (parts.size() == 1) continue;
    const auto rest = left_of(comm, parts, later, triplets.left, a);
    for (std::size_t v = 0; v < rest.size(); ++v) missed[v] += rest[v];
  }
  if (parts.size() == 1) missed = {std::max(total_later - captured_later, 0.0)};
  const double none = std::numeric_limits<double>::quiet_NaN();
  pod.captured_later = n_times > n_fit ? captured_later / total_later : none;
  for (std::size_t v = 0; v < parts.size(); ++v) {
    const auto& part = parts[v];
    const double weight = part.weight * part.scale * part.scale;
    pod.variables.push_back({part.total / weight / n_fit, each[v] / part.total,
                             std::sqrt(std::max(part.total - each[v], 0.0) / weight / n_fit),
                             n_times > n_fit ? std::sqrt(missed[v] / weight / (n_times - n_fit)) : none});
  }

  take_fields(comm, parts.front(), triplets.left, n_modes, modes);
  modes.source = record.source_names();
  for (std::size_t v = 1; v < parts.size(); ++v) {
    auto& one = modes.also.emplace_back();
    one.name = records[v].name;
    take_fields(comm, parts[v], triplets.left, n_modes, one);
    modes.source += fmt::format("; {}: {}", one.name, parts[v].record->source_names());
  }
  modes.n_fit = n_fit;
  modes.calendar = record.calendar();
  return pod;
}

}  // namespace quintet::ocean
