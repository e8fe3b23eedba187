#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "surrogates/training/flat_layout.hpp"

namespace quintet {

/// Gather an array that all ranks divide on rank 0, in the order of blocks (empty elsewhere). Collective.
/// @param own [layout.slices()] this rank's slices of the units @param slice its number among them
template <class Real>
[[nodiscard]] std::vector<Real> gathered_slices(const Comm& comm, const FlatLayout& layout, int slice,
                                                std::span<const Real> own);

/// Part of a unit's numbers in slice `slice`, without padding: the first, within the unit, and how many.
struct SlicePart {
  std::size_t first, n;
};
[[nodiscard]] SlicePart slice_part(const FlatLayout::Unit& unit, int slice);

}  // namespace quintet
