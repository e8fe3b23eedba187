#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/search_input.hpp"

namespace quintet::podlstm {

/// `podlstm search`: modes.h5 to the network that forecasts the validation period best, among those of a
/// space; trained again as model.h5.
///
/// Writes trials.h5 (every trial; a restart goes on from it), trials.csv, leaderboard.csv. Times after the
/// validation period are not read.
void search(Context& context, const SearchInput& input);

}  // namespace quintet::podlstm
