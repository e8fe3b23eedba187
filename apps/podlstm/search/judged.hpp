#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/search/candidates.hpp"
#include "surrogates/sequence/forecast/rolling_origins.hpp"

namespace quintet::podlstm {

/// One of the best candidates of a search, and what it gains over its base after rolling origins.
struct JudgedCandidate {
  std::int64_t trial = -1;
  search::Genes genes;
  double r2 = 0, cpu_s = 0;  ///< of the search
  sequence::NetworksTrial after;
};

/// The best candidates by validation, best first, the same on all ranks; fewer where fewer gave a number.
/// Collective.
[[nodiscard]] std::vector<JudgedCandidate> best_candidates(const Comm& comm, const search::Search& search,
                                                           int most, int n_genes);

/// Options of a candidate's ensemble as it is trained again.
[[nodiscard]] sequence::ForecastOptions options_for(const SearchInput& input, const Candidates& candidates,
                                                    const search::Genes& genes);

/// Judge candidates after rolling origins, one after the other. Each that is done stays in judged.h5, so that
/// a restart goes on with the next. False: the run must stop. Collective.
[[nodiscard]] bool judge_candidates(Context& context, const SearchInput& input, const Candidates& candidates,
                                    const sequence::TrialInput& of, std::vector<JudgedCandidate>& judged);

/// The candidate that gains most; one whose gain has no error comes last.
[[nodiscard]] std::size_t most_gained(const std::vector<JudgedCandidate>& judged);

/// Table of candidates and base by their error after rolling origins into the report and judged.csv.
void report_judged(Context& context, const Candidates& candidates, const std::vector<JudgedCandidate>& judged,
                   const std::string& base, const std::string& unit);

}  // namespace quintet::podlstm
