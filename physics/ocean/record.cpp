#include "physics/ocean/record.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/sources/joined_source.hpp"

namespace quintet::ocean {
namespace {

constexpr double gap = 1.5;      ///< steps, in units of the usual one, from which a time is missing
constexpr double unlike = 0.15;  ///< share by which months differ

}  // namespace

Record::Record(const Comm& comm, std::unique_ptr<FieldSource> source, const std::optional<MaskFile>& mask,
               const RecordOptions& options)
    : comm_(std::make_shared<const Comm>(comm)),
      rank_(comm.rank()),
      source_(std::move(source)),
      notes_(source_->notes) {
  const auto& full = source_->grid;
  QUINTET_CHECK(!mask || same_grid(mask->grid, full),
                "{}.mask: is on another grid ({} x {} points) than {} ({} x {})", source_->section,
                mask ? mask->grid.latitude.size() : 0, mask ? mask->grid.longitude.size() : 0,
                source_->place(0), full.latitude.size(), full.longitude.size());
  select_times(options);
  check_steps(options.keep_gaps);
  part_ = part_of(full, options.region);
  for (const std::size_t i : part_.rows) grid_.latitude.push_back(full.latitude[i]);
  for (const std::size_t j : part_.columns) grid_.longitude.push_back(full.longitude[j]);
  scan(mask, options);
}

// A gap in time would shift all that follows: it is refused unless it is asked for.
void Record::select_times(const RecordOptions& options) {
  const auto& all = source_->days;
  for (std::size_t t = 0; t < all.size(); ++t) {
    if ((options.from && all[t] < *options.from) || (options.to && all[t] > *options.to)) continue;
    if (days_.empty()) first_time_ = t;
    days_.push_back(all[t]);
  }
  QUINTET_CHECK(days_.size() >= 2, "there are {} times{}; expected two at least", days_.size(),
                options.from || options.to ? " between fields.from and fields.to" : "");
}

void Record::check_steps(bool keep_gaps) {
  const double usual = usual_step(days_);
  std::vector<std::string> gaps, odd;
  for (std::size_t t = 1; t < days_.size(); ++t) {
    const double step = days_[t] - days_[t - 1];
    const auto text = fmt::format("{} to {}", date_text(days_[t - 1]), date_text(days_[t]));
    if (step > gap * usual)
      gaps.push_back(text);
    else if (std::abs(step - usual) > unlike * usual)
      odd.push_back(fmt::format("{:g} days from {}", step, text));
  }
  QUINTET_CHECK(gaps.empty() || keep_gaps,
                "times are missing between steps of {:g} days: {}; choose fields.from and fields.to around "
                "them, or fields.gaps: keep",
                usual, some_of(gaps));
  if (!gaps.empty())
    notes_.push_back(fmt::format("times are missing between steps of {:g} days: {}", usual, some_of(gaps)));
  if (!odd.empty())
    notes_.push_back(fmt::format("steps between times are {:g} days, but {}", usual, some_of(odd)));
}

std::vector<double> Record::fields(int first, int n) const {
  if (n == 0) return {};
  auto read = source_->read(first_time_ + first, n);
  const auto n_lon = source_->grid.longitude.size(), n_full = source_->grid.size();
  if (grid_.size() == n_full) return read;
  std::vector<double> values;
  values.reserve(n * grid_.size());
  for (int k = 0; k < n; ++k)
    for (const std::size_t i : part_.rows)
      for (const std::size_t j : part_.columns) values.push_back(read[k * n_full + i * n_lon + j]);
  return values;
}

double Record::bytes_of_reading() const {
  return source_->bytes_of_reading() +
         8.0 * 2 * times_together * std::max(source_->grid.size(), grid_.size());
}

std::string Record::place_of(std::size_t cell) const {
  return place_text(grid_.latitude[cell / grid_.longitude.size()],
                    grid_.longitude[cell % grid_.longitude.size()]);
}

int Record::first_point(int rank) const { return std::int64_t{n_points()} * rank / comm_->size(); }

double Record::latitude_of(int point) const { return grid_.latitude[cells_[point] / grid_.longitude.size()]; }

TallMatrix Record::read(int first, int n) const {
  TallMatrix result(n_mine(), n);
  const int n_ranks = comm_->size();
  for (int batch = 0; batch < n; batch += times_together * n_ranks) {
    const int last = std::min(n, batch + times_together * n_ranks),
              share = (last - batch + n_ranks - 1) / n_ranks;
    const auto begin_of = [&](int rank) { return std::min(last, batch + share * rank); };
    const int begin = begin_of(rank_), mine = begin_of(rank_ + 1) - begin;
    std::vector<std::vector<double>> send(n_ranks);
    together(*comm_, [&] {
      const auto values = fields(first + begin, mine);
      for (int rank = 0; rank < n_ranks; ++rank)
        for (int p = first_point(rank); p < first_point(rank + 1); ++p)
          for (int k = 0; k < mine; ++k) send[rank].push_back(values[k * grid_.size() + cells_[p]]);
    });
    const auto received = n_ranks == 1 ? std::move(send) : comm_->all_to_all(send);
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
