#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/size_times.hpp"
#include "apps/dpmd/setup/run_options.hpp"

namespace quintet::dpmd {

/// `dpmd run` with ever fewer copies of the cell, down to one: a step without observers. Work: atoms.
[[nodiscard]] SizeSeries sizes(Context& context, const RunOptions& options);

}  // namespace quintet::dpmd
