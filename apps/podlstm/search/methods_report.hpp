#pragma once

#include <string>
#include <vector>

#include "apps/application/report/report_fwd.hpp"
#include "apps/podlstm/search/candidates.hpp"

namespace quintet::podlstm {

/// Other searches of the same problem, to stand beside this one. Collective, filled on rank 0. Throws
/// InputError for trials of another space, of other data or trained in another way.
[[nodiscard]] std::vector<search::StoredSearch> read_beside(const Comm& comm, const SearchInput& input,
                                                            const Candidates& candidates);

/// Their course over equal numbers of trials, what each has found and how busy its workers were. Rank 0.
/// @param searches this one first
void report_methods(Report& report, const std::vector<search::StoredSearch>& searches,
                    const std::vector<std::string>& leaks);

}  // namespace quintet::podlstm
