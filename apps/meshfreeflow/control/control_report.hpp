#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/control/control_evaluation.hpp"
#include "apps/meshfreeflow/control/control_options.hpp"

namespace quintet::meshfreeflow {

/// The controls that were judged on the same flows: none, proportional ones by gain, the policy.
struct Verdict {
  Judged none, policy;
  std::vector<Judged> proportional;
  std::vector<double> gains;
  [[nodiscard]] const Judged* best_proportional() const;  ///< of the lowest mean; nullptr without any
  [[nodiscard]] double best_gain() const;
};

/// The learning curve, a row an update, into run.h5 and the report.
void report_learning(Context& context, const ControlCase& task, const std::vector<std::string>& columns,
                     const std::vector<double>& rows, double uncontrolled);
/// Tiles, tables, curves and pictures of what was judged; its numbers into summary.json and run.h5.
void report_verdict(Context& context, const ControlCase& task, const Verdict& verdict);

}  // namespace quintet::meshfreeflow
