#include "apps/application/life/last_word.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

namespace fs = std::filesystem;

class Words : public testing::Test {
 protected:
  Words() { fs::create_directories(scratch_ / "run/.quintet"); }
  ~Words() override { unsetenv("QUINTET_START"); }
  [[nodiscard]] LastWord of_start(const char* start, bool speaks = true) const {
    setenv("QUINTET_START", start, 1);
    return {scratch_ / "run", "demo run", speaks};
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ifstream file(scratch_ / ("run/.quintet/" + name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] bool nothing_is_left() const { return fs::is_empty(scratch_ / "run/.quintet"); }
  Scratch scratch_{"last_word"};
};

TEST_F(Words, have_code_reason_and_newest_checkpoint_in_lines) {
  fs::create_directories(scratch_ / "run/checkpoints");
  for (const char* name : {"step_000000000007.h5", "step_000000000012.h5", "step_000000000013.h5.tmp"})
    std::ofstream(scratch_ / ("run/checkpoints/" + std::string(name))) << "x";
  of_start("17_3").leave(ExitCode::input, "one\ntwo");
  const std::string words = text("last_word_17_3");
  for (const char* line : {"start: 17_3\n", "\ncode: 2\n", "\ncheckpoint: step_000000000012.h5\n",
                           "\nprogram: demo run\n", "\nreason: one two\n"})
    EXPECT_NE(words.find(line), std::string::npos) << words;
}

TEST_F(Words, the_last_one_holds) {
  const LastWord word = of_start("a");
  word.leave(ExitCode::numerical, "x");
  word.leave(ExitCode::done, "");
  EXPECT_NE(text("last_word_a").find("code: 0\n"), std::string::npos);
}

TEST_F(Words, are_of_the_rank_that_speaks_or_ends_all) {
  const LastWord word = of_start("a", false);
  word.leave(ExitCode::input, "x");
  EXPECT_TRUE(nothing_is_left());
  word.leave_alone(ExitCode::input, "x");
  EXPECT_FALSE(nothing_is_left());
}

TEST_F(Words, say_that_another_run_has_the_directory) {
  LastWord word = of_start("a");
  word.set_in_use();
  word.leave(ExitCode::input, "x");
  EXPECT_NE(text("last_word_a").find("\ndirectory: in use\n"), std::string::npos);
}

TEST_F(Words, without_a_script_are_of_runs_that_have_begun) {
  unsetenv("QUINTET_START");
  LastWord word(scratch_ / "run", "demo run", true);
  EXPECT_FALSE(word.is_awaited());
  word.leave(ExitCode::input, "x");
  EXPECT_TRUE(nothing_is_left());
  word.set_begun();
  word.leave(ExitCode::input, "x");
  EXPECT_NE(text("last_word").find("code: 2\n"), std::string::npos);
}

TEST_F(Words, names_of_starts_are_not_handed_on_and_lead_nowhere_else) {
  EXPECT_TRUE(of_start("a").is_awaited());
  EXPECT_EQ(std::getenv("QUINTET_START"), nullptr);
  EXPECT_FALSE(of_start("../../x").is_awaited());
}

TEST_F(Words, make_no_directory) {
  setenv("QUINTET_START", "a", 1);
  const LastWord word(scratch_ / "none", "demo run", true);
  word.leave(ExitCode::usage, "x");
  EXPECT_FALSE(fs::exists(scratch_ / "none"));
}

}  // namespace
}  // namespace quintet
