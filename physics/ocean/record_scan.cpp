#include <algorithm>
#include <cmath>
#include <limits>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/record.hpp"

// Each value of a record is looked at before anything is computed.

namespace quintet::ocean {
namespace {

constexpr double coldest = -20, warmest = 70;  ///< degC: beyond, units are wrong
/// From which on no point of a sea keeps its value by the rounding of packed numbers alone.
constexpr int least_times_of_constants = 5;

/// Times without a value that a point may have which is kept.
double most_missing(const RecordOptions& options, int n_times) {
  const bool fill = options.incomplete_points == IncompletePoints::dineof;
  return fill ? (1 - options.least_values) * n_times : 0;
}

/// Whether one value at all times is what analyses write for sea under ice: the freezing point of sea water,
/// where there is ice in winter (ERSST and OISST: -1.8 degC).
bool is_under_ice(double celsius, double latitude) {
  constexpr double freezing = -1.8, rounding = 0.05;  // degC; stored numbers have steps of up to 0.1
  constexpr double southernmost_ice = 50;             // degrees north or south
  return std::abs(celsius - freezing) <= rounding * (1 + 1e-9) && std::abs(latitude) >= southernmost_ice;
}

}  // namespace

void Record::judge_constant(std::vector<std::uint8_t> constant, const std::vector<double>& value,
                            std::vector<std::uint8_t>& candidate, bool has_mask,
                            const RecordOptions& options) {
  const bool is_temperature = units() == "degree_Celsius" && quantity() == FieldQuantity::temperature;
  if (is_temperature && !has_mask && options.constant_points == ConstantPoints::refuse)
    know_ice(constant, value);
  const auto n = std::count(constant.begin(), constant.end(), 1);
  if (n == 0) return;
  const std::size_t first = std::find(constant.begin(), constant.end(), 1) - constant.begin();
  std::ptrdiff_t n_alike = 0;
  for (std::size_t cell = first; cell < constant.size(); ++cell)
    if (constant[cell] == 1 && value[cell] == value[first]) ++n_alike;
  const bool fill = options.incomplete_points == IncompletePoints::dineof;
  const auto text = fmt::format(
      "{} points never vary: {} of them are {:.6g} at all {}, the first is {}", n, n_alike, value[first],
      fill ? "times with a value" : fmt::format("{} times", n_times()), place_of(first));
  const bool refused = options.constant_points == ConstantPoints::refuse && !has_mask;
  QUINTET_CHECK(!refused,
                "{0}; say what they are: {1}.constant_points: land or sea, a number that marks land: "
                "{1}.missing: [{2:.6g}], or give {1}.mask",
                text, source_->section, value[first] + (source_->from_kelvin ? celsius_zero : 0));
  const bool land = options.constant_points == ConstantPoints::land;
  const auto key = fmt::format("({}.constant_points)", source_->section);
  notes_.push_back(fmt::format("{}; they are {}", text,
                               land       ? "left out as land " + key
                               : has_mask ? "kept as sea, as the mask says"
                                          : "kept as sea " + key));
  if (land)
    for (std::size_t cell = 0; cell < constant.size(); ++cell)
      if (constant[cell] == 1) candidate[cell] = 0;
}

void Record::know_ice(std::vector<std::uint8_t>& constant, const std::vector<double>& value) {
  std::int64_t n_ice = 0;
  std::size_t first = 0;
  for (std::size_t cell = 0; cell < constant.size(); ++cell) {
    if (constant[cell] == 0 || !is_under_ice(value[cell], grid_.latitude[cell / part_.columns.size()]))
      continue;
    constant[cell] = 0;
    if (n_ice++ == 0) first = cell;
  }
  if (n_ice > 0)
    notes_.push_back(fmt::format(
        "{} points are {:.6g} degrees Celsius at all {} times, the first is {}: kept as sea under "
        "ice ({}.constant_points: land leaves them out)",
        n_ice, value[first], n_times(), place_of(first), source_->section));
}

// Complete points are sea. Of the others the user says what they are; what never has a value is land, where
// no mask says otherwise.
void Record::choose_points(const std::vector<std::uint8_t>& candidate, const std::vector<int>& missing,
                           bool has_mask, const RecordOptions& options) {
  const bool fill = options.incomplete_points == IncompletePoints::dineof;
  const double most = most_missing(options, n_times());
  std::int64_t n_partly = 0, n_kept = 0;
  std::size_t example = 0;
  mask_.assign(candidate.size(), 0);
  for (std::size_t cell = 0; cell < candidate.size(); ++cell) {
    const bool land = candidate[cell] == 0 || (!has_mask && missing[cell] == n_times());
    if (land) continue;
    if (missing[cell] <= most) {
      mask_[cell] = 1;
      cells_.push_back(cell);
      n_missing_ += missing[cell];
      if (missing[cell] > 0) ++n_kept;
    } else if (n_partly++ == 0) {
      example = cell;
    }
  }
  const auto partly =
      fmt::format("{} sea points have no value at {} times; the first is {}, at {} of {} times", n_partly,
                  fill ? "most" : "some", place_of(example), missing[example], n_times());
  QUINTET_CHECK(n_partly == 0 || options.incomplete_points != IncompletePoints::refuse,
                "{}; give a mask, or {}.incomplete_points: drop or dineof", partly, source_->section);
  if (n_partly > 0) notes_.push_back(partly + "; they are left out");
  if (n_kept > 0)
    notes_.push_back(
        fmt::format("{} sea points have no value at some times: {} values, {:.2g} % of all, are "
                    "filled by the modes ({}.incomplete_points: dineof)",
                    n_kept, n_missing_, cells_.empty() ? 0 : 100 * share_missing(), source_->section));
}

// One pass over the record finds the sea: cells with values at all times, times with values at all; ranks
// share the times.
void Record::scan(const std::optional<MaskFile>& mask, const RecordOptions& options) {
  const std::size_t n_cells = grid_.size(), n_lon = source_->grid.longitude.size();
  std::vector<std::uint8_t> candidate(n_cells, 1);
  if (mask) {
    std::size_t k = 0;
    for (const std::size_t i : part_.rows)
      for (const std::size_t j : part_.columns) candidate[k++] = mask->sea[i * n_lon + j];
  }
  const auto n_candidates = std::count(candidate.begin(), candidate.end(), 1);
  QUINTET_CHECK(n_candidates > 0, "there is no sea in the region: the mask is land everywhere in it");
  const auto where = [&](int t, std::size_t cell) {
    return fmt::format("{}: {} at {}", source_->place(first_time_ + t), date_text(days_[t]), place_of(cell));
  };
  const bool is_temperature = units() == "degree_Celsius";
  const bool from_kelvin = source_->from_kelvin;
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> least(n_cells, infinite), most(n_cells, -infinite);
  std::vector<int> missing(n_cells), empty(n_times());
  const int share = (n_times() + comm_->size() - 1) / comm_->size(),
            begin = std::min(n_times(), share * rank_), end = std::min(n_times(), begin + share);
  together(*comm_, [&] {
    for (int t = begin; t < end; t += times_together) {
      const int n = std::min(times_together, end - t);
      const auto values = fields(t, n);
      for (int k = 0; k < n; ++k) {
        std::int64_t n_missing = 0;
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
          if (candidate[cell] == 0) continue;
          const double value = values[k * n_cells + cell];
          if (std::isnan(value)) {
            ++missing[cell], ++n_missing;
            continue;
          }
          QUINTET_CHECK(std::isfinite(value), "{}: the value is infinite", where(t + k, cell));
          const bool small = from_kelvin && std::abs(value + celsius_zero) <= warmest;
          QUINTET_CHECK(
              !is_temperature || (value >= coldest && value <= warmest), "{}: {:.6g} degrees Celsius: {}",
              where(t + k, cell), value,
              fmt::format("{}.units or a missing value are wrong", source_->section) +
                  (small
                       ? fmt::format("; if {0:.6g} K is an anomaly: {1}.quantity: anomaly; if it marks land: "
                                     "{1}.missing: [{0:.6g}]",
                                     value + celsius_zero, source_->section)
                       : ""));
          least[cell] = std::min(least[cell], value), most[cell] = std::max(most[cell], value);
        }
        if (n_missing == n_candidates) empty[t + k] = 1;
      }
    }
  });
  comm_->reduce(std::span<int>(missing), Comm::Reduction::sum);
  comm_->reduce(std::span<int>(empty), Comm::Reduction::sum);
  const auto n_empty = std::count(empty.begin(), empty.end(), 1);
  QUINTET_CHECK(n_empty < n_times(), "there is no sea: no point has a value at any time");
  const std::size_t first_empty = std::find(empty.begin(), empty.end(), 1) - empty.begin();
  QUINTET_CHECK(
      n_empty == 0,
      "{}: {} has no value at any sea point{}: leave it out of the file, or choose fields.from and fields.to",
      source_->place(first_time_ + static_cast<int>(std::min(first_empty, days_.size() - 1))),
      date_text(days_[std::min(first_empty, days_.size() - 1)]),
      n_empty > 1 ? fmt::format(", nor have {} other times", n_empty - 1) : "");
  comm_->reduce(std::span<double>(least), Comm::Reduction::minimum);
  comm_->reduce(std::span<double>(most), Comm::Reduction::maximum);
  // A point with gaps that are to be filled varies no more for them.
  std::vector<std::uint8_t> constant(n_cells);
  for (std::size_t cell = 0; cell < n_cells; ++cell)
    if (candidate[cell] == 1 && missing[cell] <= most_missing(options, n_times()) &&
        n_times() - missing[cell] >= least_times_of_constants && least[cell] == most[cell])
      constant[cell] = 1;
  if (n_times() >= least_times_of_constants)
    judge_constant(constant, least, candidate, mask.has_value(), options);
  choose_points(candidate, missing, mask.has_value(), options);
  QUINTET_CHECK(!cells_.empty(), "no sea point has values at all times");
  QUINTET_CHECK(n_points() >= comm_->size(), "{} ranks share {} sea points; start fewer", comm_->size(),
                n_points());
}

}  // namespace quintet::ocean
