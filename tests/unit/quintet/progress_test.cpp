#include "apps/quintet/submit/progress.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

TEST(progress, of_a_directory_that_is_not_there) {
  const auto progress = run_progress("/nowhere/at/all");
  EXPECT_EQ(progress.state, "not begun");
  EXPECT_FALSE(progress.step);
}

TEST(progress, is_the_last_line_of_the_log_or_the_newest_checkpoint) {
  const Scratch scratch("progress");
  write_text_file(scratch / "run.log",
                  "[1] step 10/3000 (0 %)  12.3 steps/s  4:03 left\n[2] step 120/3000 (4 %)  12.3 steps/s  "
                  "3:54 left  T = 300 K\n");
  auto progress = run_progress(scratch.path());
  EXPECT_EQ(progress.state, "running");
  EXPECT_EQ(*progress.step, 120);
  EXPECT_EQ(*progress.last, 3000);
  EXPECT_EQ(progress.left, "3:54");

  std::filesystem::create_directory(scratch / "checkpoints");
  write_text_file(scratch / "checkpoints/step_000000000400.h5", "");
  write_text_file(scratch / "checkpoints/step_000000000090.h5", "");
  EXPECT_EQ(*run_progress(scratch.path()).step, 400);
}

TEST(progress, the_summary_has_the_last_word) {
  const Scratch scratch("progress");
  write_text_file(scratch / "run.log", "");
  for (const auto& [code, state] :
       {std::pair(0, "done"), std::pair(75, "stopped early"), std::pair(3, "failed (exit code 3)")}) {
    write_text_file(scratch / "summary.json", fmt::format("{{\"exit_code\": {}}}\n", code));
    EXPECT_EQ(run_progress(scratch.path()).state, state);
  }
  write_text_file(scratch / "summary.json", "{\"exit_co");
  EXPECT_EQ(run_progress(scratch.path()).state, "running");
}

}  // namespace
}  // namespace quintet
