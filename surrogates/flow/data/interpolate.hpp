#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "surrogates/flow/data/block.hpp"

namespace quintet::flow {

/// Fields between the points of a block: the product of linear interpolation along each axis in physical
/// coordinates,
///
///     f(x) = sum_(n in 2 x 2 x 2) prod_d w_d,n f_n,    w_d = 1 - r, r,    r = (x_d - x_i)/(x_(i+1) - x_i).
///
/// A field that is linear in the coordinates is reproduced exactly. A periodic axis wraps round; beyond the
/// first and last point of a bounded axis the line through the last two goes on, up to the end of the block.
/// This is also the baseline that super-resolution is to beat.
///
/// @param points [point][axis] physical coordinates
/// @param values [point][field]
/// Throws InputError for points outside the block (a relative 1e-9 of its length is forgiven), or not finite.
void interpolate(const BlockView& block, std::span<const double> points, std::span<float> values);

/// The same by the cubic through the four points around each along each axis (Lagrange's polynomial, at any
/// spacing), at the ends of a bounded axis through the four nearest; beyond its first and last point by the
/// line, since cubics grow there. A bounded axis of three points has
/// the parabola through them, a periodic one the line.
void interpolate_by_cubics(const BlockView& block, std::span<const double> points, std::span<float> values);

/// Interpolate at all points of a grid, [field][t][z][x], axis by axis: for whole fields.
[[nodiscard]] FieldBlock interpolate(const BlockView& block, const BlockAxes& axes);

}  // namespace quintet::flow
