#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/compare/equal_errors.hpp"
#include "apps/submatrix/input/system.hpp"

namespace quintet::submatrix {

/// Log, summary.json, report.html and run.h5 of `submatrix compare`. Collective.
void report_comparison(Context& context, const Comparison& comparison, const System& system);

}  // namespace quintet::submatrix
