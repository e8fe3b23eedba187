#include "apps/campaign/words.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/scratch.hpp"

using quintet::campaign::files_that_match;
using quintet::campaign::files_within;
using quintet::campaign::pattern_in;
using Names = std::vector<std::string>;

/// A folder with files of these names, each with something in it.
class Words : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(at("two words"));
    for (const char* name : {"a", "b.txt", "a b", "two words/c", "x=1,y.dat"}) std::ofstream(at(name)) << "1";
    std::ofstream(at("empty"));
  }
  [[nodiscard]] std::string at(const std::string& name) const { return scratch_.path() + "/" + name; }

  Scratch scratch_{"words"};
};

TEST_F(Words, of_a_line_of_shell_name_files) {
  EXPECT_EQ(files_within("cat " + at("a") + "|sort; wc '" + at("b.txt") + "'"),
            Names({at("a"), at("b.txt")}));
  EXPECT_EQ(files_within("x=$(<" + at("a") + ")"), Names({at("a")}));
  EXPECT_EQ(files_within("-f" + at("a")), Names());  // who knows where a name begins
  EXPECT_EQ(files_within(at("a")), Names({at("a")}));
  EXPECT_EQ(files_within("cat " + at("none") + " " + at("two words")), Names());
}

TEST_F(Words, name_files_with_blanks_and_signs_in_their_names) {
  EXPECT_EQ(files_within("cat " + at("a b") + " c"), Names({at("a b")}));
  EXPECT_EQ(files_within("cat '" + at("two words/c") + "' c"), Names({at("two words/c")}));
  EXPECT_EQ(files_within("cat " + at("x=1,y.dat") + ";"), Names({at("x=1,y.dat")}));
}

TEST_F(Words, do_not_name_what_they_write_nor_signs_nor_what_is_made_up) {
  EXPECT_EQ(files_within("cat " + at("a") + " > " + at("b.txt")), Names({at("a")}));
  EXPECT_EQ(files_within("echo >>\"" + at("a") + "\"; cat " + at("a")), Names());
  EXPECT_EQ(files_within("test -e " + at("empty")), Names());
  EXPECT_EQ(files_within("cat /proc/self/status /dev/null"), Names());
}

TEST_F(Words, within_a_relative_path_name_nothing) {
  EXPECT_EQ(files_within("cat x" + at("a")), Names());
  EXPECT_EQ(files_within("cat {store}" + at("a")), Names());
}

TEST_F(Words, of_a_folder_are_no_pattern) {
  std::filesystem::create_directories(at("run[1]*?\\"));
  std::ofstream(at("run[1]*?\\/x.dat"));
  const auto files = files_that_match(pattern_in(at("run[1]*?\\"), "*.dat"));
  EXPECT_EQ(files, Names({at("run[1]*?\\/x.dat")}));
  EXPECT_EQ(pattern_in(at("run[1]"), at("*")), at("*"));
}
