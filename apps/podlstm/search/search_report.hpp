#pragma once

#include <string>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/podlstm/search/candidates.hpp"
#include "apps/podlstm/search/leaderboard.hpp"

namespace quintet::podlstm {

/// The page of a search: its course, who won and what that network looks like, what was evaluated; and the
/// numbers of summary.json. Collective.
void report_search(Context& context, const SearchInput& input, const Candidates& candidates,
                   const search::Search& search, const std::vector<ReferenceScore>& references,
                   const std::vector<std::string>& leaks);

}  // namespace quintet::podlstm
