#pragma once

#include <cstdint>

#include "surrogates/search/search.hpp"

namespace quintet::podlstm {

/// What the trials of a search were, in numbers. Repeated ones are in none of them.
struct SearchNumbers {
  std::int64_t done = 0, stopped = 0, failed = 0, lost = 0, late = 0;
  std::int64_t again = 0;   ///< evaluations begun again after a worker's death
  std::int64_t epochs = 0;  ///< trained
  std::int64_t good = 0;    ///< with at least 0.9 of the best objective
  double per_hour = 0;      ///< evaluations
  double least_cpu_s = 0, mean_cpu_s = 0, most_cpu_s = 0;
  double mean_last = 0;  ///< mean objective of the 100 evaluations that ended last
};
/// Rank 0.
[[nodiscard]] SearchNumbers numbers_of(const search::Search& search);

}  // namespace quintet::podlstm
