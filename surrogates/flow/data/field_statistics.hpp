#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "surrogates/flow/data/batch.hpp"

namespace quintet::flow {

/// Mean and deviation of each field over `runs`, [part][field] the values of a field in a part. Each run is
/// summed by one rank alone, so that the result does not depend on their number. Collective. Throws
/// InputError where a field is the same everywhere.
[[nodiscard]] FieldStatistics statistics_of(const Comm& comm, const std::vector<std::string>& fields,
                                            const std::vector<std::span<const float>>& runs);

}  // namespace quintet::flow
