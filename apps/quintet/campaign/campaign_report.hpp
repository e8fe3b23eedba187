#pragma once

#include <string>

#include "apps/campaign/runner.hpp"

namespace quintet::campaign {

/// summary.json and report.html of a campaign: how slots were used, and each item with its folder.
void report_campaign(const std::string& name, const std::string& directory, const Graph& graph,
                     const CampaignResult& result);

}  // namespace quintet::campaign
