#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/application/life/run_owner.hpp"
#include "io/log/error.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

namespace fs = std::filesystem;

class OwnedFolder : public ::testing::Test {
 protected:
  OwnedFolder() {
    std::string name = (fs::temp_directory_path() / "quintet_owner_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~OwnedFolder() override { fs::remove_all(folder_); }

  [[nodiscard]] std::unique_ptr<RunOwner> take(const std::string& folder) const {
    return std::make_unique<RunOwner>(folder, "demo run", [](const std::string&) {});
  }
  /// The message with which the folder is refused, "" if it is not.
  [[nodiscard]] std::string refusal(const std::string& folder) const {
    try {
      const auto owner = take(folder);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  /// Start processes that each try once at the same moment; those that have won wait to be killed.
  [[nodiscard]] std::vector<pid_t> winners_of(int n_processes) const;

  std::string folder_;
};

std::vector<pid_t> OwnedFolder::winners_of(int n_processes) const {
  std::array<int, 2> go{}, answers{};
  if (::pipe(go.data()) != 0 || ::pipe(answers.data()) != 0) return {};
  std::vector<pid_t> children, winners;
  for (int i = 0; i < n_processes; ++i) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    char word = 0;
    ::close(go[1]);
    (void)!::read(go[0], &word, 1);
    pid_t answer = 0;
    try {
      const auto owner = take(folder_);
      answer = ::getpid();
      (void)!::write(answers[1], &answer, sizeof(answer));
      ::pause();
    } catch (const std::exception&) {
      (void)!::write(answers[1], &answer, sizeof(answer));
    }
    ::_exit(0);
  }
  ::close(go[0]);
  ::close(go[1]);
  for (int i = 0; i < n_processes; ++i) {
    pid_t answer = 0;
    if (::read(answers[0], &answer, sizeof(answer)) == sizeof(answer) && answer != 0)
      winners.push_back(answer);
  }
  ::close(answers[0]);
  ::close(answers[1]);
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);  // a winner leaves a dead owner
    ::waitpid(child, nullptr, 0);
  }
  return winners;
}

TEST_F(OwnedFolder, has_one_owner_that_is_named) {
  const auto owner = take(folder_);
  EXPECT_TRUE(owner->is_first());
  const std::string text = refusal(folder_);
  for (const auto& part : {std::string("demo run runs there as process ") + std::to_string(::getpid()),
                           std::string("since 20"), std::string("--output DIR")})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(names(), std::vector<std::string>{"owner_000001"}) << "the refused one left something";
}

TEST_F(OwnedFolder, is_free_after_its_owner_and_counts_on) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(take(folder_)->is_first(), i == 0);
  EXPECT_EQ(names(), std::vector<std::string>{"owner_000003"});
  const auto last = take(folder_);
  last->vanish();  // only the first one may
}

TEST_F(OwnedFolder, a_first_owner_can_leave_no_trace) {
  take(folder_)->vanish();
  EXPECT_TRUE(names().empty());
}

TEST_F(OwnedFolder, of_many_at_once_one_wins_also_over_a_dead_owner) {
  for (int i_round = 0; i_round < 40;
       ++i_round)  // the first on an empty folder, then each over a killed winner
    ASSERT_EQ(winners_of(6).size(), 1u) << "round " << i_round;
}

TEST_F(OwnedFolder, an_owner_that_was_killed_may_still_be_there) {
  for (int i_round = 0; i_round < 20; ++i_round) {
    std::array<int, 2> taken{};
    ASSERT_EQ(::pipe(taken.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<char> memory(64 << 20, 1);  // that the kernel takes back before the process is gone
      const auto owner = take(folder_);
      (void)!::write(taken[1], memory.data(), 1);
      ::pause();
    }
    char word = 0;
    ASSERT_EQ(::read(taken[0], &word, 1), 1);
    EXPECT_NE(refusal(folder_), "");

    ::kill(child, SIGKILL);

    EXPECT_EQ(refusal(folder_), "") << "round " << i_round;
    ::waitpid(child, nullptr, 0);
    ::close(taken[0]);
    ::close(taken[1]);
  }
}

TEST_F(OwnedFolder, a_copy_has_no_owner) {
  const auto owner = take(folder_);
  const std::string copy = folder_ + "_copy";
  fs::copy(folder_, copy);
  EXPECT_EQ(refusal(copy), "");
  fs::remove_all(copy);
}

TEST_F(OwnedFolder, elsewhere_only_silence_tells) {
  const std::string file = folder_ + "/owner_000007";
  std::ofstream(file) << "program: demo run\nhost: faraway\nprocess: 1\nmachine: another\ntoken: x\n";
  EXPECT_NE(refusal(folder_).find("another machine"), std::string::npos);
  const auto silent_for = [&](double seconds) {
    fs::last_write_time(
        file, fs::file_time_type::clock::now() - std::chrono::milliseconds(std::int64_t(1e3 * seconds)));
  };
  silent_for(RunOwner::silent_s - 20);
  EXPECT_NE(refusal(folder_), "");
  EXPECT_EQ(names().size(), 1u);
  silent_for(RunOwner::silent_s + 5);
  EXPECT_EQ(refusal(folder_), "");
  EXPECT_EQ(names(), std::vector<std::string>{"owner_000008"});
}

TEST_F(OwnedFolder, in_a_job_the_scheduler_tells_that_a_silent_owner_is_dead) {
  const Scratch commands("squeue");
  std::ofstream(commands / "squeue") << "#!/bin/sh\necho \"5|$STATE\"\n";
  fs::permissions(commands / "squeue", fs::perms::owner_all);
  const std::string path = std::getenv("PATH"), file = folder_ + "/owner_000007";
  setenv("PATH", (commands.path() + ":" + path).c_str(), 1);
  setenv("SLURM_JOB_ID", "6", 1);
  setenv("SLURM_CLUSTER_NAME", "c", 1);
  const auto refused = [&](const char* state, int silent_s) {
    std::ofstream(file)
        << "program: demo run\nhost: faraway\nprocess: 1\nmachine: another\ntoken: x\njob: slurm c 5 0\n";
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(silent_s));
    setenv("STATE", state, 1);
    return refusal(folder_) != "";
  };
  EXPECT_TRUE(refused("FAILED", 3)) << "it beats still";
  EXPECT_TRUE(refused("RUNNING", 40));
  EXPECT_FALSE(refused("FAILED", 40));
  setenv("PATH", path.c_str(), 1);
  for (const char* name : {"SLURM_JOB_ID", "SLURM_CLUSTER_NAME", "STATE"}) unsetenv(name);
}

TEST_F(OwnedFolder, with_patience_a_silent_owner_is_waited_for) {
  const std::string file = folder_ + "/owner_000007";
  std::ofstream(file) << "program: demo run\nhost: faraway\nprocess: 1\nmachine: another\ntoken: x\n";
  fs::last_write_time(
      file, fs::file_time_type::clock::now() - std::chrono::milliseconds(1000 * RunOwner::silent_s - 500));
  const RunOwner owner(
      folder_, "demo run", [](const std::string&) {}, RunOwner::Patience::waits);
  EXPECT_EQ(names(), std::vector<std::string>{"owner_000008"});
}

TEST_F(OwnedFolder, half_a_file_counts_as_a_living_owner_while_it_is_young) {
  std::ofstream(folder_ + "/owner_000001") << "{program: [";
  EXPECT_NE(refusal(folder_), "");
}

TEST_F(OwnedFolder, a_process_number_used_again_is_another_process) {
  {
    const auto owner = take(folder_);
    fs::copy(folder_ + "/owner_000001", folder_ + "/kept");
  }
  std::ifstream kept(folder_ + "/kept");
  std::string text{std::istreambuf_iterator<char>(kept), {}};
  const auto at = text.find("process_start: ");
  text.replace(at, text.find('\n', at) - at, "process_start: \"17\"");
  std::ofstream(folder_ + "/owner_000001") << text;
  EXPECT_EQ(refusal(folder_), "");
}

}  // namespace
}  // namespace quintet
