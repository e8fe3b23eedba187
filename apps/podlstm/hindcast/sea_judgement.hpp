#pragma once

#include <optional>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/hindcast/modes_at_origins.hpp"
#include "apps/podlstm/hindcast/score_tables.hpp"
#include "surrogates/sequence/hindcast/sea/sea_scores.hpp"

namespace quintet::podlstm {

/// Ask for the memory of the maps, before anything is computed.
void require_maps(Context& context, const ModesAtOrigins& source, const HindcastOptions& options,
                  int origins);

/// Scores at each point; none where maps are not asked for, or only coefficients are known. Collective.
[[nodiscard]] std::optional<sequence::SeaScores> judge_sea(Context& context, const ModesAtOrigins& source,
                                                           const sequence::Hindcasts& hindcasts,
                                                           const Judged& judged,
                                                           const HindcastOptions& options);

/// Lines of scores.csv: marine heat waves and the reliability of terciles.
[[nodiscard]] std::string sea_lines(const sequence::SeaScores& scores, const std::vector<std::string>& names);

/// Into the report tables of heat waves, reliability of terciles over the sea, and maps of the method `best`;
/// numbers into the summary.
void report_sea(Context& context, const sequence::SeaScores& scores, const ocean::OceanModes& modes,
                const std::vector<std::string>& names, int best, const Judged& judged);

/// Write all maps into skill_maps.nc (CF netCDF) and into the group skill_maps of run.h5. Collective.
void write_maps(Context& context, const sequence::SeaScores& scores, const ocean::OceanModes& modes,
                const std::vector<std::string>& names, const Judged& judged);

}  // namespace quintet::podlstm
