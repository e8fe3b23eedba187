#pragma once

#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/evaluate/case_data.hpp"
#include "io/parallel/interrupt.hpp"

namespace quintet::meshfreeflow {

/// A model whose error bars are judged.
struct JudgedErrorBars {
  const JudgedModel& model;
  const std::vector<flow::FlowModel>& members;
  std::vector<double> scale;  ///< [field]; empty: 1
  double bytes;               ///< memory for all predictors
  Interrupt interrupt{};      ///< of predictions
};

/// Refuse members and scales that do not fit the model, and members that go beyond their training on a case,
/// before anything is judged. Collective. Throws InputError.
void check_error_bars(Context& context, const CaseData& data, const JudgedErrorBars& judged,
                      OutsideTraining choice);

/// Compare error bars with errors over all points of a case: their ratio (rms), the scale that makes it 1,
/// and the share of points within one and two bars, as a table and keys of the summary; the error in ten
/// classes of the bar as curves. Collective.
void report_error_bars(Context& context, const CaseData& data, const JudgedErrorBars& judged,
                       const std::string& prefix);

}  // namespace quintet::meshfreeflow
