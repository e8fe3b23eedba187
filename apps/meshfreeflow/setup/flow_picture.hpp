#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/application/report/report.hpp"
#include "io/fields/field_series.hpp"

namespace quintet::meshfreeflow {

/// Pixels that show the narrowest gap of an axis, at most `most`.
[[nodiscard]] int pixels_along(const FieldAxis& axis, int most);
/// A frame of a field on any grid on equal pixels [n_y, n_x], each the nearest point's value.
/// @param values [n_0, n_1] @param axes slowest first
[[nodiscard]] std::vector<double> equal_pixels(const std::vector<FieldAxis>& axes,
                                               std::span<const double> values, int n_x, int n_y);
/// A frame of a field on any grid as a picture of equal pixels, each the nearest point's value.
/// @param values [n_0, n_1] @param axes slowest first: upwards, to the right @param most pixels along an edge
[[nodiscard]] Heatmap flow_picture(const std::string& title, const std::string& value_label,
                                   const std::vector<FieldAxis>& axes, std::span<const double> values,
                                   int most = 256);

}  // namespace quintet::meshfreeflow
