#include "apps/campaign/workers/workers.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/scratch.hpp"

namespace quintet::campaign {
namespace {

namespace fs = std::filesystem;

/// A process that has joined the workers of a folder and holds an item, until it is killed.
pid_t begin_worker(const std::string& folder, const std::string& key) {
  int said[2];
  EXPECT_EQ(::pipe(said), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Workers worker(folder, Sharing::shared);
    const char has_it = worker.claim(key) ? 1 : 0;
    (void)!::write(said[1], &has_it, 1);
    for (;;) ::pause();
  }
  char has_it = 0;
  EXPECT_EQ(::read(said[0], &has_it, 1), 1);
  EXPECT_EQ(has_it, 1);
  ::close(said[0]);
  ::close(said[1]);
  return child;
}

void kill_worker(pid_t worker) {
  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

TEST(Workers, the_last_one_cleans_up_after_one_that_was_alive_a_moment_ago) {
  const Scratch scratch("workers");
  const pid_t other = begin_worker(scratch.path(), "item");
  {
    Workers last(scratch.path(), Sharing::shared);
    EXPECT_FALSE(last.claim("item"));
    kill_worker(other);
    std::ofstream(scratch / "report.html.tmp12") << "half";
  }
  EXPECT_EQ(names_in(scratch.path()), std::vector<std::string>{"claims"});
  EXPECT_TRUE(names_in(scratch / "claims").empty());
}

TEST(Workers, one_that_ends_leaves_to_others_what_is_theirs) {
  const Scratch scratch("workers");
  const pid_t other = begin_worker(scratch.path(), "item");
  {
    Workers first(scratch.path(), Sharing::shared);
    EXPECT_FALSE(first.claim("item"));
    std::ofstream(scratch / "report.html.tmp12") << "half";
  }
  EXPECT_TRUE(fs::exists(scratch / "claims/item"));
  EXPECT_TRUE(fs::exists(scratch / "report.html.tmp12")) << "the other may be writing it";
  kill_worker(other);
}

}  // namespace
}  // namespace quintet::campaign
