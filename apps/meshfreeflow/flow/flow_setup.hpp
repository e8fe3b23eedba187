#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/flow/flow_options.hpp"
#include "physics/spectral/periodic_flow.hpp"

namespace quintet::meshfreeflow::periodic {

/// Formulas of the input with the places that messages name.
[[nodiscard]] spectral::FlowText flow_text(const std::string& name, const FormulaText& formula,
                                           const std::string& key);
[[nodiscard]] std::vector<spectral::FlowText> flow_texts(const NamedFormulas& formulas,
                                                         const std::string& key);

/// The flows of a run, at their start. Memory is asked for before anything is allocated. Collective. Throws
/// InputError.
[[nodiscard]] std::unique_ptr<spectral::PeriodicFlow> make_flow(const Context& context,
                                                                const FlowOptions& options);

/// Bytes of one of `n_ranks` ranks for the flows, their frames and files. Throws InputError.
[[nodiscard]] double bytes_of_rank(const FlowOptions& options, int n_ranks);
/// The most ranks that can share the flows. Throws InputError.
[[nodiscard]] int most_ranks(const FlowOptions& options);

/// "w (128 x 128 cells on 6.283 x 6.283)".
[[nodiscard]] std::string description(const FlowOptions& options, const spectral::PeriodicFlow& flow);

}  // namespace quintet::meshfreeflow::periodic
