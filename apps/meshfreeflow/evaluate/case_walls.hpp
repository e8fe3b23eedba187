#pragma once

#include <vector>

#include "apps/meshfreeflow/evaluate/case_data.hpp"

namespace quintet::meshfreeflow {

/// Values of the fields of a flow at its walls, [field][axis]; `data.meaning` is known.
///
/// Values that are given in `flow.walls`; without any, of the scalar what the format says, else the mean of
/// the data at a wall along which they do not vary, and of the velocity 0 where the data are 0 (a component
/// along a wall that the file says to slip is not known). What comes from the data is said.
/// @param known by the file's format
/// Throws InputError for a given value that the data contradict, for no such field or wall.
[[nodiscard]] std::vector<flow::FieldWalls> walls_of(const FlowOptions& options, const CaseData& data,
                                                     const std::vector<FieldWallValue>& known);

}  // namespace quintet::meshfreeflow
