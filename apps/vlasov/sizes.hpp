#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/size_times.hpp"
#include "apps/vlasov/input/run_options.hpp"

namespace quintet::vlasov {

/// `vlasov run` with ever fewer cells: a step without observers. Work: cells of x times those of v.
[[nodiscard]] SizeSeries sizes(Context& context, const RunOptions& options);

}  // namespace quintet::vlasov
