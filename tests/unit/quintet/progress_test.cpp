#include "apps/quintet/submit/progress.hpp"

#include <chrono>
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

TEST(progress, is_what_the_run_told_or_the_newest_checkpoint) {
  const Scratch scratch("progress");
  write_text_file(scratch / "run.log", "");
  write_text_file(scratch / "progress.json",
                  R"({"step": 120, "last_step": 3000, "steps_per_s": 12.3, "left_s": 234, )"
                  R"("written_unix_s": 1764000000.250, "shown": "T = 300 K"})");
  auto progress = run_progress(scratch.path());
  EXPECT_EQ(progress.state, "running");
  EXPECT_EQ(*progress.step, 120);
  EXPECT_EQ(*progress.last, 3000);
  EXPECT_DOUBLE_EQ(*progress.steps_per_s, 12.3);
  EXPECT_DOUBLE_EQ(*progress.left_s, 234);
  EXPECT_DOUBLE_EQ(*progress.written, 1764000000.25);

  std::filesystem::create_directory(scratch / "checkpoints");
  write_text_file(scratch / "checkpoints/step_000000000400.h5", "");
  write_text_file(scratch / "checkpoints/step_000000000090.h5", "");
  EXPECT_EQ(*run_progress(scratch.path()).step, 400);
}

TEST(progress, what_is_not_known_yet_or_damaged_is_absent) {
  const Scratch scratch("progress");
  write_text_file(scratch / "run.log", "");
  write_text_file(scratch / "progress.json",
                  R"({"step": 0, "last_step": 10, "steps_per_s": null, "left_s": null})");
  const auto progress = run_progress(scratch.path());
  EXPECT_EQ(*progress.step, 0);
  EXPECT_FALSE(progress.steps_per_s);
  EXPECT_FALSE(progress.left_s);
  for (const char* damaged : {"", "{\"step\": 1", "[]", "{\"step\": [1], \"left_s\": {}}"}) {
    write_text_file(scratch / "progress.json", damaged);
    EXPECT_FALSE(run_progress(scratch.path()).step) << damaged;
  }
}

TEST(progress, a_job_that_goes_on_runs_whatever_the_one_before_ended_with) {
  const Scratch scratch("progress");
  write_text_file(scratch / "run.log", "");
  write_text_file(scratch / "summary.json", "{\"exit_code\": 75}");
  write_text_file(scratch / "progress.json", "{\"step\": 5, \"last_step\": 9}");
  const auto now = std::filesystem::last_write_time(scratch / "progress.json");
  std::filesystem::last_write_time(scratch / "summary.json", now - std::chrono::seconds(5));
  EXPECT_EQ(run_progress(scratch.path()).state, "running");
  std::filesystem::last_write_time(scratch / "summary.json", now + std::chrono::seconds(5));
  EXPECT_EQ(run_progress(scratch.path()).state, "stopped early");
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
