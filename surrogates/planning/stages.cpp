#include "surrogates/planning/stages.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

namespace quintet::planning {
namespace {

/// Numbers of a rank's slices: of all units, and of the largest.
struct Slices {
  double all = 0, largest = 0;
  double at_hand = 0;  ///< of a unit and the next one, which is on its way
};

Slices slices_of(const Division& division, double n_ranks) {
  Slices slices;
  double before = 0;
  for (const double size : division.units) {
    const double one = 16 * std::ceil(size / (16 * n_ranks));
    slices.all += one;
    slices.largest = std::max(slices.largest, one);
    slices.at_hand = std::max(slices.at_hand, one + (division.overlaps ? before : 0));
    before = one;
  }
  return slices;
}

template <int stage>
double bytes(const Division& division, double n_ranks, double per_holder) {
  const Slices slices = slices_of(division, n_ranks);
  const double whole = n_ranks * slices.all, n_holders = n_ranks / per_holder;
  const double values = stage < 3 ? whole / per_holder : slices.all + n_ranks * slices.at_hand;
  const double gradients = stage < 2 ? whole : slices.all + n_ranks * slices.largest;
  const double updated = stage < 1 ? whole / per_holder : slices.all;
  const double workspace = (n_holders - 1) * slices.largest;
  const double expanded = division.low_bytes > 0 ? n_ranks * slices.largest : 0;
  return division.bytes_per_number * (values + gradients + division.states * updated + workspace + expanded) -
         division.low_bytes * (values - updated);
}

template <int stage>
Traffic traffic(const Division& division, double n_ranks, double per_holder) {
  const double others = n_ranks / per_holder - 1, times = stage < 3 ? 2 : 3;
  const double low = stage < 1 ? 0 : (times - 1) * division.low_bytes;  // stage 0 sends sums back
  return others * Traffic{times * double(division.units.size()),
                          (times * division.bytes_per_number - low) * slices_of(division, n_ranks).all};
}

constexpr StageRow rows[] = {
    {0, "data", "strategy: data", bytes<0>, traffic<0>},
    {1, "stage 1", "strategy: sharded, stage: 1", bytes<1>, traffic<1>},
    {2, "stage 2", "strategy: sharded, stage: 2", bytes<2>, traffic<2>},
    {3, "stage 3", "strategy: sharded, stage: 3", bytes<3>, traffic<3>},
};

std::string bytes_text(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.4g} MB", bytes / 1e6) : fmt::format("{:.4g} GB", bytes / 1e9);
}

}  // namespace

double Division::parameters() const { return std::accumulate(units.begin(), units.end(), 0.0); }

int Division::per_holder(int ranks, int ranks_per_node) const {
  const int of_node = std::min(ranks, ranks_per_node);
  return shares_node && ranks % of_node == 0 ? of_node : 1;
}

std::span<const StageRow> stages() { return rows; }

std::span<const StageRow> stages(const Division& division) {
  const int most = division.shares_node ? 2 : 3;  // what is shared is not divided
  return stages().first(static_cast<std::size_t>(std::min(most, division.most_stage)) + 1);
}

StageChoice choose_stage(const Division& division, int n_ranks, int per_holder, double besides,
                         double share) {
  StageChoice choice;
  for (const auto& row : stages(division)) {
    const double needed = besides + row.bytes(division, n_ranks, per_holder);
    choice.reason +=
        fmt::format("{}{} takes {}", choice.reason.empty() ? "" : ", ", row.name, bytes_text(needed));
    if (needed > share) continue;
    choice.stage = &row;
    break;
  }
  choice.reason += std::isfinite(share) ? fmt::format(" of the {} that a rank may take", bytes_text(share))
                                        : ", and how much a rank may take is unknown";
  return choice;
}

}  // namespace quintet::planning
