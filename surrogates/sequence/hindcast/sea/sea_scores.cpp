#include "surrogates/sequence/hindcast/sea/sea_scores.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/sequence/hindcast/sea/sea_lanes.hpp"

namespace quintet::sequence {

namespace {

constexpr std::size_t points_of_group = 1024;  ///< that one rank judges, and whose sums are added first

int blocks_of(int n_windows, int block) { return std::max(1, n_windows / block); }

/// RMSE of `against` minus that of a method at each lane, with the error by draws of blocks; NaN for fewer
/// than three. @param squares [blocks][lanes]; @param sizes [blocks] windows
void gains(const Bootstrap& draws, const std::vector<Lanes>& own, const std::vector<Lanes>& against,
           const std::vector<double>& sizes, Lanes& errors) {
  std::vector<double> values;
  for (std::size_t b = 0; b < own.size(); ++b) {
    values.insert(values.end(), own[b].begin(), own[b].end());
    values.insert(values.end(), against[b].begin(), against[b].end());
    values.push_back(sizes[b]);
  }
  constexpr int width = 2 * n_lanes + 1;
  const auto sums = draws.sums(values, width);
  for (int l = 0; l < n_lanes; ++l)
    errors[l] = draws
                    .estimate([&](int sample) {
                      const double* sum = sums.data() + std::int64_t{sample} * width;
                      const double n = sum[width - 1];
                      return std::sqrt(sum[n_lanes + l] / n) - std::sqrt(sum[l] / n);
                    })
                    .error;
}

}  // namespace

double SeaScores::bytes(double points, double methods, double leads, double times) {
  const double maps = static_cast<double>(sea_map_rows().size()) + 1;
  constexpr double quantiles = 3.0 * SeasonalQuantiles::phases;
  return 8 * (points * methods * leads * maps + n_lanes * (times + quantiles));
}

// Groups of points are shared out in turn. What a rank does not judge is zero there, so that sums over the
// ranks are exact; sums over the sea add the groups in their order.
SeaScores::SeaScores(const Comm& comm, const Hindcasts& hindcasts, const std::vector<SeaAtOrigin>& seas,
                     SeaScoreOptions options)
    : options_(std::move(options)),
      n_methods_(hindcasts.names.size()),
      n_windows_(judged_windows(hindcasts, options_.warm_up).size()),
      points_(options_.area.size()),
      bootstrap_(blocks_of(n_windows_, options_.block), 1, options_.draws) {
  const auto windows = judged_windows(hindcasts, options_.warm_up);
  const int n_blocks = blocks_of(n_windows_, options_.block);
  const std::size_t n_leads = options_.leads.size(), parts = std::int64_t{n_methods_} * n_leads;
  std::vector<double> sizes(n_blocks, 0.0);
  for (int i = 0; i < n_windows_; ++i) sizes[std::min(i / options_.block, n_blocks - 1)] += 1;
  maps_.assign(sea_map_rows().size() * parts * points_, 0.0);
  gain_error_.assign(parts * points_, 0.0);
  const std::size_t n_groups = (points_ + points_of_group - 1) / points_of_group,
                    width = parts * n_blocks * n_sea_sums;
  std::vector<double> groups(n_groups * width, 0.0);
  together(comm, [&] {
    for (const auto& sea : seas)
      if (sea.modes->n_points() != points_) throw InternalError("origins of other points than the sea's");
    SeaLanes lanes(hindcasts, seas, options_, windows, n_blocks);
    for (std::size_t group = comm.rank(); group < n_groups; group += comm.size()) {
      const auto end = std::min(points_, (group + 1) * points_of_group);
      for (std::size_t first = group * points_of_group; first < end; first += n_lanes) {
        give_up_if_asked(options_.interrupt);
        lanes.judge(first, groups.data() + group * width);
        keep(lanes, first, std::min(end, first + n_lanes), sizes);
      }
    }
  });
  comm.reduce(std::span<double>(maps_), Comm::Reduction::sum);
  comm.reduce(std::span<double>(gain_error_), Comm::Reduction::sum);
  comm.reduce(std::span<double>(groups), Comm::Reduction::sum);
  std::vector<double> total(width, 0.0);
  for (std::size_t group = 0; group < n_groups; ++group)
    for (std::size_t i = 0; i < width; ++i) total[i] += groups[group * width + i];
  const auto size = std::int64_t{n_blocks} * n_sea_sums;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto begin = total.begin() + part * size;
    const auto sums = bootstrap_.sums(std::vector<double>(begin, begin + size), n_sea_sums);
    sums_.insert(sums_.end(), sums.begin(), sums.end());
  }
}

void SeaScores::keep(const SeaLanes& lanes, std::size_t first, std::size_t end,
                     const std::vector<double>& sizes) {
  const auto rows = sea_map_rows();
  const std::size_t n_leads = options_.leads.size(), parts = std::int64_t{n_methods_} * n_leads;
  for (std::size_t part = 0; part < parts; ++part) {
    const int method = part / n_leads, i_lead = part % n_leads;
    Lanes errors;
    gains(bootstrap_, lanes.squares(method, i_lead), lanes.squares(options_.against, i_lead), sizes, errors);
    for (std::size_t x = first; x < end; ++x) {
      const int lane = x - first;
      const auto own = lanes.sums(method, i_lead, lane), other = lanes.sums(options_.against, i_lead, lane),
                 normal = lanes.sums(std::max(0, options_.climatology), i_lead, lane);
      const PointSums sums{own.data(), options_.climatology < 0 ? nullptr : normal.data(), other.data()};
      for (std::size_t row = 0; row < rows.size(); ++row)
        maps_[(row * parts + part) * points_ + x] = rows[row].of(sums);
      gain_error_[part * points_ + x] = errors[lane];
    }
  }
}

std::span<const double> SeaScores::map(const SeaMapRow& row, int method, int i_lead) const {
  const std::size_t number = &row - sea_map_rows().data();
  const auto n_leads = options_.leads.size();
  return {maps_.data() + ((number * n_methods_ + method) * n_leads + i_lead) * points_, points_};
}

std::span<const double> SeaScores::gain_error(int method, int i_lead) const {
  return {gain_error_.data() + (method * options_.leads.size() + i_lead) * points_, points_};
}

const double* SeaScores::sums_of(int method, int i_lead) const {
  return sums_.data() +
         (method * options_.leads.size() + i_lead) * std::int64_t{bootstrap_.samples()} * n_sea_sums;
}

Estimate SeaScores::heat_waves(const HeatWaveRow& row, int method, int i_lead) const {
  const double* sums = sums_of(method, i_lead);
  return bootstrap_.estimate([&](int sample) { return row.of(sums + std::int64_t{sample} * n_sea_sums); });
}

Estimate SeaScores::difference(const HeatWaveRow& row, int method, int other, int i_lead) const {
  const double *sums = sums_of(method, i_lead), *others = sums_of(other, i_lead);
  return bootstrap_.estimate([&](int sample) {
    const auto first = std::int64_t{sample} * n_sea_sums;
    return row.of(sums + first) - row.of(others + first);
  });
}

std::vector<SeaReliability> SeaScores::reliability(int method, int i_lead) const {
  const double* sums = sums_of(method, i_lead);
  const auto of = [&](int sample, int bin, BinSum which) {
    return sums[std::int64_t{sample} * n_sea_sums + static_cast<int>(SeaSum::bins) + bin * n_bin_sums +
                static_cast<int>(which)];
  };
  double total = 0;
  for (int bin = 0; bin < n_bins; ++bin) total += of(0, bin, BinSum::forecasts);
  std::vector<SeaReliability> bins;
  for (int bin = 0; bin < n_bins; ++bin) {
    const auto frequency = bootstrap_.estimate(
        [&](int sample) { return of(sample, bin, BinSum::came) / of(sample, bin, BinSum::forecasts); });
    bins.push_back({of(0, bin, BinSum::probability) / of(0, bin, BinSum::forecasts), frequency,
                    of(0, bin, BinSum::forecasts) / total});
  }
  return bins;
}

}  // namespace quintet::sequence
