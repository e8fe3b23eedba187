#pragma once

#include <array>
#include <string>
#include <vector>

#include "surrogates/flow/data/samples.hpp"

namespace quintet::flow {

/// Rows that crops give for spectra.
struct RowKind {
  int axis = 0, n_points = 0;
  bool whole = false;  ///< a row is a whole period
};

/// Rows along the last axis of space that is periodic and equally spaced, else along the last one that is
/// equally spaced. @param coarse null: low resolution is made of `fine` @param crop, low points of a crop at
/// both resolutions. Throws InputError where no axis is equally spaced in all samples, and for whole periods
/// of some samples alone or of unequal numbers of points.
[[nodiscard]] RowKind row_kind(const Samples& fine, const Samples* coarse, const std::array<int, 3>& crop,
                               const std::array<int, 3>& low, const std::vector<std::string>& axis_names);

/// Points of an axis in a range, ascending, those beyond a period's end as images.
[[nodiscard]] std::vector<double> points_in(const BlockAxis& axis, const std::array<double, 2>& range);

}  // namespace quintet::flow
