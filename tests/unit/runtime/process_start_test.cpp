#include <unistd.h>

#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "io/runtime/runtime.hpp"

/// A process may end between the opening of what the kernel says of it and its reading: that is no exception.
/// Of those that end while they are looked at half do.
TEST(ProcessStart, of_a_process_that_ends_while_it_is_looked_at_is_nothing) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);  // the kernel reaps
  for (int i = 0; i < 60; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_GT(child, 0);
    EXPECT_NO_THROW(while (!quintet::process_start(child).value_or("").empty()){});
  }
  std::signal(SIGCHLD, before);
  EXPECT_FALSE(quintet::process_start(getpid()).value_or("").empty());
}
