#include "physics/ocean/sources/joined_source.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/kernels/rows.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/coordinates/time_axis.hpp"

namespace quintet::ocean {
namespace {

std::string names_of(const std::vector<std::unique_ptr<FieldSource>>& sources) {
  constexpr std::size_t most_names = 8;
  if (sources.size() > most_names)
    return fmt::format("{} to {} ({} files)", file_name(sources.front()->name),
                       file_name(sources.back()->name), sources.size());
  std::string names;
  for (const auto& source : sources) names += (names.empty() ? "" : ", ") + file_name(source->name);
  return names;
}

class JoinedSource : public FieldSource {
 public:
  explicit JoinedSource(std::vector<std::unique_ptr<FieldSource>> sources) : sources_(std::move(sources)) {
    QUINTET_CHECK(!sources_.empty(), "a record needs at least one file");
    const auto& first = *sources_.front();
    grid = first.grid, variable = first.variable;
    calendar = first.calendar, units = first.units, quantity = first.quantity;
    from_kelvin = first.from_kelvin, section = first.section;
    name = names_of(sources_);
    compare();
    take_notes();
    join_times();
  }

  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    return n > 1 && times_at_once() > 1 ? read_at_once(first, n) : read_in_turn(first, n);
  }
  void close() const override {
    if (open_ < sources_.size()) sources_[open_]->close();
    open_ = sources_.size();
  }
  [[nodiscard]] std::string place(int time) const override {
    const auto s = source_at(time);
    return sources_[s]->place(time - starts_[s]);
  }
  [[nodiscard]] std::optional<std::uint64_t> stamp(int time) const override {
    const auto s = source_at(time);
    return sources_[s]->stamp(time - starts_[s]);
  }
  [[nodiscard]] double bytes_of_reading() const override {
    return times_at_once() * (sources_.front()->bytes_of_reading() + 8.0 * grid.size());
  }

 private:
  /// Each thread reads a time; what can only be read by one of them follows.
  [[nodiscard]] std::vector<double> read_at_once(int first, int n) const {
    const std::size_t size = grid.size();
    std::vector<double> values(n * size);
    std::vector<std::uint8_t> done(n);
    each_at_once(n, [&](int k) {
      const auto s = source_at(first + k);
      const auto one = sources_[s]->read_apart(first + k - starts_[s], 1);
      if (!one) return;
      std::copy(one->begin(), one->end(), values.begin() + k * size);
      done[k] = 1;
    });
    for (int k = 0; k < n; ++k) {
      if (done[k] != 0) continue;
      const auto one = read_in_turn(first + k, 1);
      std::copy(one.begin(), one.end(), values.begin() + k * size);
    }
    return values;
  }

  [[nodiscard]] std::vector<double> read_in_turn(int first, int n) const {
    std::vector<double> values;
    for (int t = first; t < first + n;) {
      const auto s = source_at(t);
      const int begin = t - starts_[s];
      const int some = std::min(first + n - t, static_cast<int>(sources_[s]->days.size()) - begin);
      if (open_ != s && open_ < sources_.size()) sources_[open_]->close();
      open_ = s;
      auto part = sources_[s]->read(begin, some);
      if (some == n) return part;
      values.insert(values.end(), part.begin(), part.end());
      t += some;
    }
    return values;
  }

  [[nodiscard]] std::size_t source_at(int time) const {
    return static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), time) -
                                    starts_.begin()) -
           1;
  }

  void compare() {
    const auto& first = *sources_.front();
    for (const auto& source : sources_) {
      // Files that were compared when they were looked at have left their grid there.
      QUINTET_CHECK(source->grid.size() == 0 || same_grid(source->grid, grid),
                    "{}: is on another grid ({} x {} points) than {} ({} x {})", source->name,
                    source->grid.latitude.size(), source->grid.longitude.size(), first.name,
                    grid.latitude.size(), grid.longitude.size());
      QUINTET_CHECK(source->units == units, "{}: is in {}, {} in {}", source->name, source->units, first.name,
                    units);
      const bool anomalies = source->quantity == FieldQuantity::anomaly;
      QUINTET_CHECK(source->quantity == quantity,
                    "{}: holds {}, {} holds {}; if that is not so, say what all are: {}.quantity",
                    source->name, anomalies ? "anomalies" : "temperatures", first.name,
                    anomalies ? "temperatures" : "anomalies", section);
      QUINTET_CHECK(source->calendar == calendar,
                    "{}: counts its times in the calendar {}, {} in {}: files of a record have one calendar",
                    source->name, source->calendar, first.name, calendar);
    }
  }

  void take_notes() {
    std::vector<std::pair<std::string, std::vector<std::string>>> readings;  // and the files that they are of
    for (const auto& source : sources_) {
      notes.insert(notes.end(), source->notes.begin(), source->notes.end());
      if (!source->reading.empty()) {
        const auto text = source->reading.text();
        const auto known = std::find_if(readings.begin(), readings.end(),
                                        [&](const auto& one) { return one.first == text; });
        auto& files = known != readings.end() ? known->second : readings.emplace_back(text, 0).second;
        files.push_back(file_name(source->name));
      }
      if (source != sources_.front())
        source->grid = {}, source->reading = {};  // thousands of files share one
    }
    for (const auto& [text, files] : readings)
      notes.push_back(files.size() == 1
                          ? fmt::format("{}: {}", files[0], text)
                          : fmt::format("{} and {} more files: {}", files[0], files.size() - 1, text));
  }

  void join_times() {
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const auto& own = sources_[s]->days;
      QUINTET_CHECK(!own.empty(), "{}: has no times", sources_[s]->name);
      QUINTET_CHECK(days.empty() || own.front() > days.back(),
                    "{}: begins on {}, but {} before it ends on {}: files must follow each other in time",
                    sources_[s]->name, date_text(own.front()),
                    sources_[std::max<std::size_t>(s, 1) - 1]->name,
                    date_text(days.empty() ? own.front() : days.back()));
      starts_.push_back(days.size());
      days.insert(days.end(), own.begin(), own.end());
    }
    const double usual = usual_step(days);
    for (std::size_t t = 1; t < days.size(); ++t) {
      const double step = days[t] - days[t - 1];
      if (step > twice_below * usual) continue;
      const auto now = place(t), before = place(static_cast<int>(t) - 1);
      throw InputError(fmt::format("{}: {} comes twice, in {} and {:.1g} days later in {}", now,
                                   date_text(days[t]), before, step, now));
    }
  }

  std::vector<std::unique_ptr<FieldSource>> sources_;
  std::vector<int> starts_;                     ///< number of each source's first time
  mutable std::size_t open_ = ~std::size_t{0};  ///< the source that is open
};

}  // namespace

int times_at_once() { return Exec().concurrency(); }

void each_at_once(int n, const std::function<void(int)>& action) {
  std::vector<std::exception_ptr> errors(n);
  const auto one = [&](int k) {
    try {
      action(k);
    } catch (...) {
      errors[k] = std::current_exception();
    }
  };
  for_rows(Exec(), "ocean: times at once", n, one);
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

double usual_step(const std::vector<double>& days) {
  std::vector<double> steps;
  for (std::size_t t = 1; t < days.size(); ++t) steps.push_back(days[t] - days[t - 1]);
  if (steps.empty()) return 0;
  const auto middle = steps.begin() + steps.size() / 2;
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

std::string some_of(std::vector<std::string> texts) {
  constexpr std::size_t most = 3;
  const std::size_t n = texts.size();
  if (n > most) texts.resize(most);
  return fmt::format("{}{}", fmt::join(texts, ", "), n > most ? fmt::format(" and {} more", n - most) : "");
}

std::unique_ptr<FieldSource> joined(std::vector<std::unique_ptr<FieldSource>> sources) {
  return std::make_unique<JoinedSource>(std::move(sources));
}

}  // namespace quintet::ocean
