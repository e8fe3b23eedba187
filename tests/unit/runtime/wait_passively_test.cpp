#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/runtime/library_threads.hpp"

using namespace quintet;

/// Stands for OpenMP, which has read its environment before main().
extern "C" int omp_get_max_threads() { return 1; }

namespace {

/// What this program says of the policy when it is started by this command.
std::string said_by(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), pclose);
  std::array<char, 256> line{};
  std::string text;
  while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) text += line.data();
  return text;
}

std::string self() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

TEST(WaitPassively, begins_anew_and_keeps_the_policy_from_other_programs) {
  EXPECT_EQ(said_by(self() + " --say 'two words'"), "passive, ours, two words\n");
  EXPECT_EQ(said_by("bash -c 'exec -a nonsense " + self() + " --say x'"), "passive, ours, x\n");
}

TEST(WaitPassively, what_the_user_says_stays) {
  EXPECT_EQ(said_by("OMP_WAIT_POLICY=active " + self() + " --say x"), "active, theirs, x\n");
}

TEST(WaitPassively, a_program_that_the_linker_was_told_to_start_goes_on) {
  const std::string linker = "/lib64/ld-linux-x86-64.so.2";
  if (!std::filesystem::exists(linker)) GTEST_SKIP() << "no " << linker;
  EXPECT_EQ(said_by(linker + " " + self() + " --say x"), "passive, ours, x\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--say") {
    wait_passively(argv);
    const bool clean = std::getenv("QUINTET_WAITS_PASSIVELY") == nullptr;
    std::printf("%s, %s, %s\n", std::getenv("OMP_WAIT_POLICY"),
                is_of_runtime("OMP_WAIT_POLICY=passive") && clean ? "ours" : "theirs", argv[2]);
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
