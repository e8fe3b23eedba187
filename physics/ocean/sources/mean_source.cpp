#include "physics/ocean/sources/mean_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "io/config/table.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/sources/joined_source.hpp"

namespace quintet::ocean {
namespace {

class MeanSource : public FieldSource {
 public:
  MeanSource(std::unique_ptr<FieldSource> source, const MeanOptions& options)
      : FieldSource(static_cast<const FieldFacts&>(*source)),
        source_(std::move(source)),
        period_(row_of(mean_periods, options.period)) {
    notes = source_->notes;
    days.clear();
    QUINTET_ASSERT(period_.around != nullptr, "means over no period");
    QUINTET_CHECK(
        calendar == "standard" || calendar == "proleptic_gregorian" || calendar == "julian",
        "{0}.mean: {1}s of the calendar {2} are not ours; take the model's own means, with {0}.mean: none",
        section, period_.name, calendar);
    usual_ = usual_step(source_->days);
    QUINTET_CHECK(usual_ > 0 && 2 * usual_ <= period_.shortest,
                  "{}.mean: {} of times {:g} days apart: there is nothing to average; leave it out", section,
                  period_.name, usual_);
    find_groups(options);
  }

  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    std::vector<double> values;
    for (int k = first; k < first + n; ++k) {
      const auto& group = groups_[k];
      const std::size_t size = grid.size();
      std::vector<double> sum(size, -0.0);  // to which a first field adds nothing, not even a sign
      for (int begin = 0; begin < group.n; begin += times_at_once()) {
        const int some = std::min(times_at_once(), group.n - begin);
        const auto fields = source_->read(group.first + begin, some);
        for (int t = 0; t < some; ++t) {
          const double* field = fields.data() + t * size;
          for (std::size_t x = 0; x < size; ++x) sum[x] += field[x];
        }
      }
      for (double& value : sum) value /= group.n;
      if (n == 1) return sum;
      values.insert(values.end(), sum.begin(), sum.end());
    }
    return values;
  }
  void close() const override { source_->close(); }
  [[nodiscard]] std::string place(int time) const override { return source_->place(groups_[time].first); }
  [[nodiscard]] std::optional<std::uint64_t> stamp(int time) const override {
    const auto& group = groups_[time];
    std::vector<std::uint64_t> stamps;
    for (int t = group.first; t < group.first + group.n; ++t) {
      const auto one = source_->stamp(t);
      if (!one) return std::nullopt;
      stamps.push_back(*one);
    }
    return hdf5::xxh64(std::as_bytes(std::span(stamps)));
  }
  [[nodiscard]] double bytes_of_reading() const override {
    return source_->bytes_of_reading() + (1 + times_at_once()) * 8.0 * grid.size();
  }

 private:
  struct Group {
    int first, n;
  };

  /// Why a period lacks times; "" where it has them all.
  [[nodiscard]] std::string missing_in(const Group& group, const Period& period) const {
    const auto& all = source_->days;
    const std::size_t first = group.first, last = first + group.n - 1;
    // Times stand for steps from their beginnings or middles on.
    const bool begins = all[first] - period.begin <= 0.99 * usual_,
               ends = period.end - all[last] <= 1.01 * usual_;
    const auto text =
        fmt::format("the {} from {} has {} times", period_.name, date_text(period.begin), group.n);
    if (!begins) return fmt::format("{}, the first on {}", text, date_text(all[first]));
    for (std::size_t t = first + 1; t <= last; ++t)
      if (all[t] - all[t - 1] > 1.5 * usual_)
        return fmt::format("{}, none between {} and {}", text, date_text(all[t - 1]), date_text(all[t]));
    return ends ? "" : fmt::format("{}, the last on {}", text, date_text(all[last]));
  }

  // A period that lacks a time would have the mean of another one: it is left out at an end, else refused.
  void find_groups(const MeanOptions& options) {
    const auto& all = source_->days;
    std::vector<std::pair<Group, Period>> found;
    for (std::size_t t = 0; t < all.size(); ++t) {
      if ((options.from && all[t] < *options.from) || (options.to && all[t] > *options.to)) continue;
      if (found.empty() || all[t] >= found.back().second.end)
        found.push_back({{static_cast<int>(t), 0}, period_.around(all[t], options.week_begins)});
      ++found.back().first.n;
    }
    std::vector<std::string> left_out;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const auto& [group, period] = found[k];
      const auto missing = missing_in(group, period);
      if (missing.empty()) {
        days.push_back(period.begin);
        groups_.push_back(group);
        continue;
      }
      const bool at_an_end = k == 0 || k + 1 == found.size();
      QUINTET_CHECK(at_an_end || options.keep_gaps,
                    "{}.mean: {}, in {}; fields.gaps: keep leaves such {}s out", section, missing,
                    source_->place(group.first), period_.name);
      left_out.push_back(missing);
    }
    QUINTET_CHECK(!days.empty(), "{}.mean: no {} has all of its times: {}", section, period_.name,
                  left_out.empty() ? "there are none between fields.from and fields.to" : some_of(left_out));
    notes.push_back(fmt::format("means of {} {}s", days.size(), period_.name) +
                    (left_out.empty() ? std::string() : "; left out: " + some_of(left_out)));
  }

  std::unique_ptr<FieldSource> source_;
  const MeanPeriodRow& period_;
  double usual_ = 0;  ///< days
  std::vector<Group> groups_;
};

}  // namespace

Period week_around(double day, Weekday begins) {
  const double anchor = row_of(weekdays, begins).first, begin = anchor + 7 * std::floor((day - anchor) / 7);
  return {begin, begin + 7};
}

Period month_around(double day, Weekday /*begins*/) {
  const auto date = date_of(day);
  const bool last = date.month == 12;
  return {day_of({date.year, date.month, 1}),
          day_of({date.year + (last ? 1 : 0), last ? 1 : date.month + 1, 1})};
}

std::unique_ptr<FieldSource> means_of(std::unique_ptr<FieldSource> source, const MeanOptions& options) {
  return std::make_unique<MeanSource>(std::move(source), options);
}

}  // namespace quintet::ocean
