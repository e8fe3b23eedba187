#pragma once

#include <span>
#include <vector>

#include "io/parallel/comm.hpp"
#include "surrogates/training/flat_layout.hpp"

namespace quintet {

/// What all ranks have of an array that they divide, in the order of blocks, on rank 0 (empty elsewhere).
/// Collective.
/// @param own [layout.slices()] this rank's slices of the units @param slice its number among them
template <class Real>
[[nodiscard]] std::vector<Real> gathered_slices(const Comm& comm, const FlatLayout& layout, int slice,
                                                std::span<const Real> own);

/// Of a unit's numbers those that are in slice `slice`, without padding: the first, within the unit, and how
/// many.
struct SlicePart {
  std::size_t first, n;
};
[[nodiscard]] SlicePart slice_part(const FlatLayout::Unit& unit, int slice);

}  // namespace quintet
