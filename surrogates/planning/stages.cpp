#include "surrogates/planning/stages.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "io/tiers/tier_placement.hpp"

namespace quintet::planning {
namespace {

template <int stage>
double updated(const Division& division, double n_ranks, double per_holder) {
  const double all = slice_numbers(division.units, n_ranks).all;
  return stage < 1 ? n_ranks * all / per_holder : all;
}

template <int stage>
RankBytes parts(const Division& division, double n_ranks, double per_holder) {
  const SliceNumbers slices = slice_numbers(division.units, n_ranks);
  const double number = division.bytes_per_number, value = number - division.low_bytes;
  const double whole = n_ranks * slices.all, n_holders = n_ranks / per_holder;
  RankBytes bytes;
  bytes.parameters = value * (stage < 3 ? whole / per_holder : slices.all);
  bytes.gradients = number * (stage < 2 ? whole : slices.all + n_ranks * slices.largest);
  if (stage == 3)  // values of the units at hand
    bytes.gradients += value * n_ranks * (division.overlaps ? slices.with_the_next : slices.at_hand);
  bytes.optimiser =
      (number * division.states + division.low_bytes) * updated<stage>(division, n_ranks, per_holder);
  const double expanded = division.low_bytes > 0 ? n_ranks * slices.at_hand : 0;
  bytes.workspace = number * ((n_holders - 1) * slices.largest + expanded);
  return bytes;
}

template <int stage>
Traffic traffic(const Division& division, double n_ranks, double per_holder) {
  const double others = n_ranks / per_holder - 1, times = stage < 3 ? 2 : 3;
  const double low = stage < 1 ? 0 : (times - 1) * division.low_bytes;  // stage 0 sends sums back
  return others *
         Traffic{times * double(division.units.size()),
                 (times * division.bytes_per_number - low) * slice_numbers(division.units, n_ranks).all};
}

constexpr StageRow rows[] = {
    {0, "data", "strategy: data", parts<0>, updated<0>, traffic<0>},
    {1, "stage 1", "strategy: sharded, stage: 1", parts<1>, updated<1>, traffic<1>},
    {2, "stage 2", "strategy: sharded, stage: 2", parts<2>, updated<2>, traffic<2>},
    {3, "stage 3", "strategy: sharded, stage: 3", parts<3>, updated<3>, traffic<3>},
};

std::string bytes_text(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.4g} MB", bytes / 1e6) : fmt::format("{:.4g} GB", bytes / 1e9);
}

}  // namespace

double Division::parameters() const {
  double n = 0;
  for (const auto& unit : units) n += unit.n;
  return n;
}

int Division::per_holder(int ranks, int ranks_per_node) const {
  const int of_node = std::min(ranks, ranks_per_node);
  return shares_node && ranks % of_node == 0 ? of_node : 1;
}

std::span<const StageRow> stages() { return rows; }

std::span<const StageRow> stages(const Division& division) {
  const int most = division.shares_node ? 2 : 3;  // what is shared is not divided
  return stages().first(static_cast<std::size_t>(std::min(most, division.most_stage)) + 1);
}

RankBytes rank_bytes(const Division& division, const StageRow& stage, double n_ranks, double per_holder) {
  RankBytes bytes = stage.parts(division, n_ranks, per_holder);
  const double updated = stage.updated(division, n_ranks, per_holder);
  const auto& place = division.states_place;
  if (place.delayed) {
    bytes.gradients += division.bytes_per_number * updated;
    bytes.parameters += (division.bytes_per_number - division.low_bytes) * updated;
  }
  const std::size_t n = updated;
  if (!place.in_file || bytes.optimiser == 0) return bytes;
  const auto each = static_cast<std::size_t>(bytes.optimiser) / n;
  const auto placed = place_items(item_sizes(n, each), static_cast<std::size_t>(place.host.value_or(0)));
  bytes.optimiser = placed.host;
  bytes.staging = placed.staging;
  bytes.file = placed.file;
  bytes.moved = placed.moved();
  return bytes;
}

std::string beyond_budget(const Division& division, const RankBytes& bytes) {
  const auto& place = division.states_place;
  if (place.host && bytes.optimiser > *place.host)
    return fmt::format("{} of states, offload.budget.host: {}", bytes_text(bytes.optimiser),
                       bytes_text(*place.host));
  if (place.file && bytes.file > *place.file)
    return fmt::format("{} on the disk, offload.budget.file: {}", bytes_text(bytes.file),
                       bytes_text(*place.file));
  return "";
}

DiskWait disk_wait(const Division& division, const StageRow& stage, double n_ranks, double per_holder,
                   const DiskRates& rates, double step) {
  const RankBytes bytes = rank_bytes(division, stage, n_ranks, per_holder);
  DiskWait wait;
  if (bytes.moved == 0) return wait;
  wait.disk = std::max(bytes.moved / rates.read, bytes.moved / rates.write);
  const double swept = 2 * division.bytes_per_number * (2 + division.states) *
                       stage.updated(division, n_ranks, per_holder);  // read and written
  wait.hidden = std::min(1.0, (division.states_place.delayed ? step : swept / rates.copy) / wait.disk);
  return wait;
}

StageChoice choose_stage(const Division& division, int n_ranks, int per_holder, double besides,
                         double share) {
  StageChoice choice;
  for (const auto& row : stages(division)) {
    const auto bytes = rank_bytes(division, row, n_ranks, per_holder);
    const double needed = besides + bytes.host();
    const auto beyond = beyond_budget(division, bytes);
    choice.reason += fmt::format("{}{} takes {}{}", choice.reason.empty() ? "" : ", ", row.name,
                                 bytes_text(needed), beyond.empty() ? "" : " (" + beyond + ")");
    if (needed > share || !beyond.empty()) continue;
    choice.stage = &row;
    break;
  }
  choice.reason += std::isfinite(share) ? fmt::format(" of the {} that a rank may take", bytes_text(share))
                                        : ", and how much a rank may take is unknown";
  return choice;
}

}  // namespace quintet::planning
