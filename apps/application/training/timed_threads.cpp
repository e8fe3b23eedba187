#include "apps/application/training/timed_threads.hpp"

#include <algorithm>

#include "io/log/counted.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/fastest_threads.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet {

int choose_timed_threads(const Comm& comm, const Threads& threads, const TimedWork& work) {
  if (threads.is_given) return threads.per_rank;
  if (work.before > 0) {
    const int chosen = std::min(work.before, threads.per_rank);
    work.use(chosen);
    if (chosen < work.before)
      log::warning("The run so far had {} a rank, there are cores for {}: last digits will differ",
                   counted(work.before, "thread"), chosen);
    else if (chosen < threads.per_rank)
      log::info("{} a rank, as the run so far; --threads chooses another number", counted(chosen, "thread"));
    return chosen;
  }
  if (!work.piece || comm.minimum(threads.per_rank) == 1) return threads.per_rank;
  const auto times = fastest_threads(comm, threads.per_rank, work.use, work.piece);
  log::info("Torch takes {}, by timed {}; --threads fixes the number", times.in_words(), work.name);
  return times.chosen;
}

}  // namespace quintet
