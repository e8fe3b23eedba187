#include "io/machine/command.hpp"

#include <chrono>
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

TEST(command, output_errors_and_code_are_kept_apart) {
  const auto result = run_command({"sh", "-c", "echo out; echo no >&2; exit 75"}, 10);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.errors, "no\n");
  EXPECT_EQ(result.code, 75);
  EXPECT_FALSE(result.good());
}

TEST(command, words_reach_the_program_as_they_are) {
  EXPECT_EQ(run_command({"printf", "%s|", "a b", "$HOME", "'\"*"}, 10).out, "a b|$HOME|'\"*|");
}

TEST(command, much_output_does_not_block) {
  EXPECT_EQ(
      run_command({"sh", "-c", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"}, 20).out.size(),
      3000000U);
}

TEST(command, one_that_takes_too_long_is_ended_with_its_children) {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = run_command({"sh", "-c", "sleep 60 & sleep 60"}, 0.3);
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.good());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(command, one_that_closes_its_output_is_waited_for) {
  EXPECT_EQ(run_command({"sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 3"}, 10).code, 3);
}

TEST(command, a_signal_is_told_as_a_shell_does) {
  EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}, 10).code, 137);
}

TEST(command, a_program_that_is_not_there_is_named) {
  try {
    (void)run_command({"no_such_program_here"}, 10);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_program_here cannot be started: No such file"),
              std::string::npos);
  }
}

TEST(command, the_last_line_that_says_something) {
  EXPECT_EQ(last_line("a\nb \n\n"), "b");
  EXPECT_EQ(last_line("one"), "one");
  EXPECT_EQ(last_line("\n"), "");
}

TEST(command, variables_that_are_hidden_are_not_handed_on) {
  setenv("QUINTET_HIDDEN", "1", 1);
  setenv("QUINTET_SEEN", "1", 1);
  const auto hidden = [](std::string_view name) { return name == "QUINTET_HIDDEN"; };
  EXPECT_EQ(run_command({"sh", "-c", "echo $QUINTET_HIDDEN/$QUINTET_SEEN"}, 10, hidden).out, "/1\n");
  EXPECT_EQ(run_command({"sh", "-c", "echo $QUINTET_HIDDEN/$QUINTET_SEEN"}, 10).out, "1/1\n");
}

}  // namespace
}  // namespace quintet
