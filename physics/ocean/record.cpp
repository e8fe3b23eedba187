#include "physics/ocean/record.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/calendar.hpp"
#include "physics/ocean/time_axis.hpp"

namespace quintet::ocean {
namespace {

constexpr double gap = 1.5;      ///< steps, in units of the usual one, from which a time is missing
constexpr double unlike = 0.15;  ///< share by which months differ

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double turned(double longitude) { return longitude - 360 * std::floor(longitude / 360); }

}  // namespace

Record::Record(const Comm& comm, std::vector<std::unique_ptr<FieldSource>> sources,
               const std::optional<MaskFile>& mask, const RecordOptions& options)
    : comm_(comm), sources_(std::move(sources)) {
  QUINTET_CHECK(!sources_.empty(), "a record needs at least one file");
  compare_sources();
  const auto& first = *sources_.front();
  QUINTET_CHECK(!mask || same_grid(mask->grid, first.grid),
                "the mask is on another grid ({} x {} points) than {} ({} x {})",
                mask ? mask->grid.latitude.size() : 0, mask ? mask->grid.longitude.size() : 0, first.name,
                first.grid.latitude.size(), first.grid.longitude.size());
  join_times(options);
  select_region(options);
  scan(mask, options);
}

void Record::compare_sources() {
  const auto& first = *sources_.front();
  std::vector<std::pair<std::string, std::vector<std::string>>> readings;  // and the files that they are of
  for (const auto& source : sources_) {
    QUINTET_CHECK(same_grid(source->grid, first.grid),
                  "{}: is on another grid ({} x {} points) than {} ({} x {})", source->name,
                  source->grid.latitude.size(), source->grid.longitude.size(), first.name,
                  first.grid.latitude.size(), first.grid.longitude.size());
    QUINTET_CHECK(source->units == first.units, "{}: is in {}, {} in {}", source->name, source->units,
                  first.name, first.units);
    const bool anomalies = source->quantity == FieldQuantity::anomaly;
    QUINTET_CHECK(source->quantity == first.quantity,
                  "{}: holds {}, {} holds {}; if that is not so, say what all are: fields.quantity",
                  source->name, anomalies ? "anomalies" : "temperatures", first.name,
                  anomalies ? "temperatures" : "anomalies");
    if (source != sources_.front()) source->grid = {};  // thousands of files share one
    if (source->reading.empty()) continue;
    const auto text = source->reading.text();
    const auto known =
        std::find_if(readings.begin(), readings.end(), [&](const auto& one) { return one.first == text; });
    auto& files = known != readings.end() ? known->second : readings.emplace_back(text, 0).second;
    files.push_back(std::filesystem::path(source->name).filename().string());
  }
  for (const auto& [text, files] : readings)
    notes_.push_back(files.size() == 1
                         ? fmt::format("{}: {}", files[0], text)
                         : fmt::format("{} and {} more files: {}", files[0], files.size() - 1, text));
}

// Files follow each other in time; a day that comes twice is refused, a gap too unless it is asked for:
// either would shift all that follows.
void Record::join_times(const RecordOptions& options) {
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const auto& days = sources_[s]->days;
    QUINTET_CHECK(!days.empty(), "{}: has no times", sources_[s]->name);
    if (s > 0) {
      const double before = sources_[s - 1]->days.back();
      QUINTET_CHECK(days.front() > before,
                    "{}: begins on {}, but {} before it ends on {}: files must follow each other in time",
                    sources_[s]->name, date_text(days.front()), sources_[s - 1]->name, date_text(before));
    }
    for (std::size_t t = 0; t < days.size(); ++t) {
      if ((options.from && days[t] < *options.from) || (options.to && days[t] > *options.to)) continue;
      days_.push_back(days[t]);
      places_.push_back({static_cast<int>(s), static_cast<int>(t)});
    }
  }
  QUINTET_CHECK(days_.size() >= 2, "there are {} times{}; expected two at least", days_.size(),
                options.from || options.to ? " between fields.from and fields.to" : "");
  std::vector<double> steps;
  for (std::size_t t = 1; t < days_.size(); ++t) steps.push_back(days_[t] - days_[t - 1]);
  const double usual = median(steps);
  for (std::size_t t = 1; t < days_.size(); ++t)
    QUINTET_CHECK(steps[t - 1] > twice_below * usual, "{}: {} comes twice, in {} and {:.1g} days later in {}",
                  sources_[places_[t].source]->name, date_text(days_[t]),
                  sources_[places_[t - 1].source]->name, steps[t - 1], sources_[places_[t].source]->name);
  std::vector<std::string> gaps, odd;
  for (std::size_t t = 1; t < days_.size(); ++t) {
    const double step = steps[t - 1];
    const auto text = fmt::format("{} to {}", date_text(days_[t - 1]), date_text(days_[t]));
    if (step > gap * usual)
      gaps.push_back(text);
    else if (std::abs(step - usual) > unlike * usual)
      odd.push_back(fmt::format("{:g} days from {}", step, text));
  }
  const auto list = [](std::vector<std::string> texts) {
    const std::size_t n = texts.size();
    if (n > 3) texts.resize(3);
    return fmt::format("{}{}", fmt::join(texts, ", "), n > 3 ? fmt::format(" and {} more", n - 3) : "");
  };
  QUINTET_CHECK(gaps.empty() || options.keep_gaps,
                "times are missing between steps of {:g} days: {}; choose fields.from and fields.to around "
                "them, or fields.gaps: keep",
                usual, list(gaps));
  if (!gaps.empty())
    notes_.push_back(fmt::format("times are missing between steps of {:g} days: {}", usual, list(gaps)));
  if (!odd.empty())
    notes_.push_back(fmt::format("steps between times are {:g} days, but {}", usual, list(odd)));
}

void Record::select_region(const RecordOptions& options) {
  const auto& full = sources_.front()->grid;
  for (std::size_t i = 0; i < full.latitude.size(); ++i)
    if (full.latitude[i] >= options.south && full.latitude[i] <= options.north) rows_.push_back(i);
  for (std::size_t j = 0; j < full.longitude.size(); ++j) {
    bool inside = true;
    if (options.west && options.east) {
      const double x = full.longitude[j], span = *options.east - *options.west;
      inside = span >= 360 || turned(x - *options.west) <= turned(span);
    }
    if (inside) columns_.push_back(j);
  }
  QUINTET_CHECK(!rows_.empty() && !columns_.empty(),
                "fields.region: holds {} latitudes and {} longitudes of the grid", rows_.size(),
                columns_.size());
  for (const std::size_t i : rows_) grid_.latitude.push_back(full.latitude[i]);
  for (const std::size_t j : columns_) grid_.longitude.push_back(full.longitude[j]);
}

std::vector<double> Record::fields(int first, int n) const {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(n) * grid_.size());
  const auto n_lon = sources_.front()->grid.longitude.size(), n_full = sources_.front()->grid.size();
  for (int t = first; t < first + n;) {
    const Place begin = places_[t];
    int some = 1;  // that follow each other in one source
    while (t + some < first + n && places_[t + some].source == begin.source) ++some;
    close_others(begin.source);
    const auto read = sources_[begin.source]->read(begin.time, some);
    for (int k = 0; k < some; ++k)
      for (const std::size_t i : rows_)
        for (const std::size_t j : columns_)
          values.push_back(read[static_cast<std::size_t>(k) * n_full + i * n_lon + j]);
    t += some;
  }
  return values;
}

void Record::close_others(int source) const {
  if (open_ >= 0 && open_ != source) sources_[open_]->close();
  open_ = source;
}

std::string Record::place_of(std::size_t cell) const {
  return place_text(grid_.latitude[cell / grid_.longitude.size()],
                    grid_.longitude[cell % grid_.longitude.size()]);
}

int Record::first_point(int rank) const {
  return static_cast<int>(std::int64_t{n_points()} * rank / comm_.size());
}

double Record::latitude_of(int point) const { return grid_.latitude[cells_[point] / grid_.longitude.size()]; }

std::string Record::source_names() const {
  constexpr std::size_t most_names = 8;
  const auto name = [](const auto& source) {
    return std::filesystem::path(source->name).filename().string();
  };
  if (sources_.size() > most_names)
    return fmt::format("{} to {} ({} files)", name(sources_.front()), name(sources_.back()), sources_.size());
  std::string names;
  for (const auto& source : sources_) names += (names.empty() ? "" : ", ") + name(source);
  return names;
}

TallMatrix Record::read(int first, int n) const {
  TallMatrix result(n_mine(), n);
  const int n_ranks = comm_.size();
  for (int batch = 0; batch < n; batch += times_together * n_ranks) {
    const int last = std::min(n, batch + times_together * n_ranks),
              share = (last - batch + n_ranks - 1) / n_ranks;
    const auto begin_of = [&](int rank) { return std::min(last, batch + share * rank); };
    const int begin = begin_of(comm_.rank()), mine = begin_of(comm_.rank() + 1) - begin;
    std::vector<std::vector<double>> send(static_cast<std::size_t>(n_ranks));
    together(comm_, [&] {
      const auto values = fields(first + begin, mine);
      for (int rank = 0; rank < n_ranks; ++rank)
        for (int p = first_point(rank); p < first_point(rank + 1); ++p)
          for (int k = 0; k < mine; ++k)
            send[rank].push_back(values[static_cast<std::size_t>(k) * grid_.size() + cells_[p]]);
    });
    const auto received = n_ranks == 1 ? std::move(send) : comm_.all_to_all(send);
    for (int rank = 0; rank < n_ranks; ++rank) {
      const int from = begin_of(rank), some = begin_of(rank + 1) - from;
      const double* values = received[rank].data();
      for (int p = 0; p < n_mine(); ++p)
        for (int k = 0; k < some; ++k) result.row(p)[from + k] = *values++;
    }
  }
  return result;
}

}  // namespace quintet::ocean
