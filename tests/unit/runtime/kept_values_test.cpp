#include "io/runtime/kept_values.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace quintet {
namespace {

/// Exit code, or minus the signal, of a forked process that does this.
int in_a_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// made_once(), and whether it had to make the values.
std::pair<std::vector<double>, bool> tried(const std::string& key, const std::vector<double>& values) {
  bool is_made = false;
  auto result = made_once(key, [&] {
    is_made = true;
    return values;
  });
  return {result, is_made};
}

// One test after another: what is kept stays for the life of a process.
TEST(KeptValues, nothing_is_kept_by_a_program_that_is_not_warm) {
  EXPECT_TRUE(tried("a", {1}).second);
  EXPECT_TRUE(tried("a", {1}).second);
}

TEST(KeptValues, what_one_process_has_made_others_take_to_the_last_bit) {
  keep_values(1 << 20);
  const std::vector<double> values{1.0 / 3, -0.0, 5e-324, 1e308};
  EXPECT_EQ(in_a_child([&] { return tried("key", values).second ? 0 : 1; }), 0);
  const auto [taken, is_made] = tried("key", {});
  EXPECT_FALSE(is_made);
  ASSERT_EQ(taken.size(), values.size());
  EXPECT_EQ(std::memcmp(taken.data(), values.data(), values.size() * sizeof(double)), 0);
  EXPECT_EQ(in_a_child([&] { return tried("key", {}).second ? 1 : 0; }), 0);
}

TEST(KeptValues, a_key_counts_whole) {
  EXPECT_TRUE(tried("ke", {2}).second);
  EXPECT_TRUE(tried("key ", {3}).second);
  EXPECT_TRUE(tried(std::string("key\0a", 5), {4}).second);
  EXPECT_EQ(tried(std::string("key\0a", 5), {}).first, std::vector<double>{4});
  EXPECT_TRUE(tried(std::string("key\0b", 5), {5}).second);
}

TEST(KeptValues, who_dies_while_it_makes_leaves_nothing) {
  EXPECT_EQ(in_a_child([] {
              (void)made_once("dies", []() -> std::vector<double> {
                kill(getpid(), SIGKILL);
                return {1};
              });
              return 0;
            }),
            -SIGKILL);
  EXPECT_TRUE(tried("dies", {2}).second);
  EXPECT_EQ(tried("dies", {}).first, std::vector<double>{2});
}

TEST(KeptValues, several_processes_add_at_once) {
  std::vector<pid_t> children;
  for (int c = 0; c < 8; ++c) {
    const pid_t child = fork();
    if (child == 0) {
      (void)tried("child " + std::to_string(c), std::vector<double>(1000, c));
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  for (int c = 0; c < 8; ++c) {
    const auto [values, is_made] = tried("child " + std::to_string(c), {});
    EXPECT_FALSE(is_made);
    EXPECT_EQ(values, std::vector<double>(1000, c));
  }
}

TEST(KeptValues, what_does_not_fit_is_made_again_and_harms_nothing) {
  const std::vector<double> large(1 << 20, 1);
  for (int n = 0; n < 2; ++n) EXPECT_TRUE(tried("large", large).second);
  for (int n = 0; n < 200; ++n) (void)tried("small " + std::to_string(n), {static_cast<double>(n)});
  for (int n = 0; n < 200; ++n)
    EXPECT_EQ(tried("small " + std::to_string(n), {static_cast<double>(n)}).first,
              std::vector<double>{static_cast<double>(n)});
  EXPECT_EQ(tried("child 3", {}).first, std::vector<double>(1000, 3));
}

}  // namespace
}  // namespace quintet
