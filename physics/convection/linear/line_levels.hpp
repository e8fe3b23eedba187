#pragma once

#include <vector>

#include "physics/convection/linear/line_operator.hpp"

namespace quintet::convection {

/// Second differences between every second unknown, 0, 2, 4 ..., of those between all: the others, f, are
/// eliminated from S = -weight L, as if there were nothing else in their equations,
///
///     q_f = (lower_f q_{f-1} + upper_f q_{f+1})/(lower_f + upper_f + wall_f),
///
/// and leave their weights to their neighbours in these shares. Along x alone that is exact on cells of any
/// width (cyclic reduction); between columns of a plane a coarse grid's equations. Source of its use: Ries,
/// Trottenberg & Winter 1983, Linear Algebra Appl. 49, 1.
[[nodiscard]] LineOperator coarser(const LineOperator& line, bool periodic);

/// `line` and coarser ones, down to a single unknown.
[[nodiscard]] std::vector<LineOperator> line_levels(LineOperator line, bool periodic);

}  // namespace quintet::convection
