#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <spawn.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

extern char** environ;

namespace quintet::hdf5 {
namespace {

namespace fs = std::filesystem;

pid_t start_writer(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), CHECKPOINT_WRITER);
  std::vector<char*> raw;
  for (auto& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, CHECKPOINT_WRITER, nullptr, nullptr, raw.data(), environ), 0);
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

/// Until the child has begun to write (the folder changes), or 20 s: how long a program starts says nothing.
void wait_for_first_write(const fs::path& folder, fs::file_time_type before) {
  for (int i = 0; i < 20000 && fs::last_write_time(folder) == before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// The step of the newest checkpoint, whose content must be that of the step; 0 if there is none.
std::int64_t check_newest(const std::string& folder) {
  const auto newest = CheckpointStore(Comm::self(), folder, 2).newest();
  if (!newest) return 0;
  const auto file = File::open(Comm::self(), *newest);
  const auto step = checkpoint_step(file);
  EXPECT_EQ(file.root().read<std::int64_t>("x"), std::vector<std::int64_t>(200'000, step));
  return step;
}

TEST(Checkpoint, a_kill_at_any_moment_leaves_a_whole_one_and_no_progress_is_lost) {
  const Scratch scratch("kill");
  std::mt19937 random(20261121);
  std::uniform_int_distribution<int> delay_ms(0, 60);
  std::int64_t step = 0, kills_while_writing = 0;

  for (int round = 0; round < 25; ++round) {
    const auto before = fs::last_write_time(scratch.path());
    const pid_t child = start_writer({scratch.path()});
    wait_for_first_write(scratch.path(), before);
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms(random)));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_TRUE(WIFSIGNALED(wait_for(child)));
    for (const auto& entry : fs::directory_iterator(scratch.path())) {
      kills_while_writing += entry.path().extension() == ".tmp";
    }
    const std::int64_t now = check_newest(scratch.path());
    EXPECT_GE(now, step);
    step = now;
  }

  EXPECT_GT(step, 0);
  EXPECT_GT(kills_while_writing, 0) << "no kill fell into a write: the test proves nothing";
}

TEST(Checkpoint, a_full_disk_is_a_resource_error_and_the_older_checkpoints_stay) {
  const Scratch scratch("full");
  CheckpointStore(Comm::self(), scratch.path(), 2).write(1, current_provenance(), [](Group& root) {
    const std::vector<std::int64_t> values(200'000, 1);
    root.write("x", std::span<const std::int64_t>(values), {values.size()}, {});
  });
  const std::uint64_t size = fs::file_size(scratch / "step_000000000001.h5");

  // The limit falls into the data, the metadata at the end, and the seal.
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{5000}, size / 2, size - 30, size - 10}) {
    const int status = wait_for(start_writer({scratch.path(), std::to_string(limit)}));

    ASSERT_TRUE(WIFEXITED(status)) << "limit of " << limit << " bytes: signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::resource)) << "limit of " << limit << " bytes";
    EXPECT_EQ(check_newest(scratch.path()), 1);
    EXPECT_FALSE(fs::exists(scratch / "step_000000000002.h5.tmp"));
  }
}

}  // namespace
}  // namespace quintet::hdf5
