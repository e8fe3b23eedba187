#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "tests/support/scratch.hpp"

namespace run_log = quintet::log;  // the C library has a log of its own

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What `action` writes to the terminal: standard output and standard error.
template <class Action>
std::pair<std::string, std::string> terminal_text(const Action& action) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  action();
  run_log::flush();
  const auto output = testing::internal::GetCapturedStdout();
  return {output, testing::internal::GetCapturedStderr()};
}

class Log : public testing::Test {
 protected:
  /// The lines of earlier tests go to a file of their own.
  Log() {
    run_log::configure({.file = scratch_ / "earlier.log"});
    run_log::configure({});
  }
  ~Log() override { run_log::configure({}); }
  Scratch scratch_{"log"};
};

}  // namespace

TEST_F(Log, lines_carry_the_time_and_complaints_their_name) {
  run_log::configure({});

  const auto [output, complaints] = terminal_text([] {
    run_log::info("{} steps, 100% {{}}", 3);
    run_log::warning("the box is {} angstrom wide", 1.5);
    run_log::error("no");
  });

  EXPECT_TRUE(std::regex_match(output, std::regex(R"(\[\d\d:\d\d:\d\d\] 3 steps, 100% \{\}\n)"))) << output;
  EXPECT_EQ(complaints, "warning: the box is 1.5 angstrom wide\nerror: no\n");
}

TEST_F(Log, words_of_a_file_do_not_steer_the_terminal) {
  run_log::configure({});

  const auto [output, complaints] = terminal_text([] {
    run_log::info(
        "at\t1 \xc3\x85 and \xc2\xb1 \xc2\x9b"
        "2J");
    run_log::error("'\x1b[31mred\x1b]0;title\x07' is no\nnumber\x7f\r");
  });

  EXPECT_NE(output.find("at\t1 \xc3\x85 and \xc2\xb1 \xc2?2J\n"), std::string::npos) << output;
  EXPECT_EQ(complaints, "error: '?[31mred?]0;title?' is no\nnumber??\n");
}

TEST_F(Log, file_gets_all_lines_and_is_appended_to) {
  const auto path = scratch_ / "run.log";
  const auto silence = [&] {
    run_log::configure({.quiet = true, .file = path});
    run_log::write(run_log::Level::debug, "first");
    run_log::configure({.quiet = true, .file = path});
    run_log::info("second");
    run_log::warning("third");
  };

  const auto [output, complaints] = terminal_text(silence);

  EXPECT_EQ(output, "") << "quiet";
  EXPECT_EQ(complaints, "warning: third\n") << "quiet does not hide warnings";
  const std::string time = R"(\[\d\d:\d\d:\d\d\] )";
  EXPECT_TRUE(std::regex_match(text_of(path),
                               std::regex(time + "first\n" + time + "second\n" + time + "warning: third\n")))
      << text_of(path);
}

TEST_F(Log, lines_from_before_there_is_a_file_come_first_in_it) {
  const auto path = scratch_ / "run.log";

  terminal_text([&] {
    run_log::warning("before");
    run_log::configure({.file = path});
    run_log::info("after");
  });

  EXPECT_TRUE(std::regex_match(text_of(path), std::regex(R"(\[.{8}\] warning: before\n\[.{8}\] after\n)")))
      << text_of(path);
}

TEST_F(Log, silent_rank_writes_nothing_but_keeps_its_warnings) {
  const auto before = run_log::warning_count();
  run_log::configure({.speaks = false, .file = scratch_ / "silent.log"});

  const auto [output, complaints] = terminal_text([] {
    run_log::info("a");
    run_log::warning("b");
    run_log::error("c");
  });

  EXPECT_EQ(output + complaints, "");
  EXPECT_FALSE(std::ifstream(scratch_ / "silent.log").good());
  ASSERT_EQ(run_log::warning_count(), before + 1);
  EXPECT_EQ(run_log::warnings().back(), "b");
}

TEST_F(Log, file_that_cannot_be_written_is_named) {
  try {
    run_log::configure({.file = "/proc/no_such_folder/run.log"});
    FAIL() << "no error";
  } catch (const quintet::ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("/proc/no_such_folder/run.log"), std::string::npos)
        << error.what();
  }
}

TEST(Assert, is_evaluated_in_builds_with_assertions_alone) {
  int evaluated = 0;
  const auto is_true = [&](bool value) {
    ++evaluated;
    return value;
  };

  QUINTET_ASSERT(is_true(true), "it is {}", evaluated);
  EXPECT_EQ(evaluated, quintet::has_assertions ? 1 : 0);
  const auto fail = [&] { QUINTET_ASSERT(is_true(false), "it is not"); };
  if (quintet::has_assertions)
    EXPECT_THROW(fail(), quintet::InternalError);
  else
    EXPECT_NO_THROW(fail());
}
