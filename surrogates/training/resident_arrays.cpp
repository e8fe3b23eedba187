#include "surrogates/training/resident_arrays.hpp"

#include <algorithm>

#include "io/tiers/tier_placement.hpp"

namespace quintet {

namespace {

constexpr std::size_t bytes_on_their_way = 4 << 20;  ///< long beside a copy's start, small beside all states

/// Add the needs of `n` numbers' states on the host.
void add_offloaded(ResidentNeeds& needs, const PlannedArrays& arrays, std::size_t n) {
  const std::size_t each = n_states(arrays.optimiser) * arrays.width;
  needs.host.optimiser = n * each;
  needs.host.workspace = 2 * numbers_on_their_way(n, arrays.width) * arrays.width;
  if (arrays.offload.optimiser != OffloadKind::file) return;
  const double budget = 1e6 * arrays.offload.budget.host.value_or(0);
  const auto placed = place_items(item_sizes(n, each), static_cast<std::size_t>(budget));
  needs.host.optimiser = placed.host;
  needs.staging = placed.staging;
}

}  // namespace

std::string kept_on_host(const OptimiserOptions& optimiser, const OffloadOptions& offload,
                         const PrecisionOptions& precision, bool has_parts) {
  if (optimiser.clip_norm > 0) return "optimiser.clip_norm";
  if (offload.delayed_update) return "offload.delayed_update";
  if (precision.splits()) return "precision.parameters split_bf16";
  if (has_parts) return "tile";
  return "";
}

std::string PlannedArrays::kept_on_host() const {
  const bool has_parts =
      std::any_of(units.begin(), units.end(), [](const UnitSize& unit) { return unit.within >= 0; });
  return quintet::kept_on_host(optimiser, offload, precision, has_parts);
}

bool offloads_states(const OptimiserOptions& optimiser, const OffloadOptions& offload) {
  return offload.optimiser != OffloadKind::none && n_states(optimiser) > 0;
}

std::size_t numbers_on_their_way(std::size_t n, std::size_t width) {
  return std::min(n, bytes_on_their_way / width);
}

ResidentNeeds resident_needs(const PlannedArrays& arrays, bool sends_directly) {
  const std::size_t ranks = arrays.n_ranks;
  const std::size_t width = arrays.width;
  const int stage = arrays.n_ranks == 1 ? 0 : arrays.parallel.zero_stage();
  ResidentNeeds needs;
  auto& there = needs.device;
  std::size_t updated = 0, largest = 0, buffers = 1;  // numbers; a message's slice
  if (stage < 2) {
    double n = 0;
    for (const auto& unit : arrays.units) n += unit.n;
    largest = (static_cast<std::size_t>(n) + ranks - 1) / ranks;
    updated = stage == 0 ? ranks * largest : largest;
    there.values = there.gradients = ranks * largest * width;
  } else {
    const auto slices = slice_numbers(arrays.units, arrays.n_ranks);
    updated = slices.all;
    largest = slices.largest;
    const bool overlaps = arrays.parallel.progress == Progress::blocks && arrays.units.size() > 1;
    const std::size_t at_hand = stage < 3 ? 0 : overlaps ? 2 : 1;
    there.values = (stage < 3 ? ranks : 1) * updated * width;
    there.gradients = updated * width;
    there.live = (1 + at_hand) * ranks * largest * width;
    buffers = stage < 3 ? 1 : 2;
  }
  if (offloads_states(arrays.optimiser, arrays.offload))
    add_offloaded(needs, arrays, updated);
  else
    there.optimiser = n_states(arrays.optimiser) * updated * width;
  if (ranks == 1) return needs;
  const std::size_t arrive = (ranks - 1) * largest * width;
  if (sends_directly)
    there.workspace = arrive;
  else
    needs.host.workspace += buffers * ranks * largest * width + arrive;
  return needs;
}

}  // namespace quintet
