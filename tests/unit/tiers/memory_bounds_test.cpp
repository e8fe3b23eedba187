#include "io/tiers/memory_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/scratch.hpp"

/// Limits of memory, read in folders that look as Slurm, PBS, systemd and containers make them.
namespace quintet {
namespace {
namespace fs = std::filesystem;

class FakeRoot {
 public:
  explicit FakeRoot(const std::string& name) : scratch_(name) {
    write("proc/meminfo", "MemTotal:       1000000 kB\nMemFree: 1 kB\nMemAvailable:    500000 kB\n");
  }
  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  /// A group of version 2, in MB.
  void second(const std::string& path, const std::string& limit, int used, int files = 0) const {
    write("sys/fs/cgroup/" + path + "/memory.max", limit + "\n");
    write("sys/fs/cgroup/" + path + "/memory.current", std::to_string(used) + "000000\n");
    write("sys/fs/cgroup/" + path + "/memory.stat", "anon 5\nfile 9\ninactive_file " + std::to_string(files) +
                                                        "000000\nactive_file 0\nslab_reclaimable 0\n");
  }
  /// A group of version 1, in MB.
  void first(const std::string& path, const std::string& limit, int used, int files = 0) const {
    const std::string folder = "sys/fs/cgroup/memory/" + path;
    write(folder + "/memory.limit_in_bytes", limit + "\n");
    write(folder + "/memory.usage_in_bytes", std::to_string(used) + "000000\n");
    write(folder + "/memory.use_hierarchy", "1\n");
    write(folder + "/memory.stat", "inactive_file 0\ntotal_inactive_file " + std::to_string(files) +
                                       "000000\ntotal_active_file 0\ntotal_mapped_file 0\n");
  }
  void mounts_second(const std::string& group = "/") const {
    write("proc/self/mountinfo", "21 1 8:1 / / rw - ext4 /dev/sda rw\n30 23 0:26 " + group +
                                     " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void mounts_first(const std::string& group = "/") const {
    write("proc/self/mountinfo",
          "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n35 31 0:32 " + group +
              " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - "
              "cgroup2 cgroup2 rw\n");
  }
  [[nodiscard]] fs::path root() const { return scratch_.path(); }
  [[nodiscard]] double free() const { return free_memory(memory_bounds(root())).value(); }
  [[nodiscard]] double limit() const { return memory_limit(memory_bounds(root())).value(); }

 private:
  ::Scratch scratch_;
};

TEST(MemoryBounds, without_control_groups_the_node_bounds) {
  const FakeRoot system("bounds_node");
  EXPECT_EQ(system.free(), 512e6);
  EXPECT_EQ(system.limit(), 1.024e9);
  EXPECT_EQ(memory_bounds(system.root()).size(), 1U);
}

TEST(MemoryBounds, where_the_system_tells_nothing_nothing_is_known) {
  const ::Scratch empty("bounds_none");
  EXPECT_TRUE(memory_bounds(empty.path()).empty());
  EXPECT_FALSE(free_memory({}).has_value());
  EXPECT_FALSE(memory_limit({}).has_value());
}

TEST(MemoryBounds, a_nested_group_of_the_second_version_counts_without_its_cached_files) {
  const FakeRoot system("bounds_second");
  system.mounts_second();
  system.write("proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n");
  system.second("system.slice/slurmstepd.scope/job_7/step_0/user/task_0", "100000000", 60, 25);
  EXPECT_EQ(system.free(), 65e6);
  EXPECT_EQ(system.limit(), 100e6);
}

TEST(MemoryBounds, the_limit_of_a_parent_counts_and_max_is_none) {
  const FakeRoot system("bounds_parents");
  system.mounts_second();
  system.write("proc/self/cgroup", "0::/system.slice/job_7/step_0/task_0\n");
  system.second("system.slice/job_7/step_0/task_0", "max", 10);
  system.second("system.slice/job_7/step_0", "300000000", 20);
  system.second("system.slice/job_7", "200000000", 150);
  EXPECT_EQ(system.free(), 50e6);
  EXPECT_EQ(system.limit(), 200e6);
  EXPECT_EQ(memory_bounds(system.root()).size(), 3U);
}

TEST(MemoryBounds, where_a_group_is_slowed_down_is_a_limit_too) {
  const FakeRoot system("bounds_high");
  system.mounts_second();
  system.write("proc/self/cgroup", "0::/a\n");
  system.second("a", "300000000", 20);
  system.write("sys/fs/cgroup/a/memory.high", "100000000\n");
  EXPECT_EQ(system.limit(), 100e6);
  EXPECT_EQ(system.free(), 80e6);
}

TEST(MemoryBounds, groups_of_the_first_version_count_with_their_parents) {
  const FakeRoot system("bounds_first");
  system.mounts_first();
  system.write("proc/self/cgroup", "9:cpu,cpuacct:/x\n4:memory:/slurm/uid_0/job_7/step_0\n0::/\n");
  system.first("slurm/uid_0/job_7/step_0", "9223372036854771712", 30);
  system.first("slurm/uid_0/job_7", "120000000", 50, 10);
  system.first("slurm/uid_0", "9223372036854771712", 60);
  system.first("slurm", "9223372036854771712", 60);
  EXPECT_EQ(system.free(), 80e6);
  EXPECT_EQ(system.limit(), 120e6);
}

TEST(MemoryBounds, a_parent_that_does_not_count_its_children_bounds_nothing) {
  const FakeRoot system("bounds_flat");
  system.mounts_first();
  system.write("proc/self/cgroup", "4:memory:/job/step\n");
  system.first("job/step", "300000000", 30);
  system.first("job", "120000000", 50);
  system.write("sys/fs/cgroup/memory/job/memory.use_hierarchy", "0\n");
  EXPECT_EQ(system.limit(), 300e6);
}

TEST(MemoryBounds, in_a_container_what_is_mounted_is_the_group) {
  const FakeRoot docker("bounds_docker");  // the mount's root is the container's group, and so is the path
  docker.mounts_first("/docker/abc");
  docker.write("proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  docker.first("", "400000000", 100);
  docker.first("inner", "200000000", 50);
  EXPECT_EQ(docker.free(), 150e6);

  const FakeRoot other("bounds_namespace");  // its path is of another place
  other.mounts_second();
  other.write("proc/self/cgroup", "0::/../../user.slice\n");
  other.second("", "300000000", 100);
  EXPECT_EQ(other.limit(), 300e6);
}

TEST(MemoryBounds, a_group_that_is_mounted_itself_counts_once) {
  // Twice, and each rank would have half of it.
  const FakeRoot second("bounds_once_second");  // as Docker and Podman show it
  second.mounts_second();
  second.write("proc/self/cgroup", "0::/\n");
  second.second("", "300000000", 100);
  EXPECT_EQ(memory_bounds(second.root()).size(), 2U);

  const FakeRoot first("bounds_once_first");
  first.mounts_first("/docker/abc");
  first.write("proc/self/cgroup", "4:memory:/docker/abc\n");
  first.first("", "400000000", 100);
  EXPECT_EQ(memory_bounds(first.root()).size(), 2U);
}

TEST(MemoryBounds, a_mounted_file_is_held_as_long_as_it_is_mapped) {
  const FakeRoot system("bounds_mapped");
  system.mounts_second();
  system.write("proc/self/cgroup", "0::/a\n");
  system.second("a", "100000000", 80);
  system.write("sys/fs/cgroup/a/memory.stat",
               "inactive_file 30000000\nactive_file 20000000\nfile_mapped 15000000\nshmem 5000000\n");
  // 10 MB of libraries are mapped, 5 MB are of shared arrays: 40 MB can be given back.
  EXPECT_EQ(system.free(), 60e6);
}

TEST(MemoryBounds, a_folder_with_a_blank_and_lines_of_nonsense_are_read) {
  const FakeRoot system("bounds_odd");
  system.write("proc/self/mountinfo",
               "nonsense\n30 23 0:26 / /sys/fs/c\\040group rw - cgroup2 none rw\n- \n");
  system.write("proc/self/cgroup", "rubbish\n0::/a\n:::\n");
  system.write("sys/fs/c group/a/memory.max", "70000000\n");
  system.write("sys/fs/c group/a/memory.current", "80000000\n");
  EXPECT_EQ(system.limit(), 70e6);
  EXPECT_EQ(system.free(), 0);
}

TEST(MemoryBounds, this_computer_says_what_it_has) {
  const auto bounds = memory_bounds();
  ASSERT_FALSE(bounds.empty());
  EXPECT_GT(*free_memory(bounds), 1e6);
  EXPECT_LE(*free_memory(bounds), *memory_limit(bounds));
}

}  // namespace
}  // namespace quintet
