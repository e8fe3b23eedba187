/* Loaded before the C library in every test, in place of its sched_yield(), which Open MPI's waiting ranks
 * call.
 *
 * Tests have more processes than cores. A rank that yields goes to the end of the queue, and comes back after
 * a slice of some milliseconds, at every message; one that sleeps for an instant leaves its core to others
 * and is let in as soon as it wakes. Beside other work ranks that talk much take a tenth of the time so, and
 * less of the processor's.
 *
 * Who has waited long looks less often: pauses of half the time waited make a wait that much longer, and cost
 * a fraction of what looking every instant costs; of an eighth, twice as many changes of process. Open MPI
 * looks again within some 0.2 us where nothing has come, and takes longer to take a message: the next wait is
 * then expected to be shorter. */
#include <time.h>

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int sched_yield(void) {
  enum { nothing_came_ns = 300, longest_ns = 16000000 };
  static _Thread_local long long waited_ns, last_ns;
  const long long start_ns = now_ns();
  if (start_ns - last_ns > nothing_came_ns) {
    waited_ns /= 4;
  }
  const struct timespec pause = {0, 1000 + waited_ns / 2};
  nanosleep(&pause, 0);
  last_ns = now_ns();
  waited_ns += last_ns - start_ns;
  waited_ns = waited_ns > longest_ns ? longest_ns : waited_ns;
  return 0;
}
