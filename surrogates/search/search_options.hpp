#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "surrogates/search/method.hpp"
#include "surrogates/search/stopping.hpp"
#include "surrogates/search/workers.hpp"

namespace quintet::search {

/// Options of the workers that evaluate.
struct WorkersOptions {
  WorkerKind kind = WorkerKind::processes;
  int per_rank = 0;         ///< processes on each rank; 0: a thread's worth each
  double time_limit_s = 0;  ///< of an evaluation; 0: none
  int tries = 2;            ///< times that an evaluation is begun whose worker dies
};
void describe(Schema& schema, WorkersOptions& options);

/// Options of any search.
struct SearchOptions {
  MethodKind method = MethodKind::evolution;
  MethodOptions methods;
  std::int64_t trials = 0;  ///< evaluations, without repeated candidates
  double time_limit_s = 0;  ///< of the search, all its runs together; 0: none
  std::int64_t seed = 1;
  StoppingOptions stopping;
  WorkersOptions workers;
  std::optional<std::string> replay;  ///< a trial store whose order of proposals and ends is followed

  /// All that decides which trials come, in words: a store of other words is of another search.
  [[nodiscard]] std::string identity() const;
};
void describe(Schema& schema, SearchOptions& options);

}  // namespace quintet::search
