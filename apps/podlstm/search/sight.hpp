#pragma once

#include <vector>

#include "apps/podlstm/search/leaderboard.hpp"
#include "apps/podlstm/setup/search_input.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/windows/split.hpp"

namespace quintet::podlstm {

/// What a search may see: the record up to the end of validation.
struct Sight {
  CoefficientSeries series;
  sequence::Split split;
  std::vector<double> truth;                 ///< of the validation windows
  std::vector<ReferenceScore> references{};  ///< on them
};
/// Sight without scores. Throws InputError, as make_split().
[[nodiscard]] Sight sight_of(const ocean::OceanModes& modes, const SearchInput& input);

}  // namespace quintet::podlstm
