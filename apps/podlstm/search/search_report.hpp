#pragma once

#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/search/candidates.hpp"
#include "apps/podlstm/search/leaderboard.hpp"
#include "apps/podlstm/search/methods_report.hpp"

namespace quintet::podlstm {

/// The page of a search: its course, who won and what that network looks like, what was evaluated; and the
/// numbers of summary.json. Collective.
/// @param beside other searches of the same problem (rank 0)
void report_search(Context& context, const SearchInput& input, const Candidates& candidates,
                   const search::Search& search, const std::vector<ReferenceScore>& references,
                   const std::vector<search::StoredSearch>& beside, const std::vector<std::string>& leaks);
/// Why a search has ended before its trials, in a sentence; "" where it has not.
[[nodiscard]] std::string early_end(const search::Search::Status& status, const SearchInput& input);

}  // namespace quintet::podlstm
