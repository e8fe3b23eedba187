#include "physics/ocean/pod.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/ranges.h>

#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
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
    330;  ///< days, of twelve months from the middle of the first to that of the last
constexpr double round_off = 1e-13;  ///< of a value, as a share of it
constexpr int times_later = 64;      ///< of the times after the fit that are held at once

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

namespace {

/// A variable among the rows of the fields: those of this rank.
struct Part {
  const Record* record;
  int first_row;
  std::vector<double> weights;  ///< of all points
  std::vector<double> root;     ///< of the weights of this rank's points
  SmallMatrix background;
  double total;   ///< sum of squares about the background, as it counts
  double weight;  ///< of all points, before the variable is scaled
  double scale;   ///< of its fields
};

void copy_rows(const TallMatrix& from, TallMatrix& to, int first_row) {
  for (int p = 0; p < from.rows(); ++p) std::copy_n(from.row(p), from.columns(), to.row(first_row + p));
}

/// The rows of a variable, and back: of one that is alone no copy is made.
TallMatrix take_rows(TallMatrix& all, const std::vector<Part>& parts, const Part& part) {
  if (parts.size() == 1) return std::move(all);
  TallMatrix x(part.record->n_mine(), all.columns());
  for (int p = 0; p < x.rows(); ++p) std::copy_n(all.row(part.first_row + p), x.columns(), x.row(p));
  return x;
}
void give_rows(TallMatrix&& x, TallMatrix& all, const std::vector<Part>& parts, const Part& part) {
  if (parts.size() == 1)
    all = std::move(x);
  else
    copy_rows(x, all, part.first_row);
}

/// The rows of each variable, and its points' weights. Collective.
std::vector<Part> parts_of(const Comm& comm, const JointRecords& records, const PodOptions& options) {
  std::vector<Part> parts;
  int rows = 0;
  for (const auto& one : records) {
    auto& part = parts.emplace_back();
    part.record = one.record;
    part.first_row = rows;
    rows += one.record->n_mine();
    part.weights = weights_of(*one.record, options.weights);
    const auto first = part.weights.begin() + one.record->first_point(comm.rank());
    for (int p = 0; p < one.record->n_mine(); ++p) part.root.push_back(std::sqrt(first[p]));
    part.weight = 0;
    for (const double w : part.weights) part.weight += w;
  }
  return parts;
}

/// Whether a value of these times is missing. Collective.
bool has_gaps(const Comm& comm, const JointRecords& records, const TallMatrix& x) {
  const bool none = std::all_of(records.begin(), records.end(),
                                [](const auto& one) { return one.record->n_missing() == 0; });
  if (none) return false;
  bool mine = false;
  for (int p = 0; p < x.rows(); ++p)
    mine =
        mine || std::any_of(x.row(p), x.row(p) + x.columns(), [](double value) { return std::isnan(value); });
  return comm.any(mine);
}

/// Sum of squares of what is known, as large as it would be of all values. Collective.
double total_of_known(const Comm& comm, const TallMatrix& x) {
  double sums[3] = {0, 0, static_cast<double>(x.rows()) * x.columns()};  // squares, values known, all
  for (int p = 0; p < x.rows(); ++p)
    for (int t = 0; t < x.columns(); ++t)
      if (const double value = x.row(p)[t]; !std::isnan(value)) sums[0] += value * value, sums[1] += 1;
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  return sums[0] * sums[2] / std::max(sums[1], 1.0);
}

/// Fill what fields of the fit lack: about the background of what is known, with rows weighted as in the
/// modes. So what one variable lacks is filled by what others say at the time.
GapFilling fill_fit(const Comm& comm, const JointRecords& records, const std::vector<Part>& parts,
                    TallMatrix& all, const SmallMatrix& functions, const PodOptions& options) {
  std::vector<SmallMatrix> backgrounds;
  std::vector<std::vector<double>> factors;
  std::vector<double> roots;
  std::vector<int> points;
  double total_of_first = 0;
  int before = 0;
  for (std::size_t v = 0; v < parts.size(); ++v) {
    const auto& record = *parts[v].record;
    const int first = record.first_point(comm.rank());
    auto x = take_rows(all, parts, parts[v]);
    backgrounds.push_back(
        fit_known(comm, x, within(functions, background_times(record, options)), functions,
                  [&](int p) { return told_by_name(records[v].name) + record.place_of_point(first + p); }));
    subtract(x, functions, backgrounds.back());
    scale_rows(x, parts[v].root.data());
    auto factor = parts[v].root;
    if (parts.size() > 1) {
      const double total = total_of_known(comm, x);
      if (v == 0) total_of_first = total;
      const double scale = v == 0 || total == 0 ? 1 : std::sqrt(records[v].weight * total_of_first / total);
      for (double& f : factor) f *= scale;
      const std::vector<double> same(x.rows(), scale);
      scale_rows(x, same.data());
    }
    give_rows(std::move(x), all, parts, parts[v]);
    factors.push_back(std::move(factor));
    roots.insert(roots.end(), parts[v].root.begin(), parts[v].root.end());
    for (int p = 0; p < record.n_mine(); ++p) points.push_back(before + first + p);
    before += record.n_points();
  }
  const auto& days = parts.front().record->days();
  auto filling =
      fill_by_dineof(comm, all, roots, points, {days.data(), days.data() + all.columns()}, options.filling);
  for (std::size_t v = 0; v < parts.size(); ++v) {
    auto x = take_rows(all, parts, parts[v]);
    for (double& f : factors[v]) f = 1 / f;
    scale_rows(x, factors[v].data());
    for (double& value : backgrounds[v].values) value = -value;
    subtract(x, functions, backgrounds[v]);
    give_rows(std::move(x), all, parts, parts[v]);
  }
  return filling;
}

/// Fields of a variable's fit about their background, weighted and scaled. Collective.
void about_background(const Comm& comm, const JointRecord& joint, const PodOptions& options,
                      const SmallMatrix& functions, double total_of_first, TallMatrix& x, Part& part) {
  part.background = fit_rows(x, within(functions, background_times(*part.record, options)));
  subtract(x, functions, part.background);
  scale_rows(x, part.root.data());
  part.total = sum_of_squares(comm, x);
  double size = 0;  // of the mean, whose round-off is no change
  for (std::size_t p = 0; p < part.root.size(); ++p)
    size += std::pow(part.root[p] * part.background.at(0, static_cast<int>(p)), 2);
  size = comm.sum(size);
  QUINTET_CHECK(part.total > round_off * round_off * size * options.n_fit,
                "{}the fields do not change in time: they have no modes", told_by_name(joint.name));
  part.scale = 1;
  if (joint.name.empty()) return;
  part.scale = std::sqrt(joint.weight * total_of_first / part.total);
  const std::vector<double> factors(part.root.size(), part.scale);
  scale_rows(x, factors.data());
  for (double& w : part.weights) w *= part.scale * part.scale;
  for (double& r : part.root) r *= part.scale;
  part.total *= part.scale * part.scale;
}

/// Fields of all variables of the fit, below each other. Collective.
TallMatrix fields_of_all(const Comm& comm, const JointRecords& records, const PodOptions& options,
                         std::vector<Part>& parts, Pod& pod) {
  const auto functions =
      background_functions(*records.front().record, 0, options.n_fit, harmonics_of(options));
  TallMatrix all;
  if (parts.size() > 1)
    all = TallMatrix(parts.back().first_row + parts.back().record->n_mine(), options.n_fit);
  for (const auto& part : parts) give_rows(part.record->read(0, options.n_fit), all, parts, part);
  if (has_gaps(comm, records, all)) pod.filling = fill_fit(comm, records, parts, all, functions, options);
  for (std::size_t v = 0; v < records.size(); ++v) {
    auto x = take_rows(all, parts, parts[v]);
    about_background(comm, records[v], options, functions, parts.front().total, x, parts[v]);
    give_rows(std::move(x), all, parts, parts[v]);
  }
  return all;
}

/// Fields of later times, as those of the fit. Collective.
TallMatrix later_fields(const std::vector<Part>& parts, int first, int n, int harmonics, int rows) {
  TallMatrix all;
  for (const auto& part : parts) {
    auto x = part.record->read(first, n);
    subtract(x, background_functions(*parts.front().record, first, n, harmonics), part.background);
    scale_rows(x, part.root.data());
    if (parts.size() == 1) return x;
    if (all.rows() == 0) all = TallMatrix(rows, n);
    copy_rows(x, all, part.first_row);
  }
  return all;
}

/// Sum of squares of what the modes leave of each variable: x - left a. Collective.
std::vector<double> left_of(const Comm& comm, const std::vector<Part>& parts, const TallMatrix& x,
                            const TallMatrix& left, const SmallMatrix& a) {
  std::vector<double> sums;
  for (const auto& part : parts) {
    double sum = 0;
    for (int p = part.first_row; p < part.first_row + part.record->n_mine(); ++p)
      for (int t = 0; t < x.columns(); ++t) {
        double rest = x.row(p)[t];
        for (int m = 0; m < a.rows; ++m) rest -= left.row(p)[m] * a.at(m, t);
        sum += rest * rest;
      }
    sums.push_back(sum);
  }
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  return sums;
}

/// Sum of squares of the fit's fields of each variable that the modes hold: sum_m s_m^2 |u_vm|^2, u_vm its
/// rows of the left vectors. Collective.
std::vector<double> captured_of(const Comm& comm, const std::vector<Part>& parts,
                                const SingularTriplets& triplets) {
  std::vector<double> sums;
  for (const auto& part : parts) {
    double sum = 0;
    for (int p = part.first_row; p < part.first_row + part.record->n_mine(); ++p)
      for (std::size_t m = 0; m < triplets.values.size(); ++m)
        sum += std::pow(triplets.values[m] * triplets.left.row(p)[m], 2);
    sums.push_back(sum);
  }
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  return sums;
}

/// Modes and background of a variable, on all ranks. Collective.
void take_fields(const Comm& comm, const Part& part, const TallMatrix& left, int n_modes, FieldModes& modes) {
  const auto& record = *part.record;
  std::vector<double> mine(record.n_mine());
  const auto gather = [&](auto value_of, std::vector<double>& to) {
    for (int p = 0; p < record.n_mine(); ++p) mine[p] = value_of(p);
    const auto all = comm.all_gather(std::span<const double>(mine));
    to.insert(to.end(), all.begin(), all.end());
  };
  for (int m = 0; m < n_modes; ++m)
    gather([&](int p) { return left.row(part.first_row + p)[m] / part.root[p]; }, modes.modes);
  gather([&](int p) { return part.background.at(0, p); }, modes.mean);
  for (int k = 1; k < part.background.rows; ++k)
    gather([&](int p) { return part.background.at(k, p); }, modes.cycle);
  modes.harmonics = (part.background.rows - 1) / 2;
  modes.weights = part.weights;
  modes.in_file = record.variable();
  modes.units = record.units();
  modes.anomalies = record.quantity() == FieldQuantity::anomaly;
  modes.latitude = record.grid().latitude, modes.longitude = record.grid().longitude;
  modes.mask = record.mask();
}

}  // namespace

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
  auto parts = parts_of(comm, records, options);
  auto x = fields_of_all(comm, records, options, parts, pod);
  const int rows = x.rows();
  double total = 0, n_points = 0;
  for (const auto& part : parts) total += part.total, n_points += part.record->n_points();
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

void check_variables(const JointRecords& records, const OceanModes& modes) {
  const auto variables = variables_of(modes);
  std::vector<std::string> given, wanted;
  for (std::size_t v = 1; v < records.size(); ++v) given.push_back(records[v].name);
  for (const auto& one : modes.also) wanted.push_back(one.name);
  QUINTET_CHECK(
      given == wanted,
      "fields.also: has the further variables [{}], the modes [{}]; give those that `podlstm fit` has "
      "read, in its order",
      fmt::join(given, ", "), fmt::join(wanted, ", "));
  for (std::size_t v = 0; v < records.size(); ++v) {
    const auto& record = *records[v].record;
    const auto& one = *variables[v];
    QUINTET_CHECK(same_grid({one.latitude, one.longitude}, record.grid()) && one.mask == record.mask(),
                  "{}are on a grid of {} x {} with {} sea points, the modes on {} x {} with {}; give the "
                  "record and the region that `podlstm fit` has read",
                  one.name.empty() ? "fields: " : told_by_name(one.name), record.grid().latitude.size(),
                  record.grid().longitude.size(), record.n_points(), one.latitude.size(),
                  one.longitude.size(), one.n_points());
    QUINTET_CHECK(
        record.units() == one.units && (record.quantity() == FieldQuantity::anomaly) == one.anomalies,
        "{}are in {}, the modes of {}, or anomalies where these are of temperatures; give the "
        "record that `podlstm fit` has read",
        one.name.empty() ? "fields: " : told_by_name(one.name), record.units(), one.units);
  }
}

std::vector<double> project(const Comm& comm, const JointRecords& records, const OceanModes& modes) {
  check_joint(records);
  check_variables(records, modes);
  const auto& days = records.front().record->days();
  const auto variables = variables_of(modes);
  const int n_modes = modes.n_modes(), n_times = days.size();
  for (const auto& one : records)
    QUINTET_CHECK(one.record->n_missing() == 0,
                  "{}{} missing, and gaps are filled where modes are fitted alone: fit them anew "
                  "with the new times, or incomplete_points: drop",
                  one.name.empty() ? "fields: " : told_by_name(one.name),
                  counted(one.record->n_missing(), "value is", "values are"));
  std::vector<double> values;
  for (int first = 0; first < n_times; first += times_later) {
    const int n = std::min(times_later, n_times - first);
    std::vector<double> sums(std::int64_t{n} * n_modes, 0.0);
    const std::vector<double> none(n_modes, 0.0);
    for (std::size_t v = 0; v < records.size(); ++v) {
      const auto& record = *records[v].record;
      const auto& one = *variables[v];
      const int first_mine = record.first_point(comm.rank());
      const std::size_t points = one.n_points();
      const auto fields = record.read(first, n);
      for (int t = 0; t < n; ++t) {
        const auto background = expand(one, days[first + t], none.data());
        for (int m = 0; m < n_modes; ++m)
          for (int p = 0; p < record.n_mine(); ++p) {
            const std::size_t x = static_cast<std::size_t>(first_mine) + p;
            sums[std::int64_t{t} * n_modes + m] +=
                one.weights[x] * one.modes[m * points + x] * (fields.row(p)[t] - background[x]);
          }
      }
    }
    comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
    values.insert(values.end(), sums.begin(), sums.end());
  }
  return values;
}

}  // namespace quintet::ocean
