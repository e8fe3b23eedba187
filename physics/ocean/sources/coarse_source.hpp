#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "physics/ocean/coordinates/grid.hpp"
#include "physics/ocean/sources/field_source.hpp"

namespace quintet::ocean {

/// A coarse source.
struct Coarse {
  std::unique_ptr<FieldSource> source;
  std::uint64_t sea_checksum;  ///< of which points make which boxes, with which weights
};

/// Make each box of `factor` x `factor` points one point: its mean over the points of the sea, weighted by
/// area,
///   F(t, box) = sum_x a(x) f(t, x) / sum_x a(x), x the sea points of the box,
/// a(x) the area between the edges half way to the neighbouring points. Boxes of which less than half of the
/// area is sea are land. A box one of whose sea points has no value at a time has none then. A box lies at
/// the mean of its latitudes and of its longitudes.
///
/// @param region part of the grid that is made coarse; boxes begin at its south-western corner
/// @param sea [lat, lon] of the whole grid; nothing: where the first time has a value
/// Throws InputError: numbers of latitudes or longitudes that `factor` does not divide, a gap within a box,
/// no sea.
[[nodiscard]] Coarse coarse(std::unique_ptr<FieldSource> fine, int factor, const GridRegion& region,
                            const std::optional<std::vector<std::uint8_t>>& sea);

}  // namespace quintet::ocean
