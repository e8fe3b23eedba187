#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/evaluate/judgement.hpp"

namespace quintet::meshfreeflow {

/// A case with all its judgements, the truth's first.
struct JudgedCase {
  std::string name, text;
  std::vector<double> times;
  std::vector<std::string> fields, equations;
  double viscosity = 0;  ///< 0: the fields' meaning is not known
  std::vector<Judgement> judgements;
};

/// Tables and curves of a case in the report, its series in run.h5 (group of its name), its keys in
/// summary.json. Collective.
/// @param prefix of the keys: empty, or the case's name where there are several
void report_case(Context& context, const JudgedCase& judged, const std::string& prefix);

}  // namespace quintet::meshfreeflow
