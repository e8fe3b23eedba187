#pragma once

#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/evaluate/judgement.hpp"
#include "physics/codes/coded_matrix.hpp"

namespace quintet::podlstm {

/// Give all ranks rank 0's forecasts of the model. Collective.
void share(const Comm& comm, Judgement& judgement);

/// The model as it was trained, and with 1 to 4 bits a weight (and as many as were asked for), on the windows
/// of a judgement: errors with bootstrap errors of their differences, bytes of the weights, time of one
/// window by one network. Collective.
void report_codes(Context& context, const Judgement& judgement, const sequence::ForecastModel& trained,
                  const QuantiseOptions& options, const ocean::OceanModes& modes,
                  const sequence::Windows& windows, const sequence::Metric& metric, const std::string& unit,
                  int block);

}  // namespace quintet::podlstm
