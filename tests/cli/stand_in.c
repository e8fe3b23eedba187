/* What a test starts in the place of a program that is loaded already (tests/cli/expect.py): it has the warm
 * program fork the run (apps/application/cli/warm.hpp), with this process's folder, environment, words and
 * output, passes signals on and ends as the run does. A run whose stand-in is killed is killed. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static volatile pid_t run;

static void pass_on(int signal) { kill(run, signal); }

static void fail(const char* what) {
  fprintf(stderr, "stand_in: %s: %s\n", what, strerror(errno));
  _exit(127);
}

static char* order;
static size_t size;

/* A text and the zero that ends it. */
static void add(const char* text) {
  const size_t more = strlen(text) + 1;
  order = realloc(order, size + more);
  if (order == NULL) fail("no memory");
  memcpy(order + size, text, more);
  size += more;
}

static void all(int socket, void* bytes, size_t n, int sends) {
  for (char* at = bytes; n > 0;) {
    const ssize_t done = sends ? send(socket, at, n, MSG_NOSIGNAL) : recv(socket, at, n, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("the warm program is gone");
    at += done;
    n -= (size_t)done;
  }
}

int main(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  snprintf(place.sun_path, sizeof place.sun_path, "%s/%s.socket", getenv("STAND_INS"),
           slash ? slash + 1 : argv[0]);
  char folder[4096], output[64];
  snprintf(output, sizeof output, "/proc/%d/fd/1", (int)getpid());
  if (getcwd(folder, sizeof folder) == NULL) fail("no folder");

  uint64_t head[2] = {0, 0}; /* bytes that follow, number of variables */
  add(folder);
  add(output);
  for (char** variable = environ; *variable != NULL; ++variable, ++head[1]) add(*variable);
  for (int i = 0; i < argc; ++i) add(argv[i]);
  head[0] = size;

  static const int signals[] = {SIGTERM, SIGINT, SIGUSR1};
  const struct sigaction passing = {.sa_handler = pass_on};
  sigset_t early;
  sigemptyset(&early);
  for (int i = 0; i < 3; ++i) {
    sigaddset(&early, signals[i]);
    sigaction(signals[i], &passing, NULL);
  }
  sigprocmask(SIG_BLOCK, &early, NULL);

  const int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (to < 0 || connect(to, (const struct sockaddr*)&place, sizeof place) != 0) fail(place.sun_path);
  all(to, head, sizeof head, 1);
  all(to, order, size, 1);
  int64_t news[2]; /* process, status */
  all(to, news, sizeof news, 0);
  run = (pid_t)news[0];
  sigprocmask(SIG_UNBLOCK, &early, NULL);
  all(to, news, sizeof news, 0);

  const int status = (int)news[1];
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 127;
}
