#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/search/search.hpp"

namespace quintet::podlstm {

/// Counts of the trials of a search. Repeated trials appear only in their own count.
struct SearchNumbers {
  std::int64_t evaluations = 0;  ///< that have ended, failures included
  std::int64_t repeated = 0;
  std::int64_t done = 0, stopped = 0, failed = 0, lost = 0, late = 0;
  std::int64_t again = 0;   ///< evaluations begun again after a worker's death
  std::int64_t epochs = 0;  ///< trained
  std::int64_t good = 0;    ///< with at least 0.9 of the best objective
  double best = 0;          ///< objective; 0 where none counts
  int workers = 0;
  double wall_s = 0, per_hour = 0;  ///< the search's own time; evaluations
  double utilisation = 0;           ///< busy time of workers / (workers x wall time)
  double least_cpu_s = 0, mean_cpu_s = 0, most_cpu_s = 0;
  double mean_parameters = 0;
  double mean_last = 0;  ///< mean objective of the 100 evaluations that ended last
};
/// By what is stored: workers are those that ended something, the time is that of the last end.
[[nodiscard]] SearchNumbers numbers_of(const std::vector<search::Record>& records);
/// Time, workers and utilisation as the search itself knows them (utilisation: of this run). Rank 0.
[[nodiscard]] SearchNumbers numbers_of(const search::Search& search);

/// Evaluations that have an objective, in the order in which they ended.
[[nodiscard]] std::vector<const search::Record*> counted_in_order(const std::vector<search::Record>& records);

}  // namespace quintet::podlstm
