#pragma once

#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/flow/model/flow_model.hpp"

namespace quintet::meshfreeflow {

/// Section `error_bars`: the members of an ensemble, and what their spread is multiplied by.
struct ErrorBarsOptions {
  std::vector<std::string> members;
  std::vector<double> scale;  ///< [field] of the model; empty: 1
};
void describe(Schema& schema, ErrorBarsOptions& options);

/// Read the members. Collective. Throws InputError: no models, or one with the weights of the model or of
/// another member, which would say that there is no error.
[[nodiscard]] std::vector<flow::FlowModel> load_members(const Comm& comm, const ErrorBarsOptions& options,
                                                        const flow::FlowModel& model);

}  // namespace quintet::meshfreeflow
