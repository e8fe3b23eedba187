/* Loaded before the C library in every test, in place of its sched_yield(), which Open MPI's waiting ranks call.
 *
 * Tests have more processes than cores. A rank that yields goes to the end of the queue, and comes back after a slice of
 * some milliseconds, at every message; one that sleeps for an instant leaves its core to others and is let in as soon as it
 * wakes. Beside other work ranks that talk much take a tenth of the time so, and less of the processor's. */
#include <time.h>

int sched_yield(void) {
  const struct timespec instant = {0, 1000};
  nanosleep(&instant, 0);
  return 0;
}
