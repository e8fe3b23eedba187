#pragma once

#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/evaluate/case_data.hpp"

namespace quintet::meshfreeflow {

/// Measure by how much first derivatives of a model's fields jump at the coarse nodes along an axis of space,
/// [field] (1): the root mean square of the jump over that of the derivative there.
///
///     f'(x+-) by (-3 f(x) + 4 f(x +- h) - f(x +- 2 h))/(+-2 h),    h a hundredth of the spacing,
///
/// at up to 200 inner nodes, half way between nodes along the other axes. 0 within rounding: fields have
/// continuous derivatives. Empty where the axis has no inner node.
/// @param bytes memory for the predictor
[[nodiscard]] std::vector<double> node_jumps(const CaseData& data, const JudgedModel& judged,
                                             std::size_t axis, double bytes);

/// The jumps of all models with a continuous decoder as a table of the report and keys of the summary.
/// Collective.
void report_node_jumps(Context& context, const CaseData& data, const std::vector<JudgedModel>& models,
                       double bytes, const std::string& prefix);

}  // namespace quintet::meshfreeflow
