#pragma once

#include <optional>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/forecast/rolling_origins.hpp"

namespace quintet::podlstm {

/// Whether options ask for networks that must earn their place: of a hybrid model, unless they always stay.
[[nodiscard]] bool must_earn(const sequence::ForecastOptions& options);
/// What a plan of a training says where they must, and nothing else.
[[nodiscard]] std::string trial_not_counted(const sequence::ForecastOptions& options);

/// Work of a run on the nodes of a graph network: ranks share them out, and may each have all of them, too.
enum class GraphWork {
  training,
  training_and_trial,  ///< each rank trains networks of its own at rolling origins
  origins,             ///< trained together, one rank makes the forecasts
  forecasts
};
/// Say and require what the work takes on a rank, before there is any of it. Throws InputError as the
/// training does, ResourceError. Collective.
void require_nodes(Context& context, const sequence::GraphNetwork& network, GraphWork work);

/// Judge networks after rolling origins; none if the run must stop meanwhile. Collective.
[[nodiscard]] std::optional<sequence::NetworksTrial> judge_networks(
    Context& context, const sequence::TrialInput& input, const sequence::ForecastOptions& options,
    const sequence::ReferenceOptions& references);

/// Say in log, report and summary.json what came of it: a row an origin, the gain with its error, the choice.
/// @param among candidates of which these networks gained most
void report_networks(Context& context, const sequence::NetworksTrial& trial, const std::string& base,
                     const std::string& unit, int among = 1);

}  // namespace quintet::podlstm
