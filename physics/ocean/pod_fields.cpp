#include "physics/ocean/pod_fields.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/gaps/dineof.hpp"
#include "physics/ocean/gaps/known_values.hpp"
#include "physics/ocean/svd/background.hpp"

namespace quintet::ocean {
namespace {

constexpr double least_weight = 1e-3;
constexpr double round_off = 1e-13;  ///< of a value, as a share of it

std::vector<double> weights_of(const Record& record, PodWeights weights) {
  std::vector<double> values;
  for (int p = 0; p < record.n_points(); ++p)
    values.push_back(weights == PodWeights::points
                         ? 1.0
                         : std::max(std::cos(record.latitude_of(p) * std::numbers::pi / 180), least_weight));
  return values;
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

void copy_rows(const TallMatrix& from, TallMatrix& to, int first_row) {
  for (int p = 0; p < from.rows(); ++p) std::copy_n(from.row(p), from.columns(), to.row(first_row + p));
}

/// The rows of a variable, and back: of one that is alone no copy is made.
TallMatrix take_rows(TallMatrix& all, const std::vector<PodVariable>& parts, const PodVariable& part) {
  if (parts.size() == 1) return std::move(all);
  TallMatrix x(part.record->n_mine(), all.columns());
  for (int p = 0; p < x.rows(); ++p) std::copy_n(all.row(part.first_row + p), x.columns(), x.row(p));
  return x;
}
void give_rows(TallMatrix&& x, TallMatrix& all, const std::vector<PodVariable>& parts,
               const PodVariable& part) {
  if (parts.size() == 1)
    all = std::move(x);
  else
    copy_rows(x, all, part.first_row);
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
GapFilling fill_fit(const Comm& comm, const JointRecords& records, const std::vector<PodVariable>& parts,
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
  auto filling = fill_by_dineof(comm, all, roots, points, {days.data(), days.data() + all.columns()},
                                options.filling, options.interrupt);
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
                      const SmallMatrix& functions, double total_of_first, TallMatrix& x, PodVariable& part) {
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

}  // namespace

TimeSpan background_times(const Record& record, const PodOptions& options) {
  if (!options.background_years) return {0, options.n_fit};
  const auto& days = record.days();
  const auto end = days.begin() + options.n_fit;
  const auto number = [&](int year) {
    return static_cast<int>(std::lower_bound(days.begin(), end, day_of({year, 1, 1})) - days.begin());
  };
  return {number(options.background_years->first), number(options.background_years->last + 1)};
}

int harmonics_of(const PodOptions& options) {
  return options.background == PodBackground::climatology ? options.harmonics : 0;
}

std::vector<PodVariable> pod_variables(const Comm& comm, const JointRecords& records,
                                       const PodOptions& options) {
  std::vector<PodVariable> parts;
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

TallMatrix fit_fields(const Comm& comm, const JointRecords& records, const PodOptions& options,
                      std::vector<PodVariable>& parts, Pod& pod) {
  const auto functions =
      background_functions(*records.front().record, 0, options.n_fit, harmonics_of(options));
  TallMatrix all;
  if (parts.size() > 1)
    all = TallMatrix(parts.back().first_row + parts.back().record->n_mine(), options.n_fit);
  for (const auto& part : parts) {
    give_up_if_asked(comm, options.interrupt);
    give_rows(part.record->read(0, options.n_fit), all, parts, part);
  }
  if (has_gaps(comm, records, all)) pod.filling = fill_fit(comm, records, parts, all, functions, options);
  for (std::size_t v = 0; v < records.size(); ++v) {
    auto x = take_rows(all, parts, parts[v]);
    about_background(comm, records[v], options, functions, parts.front().total, x, parts[v]);
    give_rows(std::move(x), all, parts, parts[v]);
  }
  return all;
}

TallMatrix later_fields(const std::vector<PodVariable>& parts, int first, int n, int harmonics, int rows) {
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

std::vector<double> left_of(const Comm& comm, const std::vector<PodVariable>& parts, const TallMatrix& x,
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

std::vector<double> captured_of(const Comm& comm, const std::vector<PodVariable>& parts,
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

void take_fields(const Comm& comm, const PodVariable& part, const TallMatrix& left, int n_modes,
                 FieldModes& modes) {
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

}  // namespace quintet::ocean
