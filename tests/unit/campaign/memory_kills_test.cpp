#include "apps/campaign/workers/memory_kills.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "io/config/tree.hpp"
#include "tests/support/scratch.hpp"

using quintet::campaign::memory_kills;

namespace {

void put_file(const std::string& path, const char* text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  quintet::write_text_file(path, text);
}

}  // namespace

TEST(MemoryKills, are_those_of_the_own_group_in_both_versions) {
  const Scratch scratch("memory_kills");
  const std::string proc = scratch.path() + "/proc", sys = scratch.path() + "/sys";
  EXPECT_FALSE(memory_kills(proc, sys));

  put_file(proc + "/vmstat", "pgfault 7\noom_kill 3\n");
  EXPECT_EQ(memory_kills(proc, sys), 3);

  put_file(proc + "/self/cgroup", "12:cpuset:/x\n9:cpu,memory:/slurm/job_7\n0::/none\n");
  put_file(sys + "/fs/cgroup/memory/slurm/job_7/memory.oom_control",
           "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  EXPECT_EQ(memory_kills(proc, sys), 5);

  put_file(proc + "/self/cgroup", "0::/system.slice/job_7\n");
  put_file(sys + "/fs/cgroup/system.slice/job_7/memory.events", "low 0\nhigh 0\nmax 9\noom 8\noom_kill 6\n");
  EXPECT_EQ(memory_kills(proc, sys), 6);
}
