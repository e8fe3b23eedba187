#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/dpmd/label/label_process.hpp"
#include "io/log/error.hpp"
#include "io/runtime/process_family.hpp"
#include "io/runtime/runtime.hpp"
#include "io/runtime/socket.hpp"
#include "tests/support/scratch.hpp"

/// Programs that label frames are shells with children of all kinds.
namespace quintet::dpmd {
namespace {

/// The process whose number a program writes to a file; waits for it.
int number_in(const std::string& path) {
  for (int i = 0; i < 2000; ++i) {
    int number = 0;
    std::ifstream file(path);
    std::string end;
    if (file >> number && std::getline(file, end) && !file.eof()) return number;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw std::runtime_error(path + " is not written");
}

/// Ended ones that wait for their parents are not.
bool is_there(int process) { return !process_start(process).value_or("").empty(); }

struct Case {
  const char *what, *command;
  bool waits;  ///< the shell itself goes on
};

class LabelProcess : public testing::TestWithParam<Case> {};

/// All are found when the program is stopped, and nobody else's are.
TEST_P(LabelProcess, stop_finds_all_children) {
  const Scratch scratch("label_process");
  const Scratch other("label_process_other");
  RunningProgram stranger("sleep 1000 & echo $! > child; wait", other.path(), other / "output");
  RunningProgram program(GetParam().command, scratch.path(), scratch / "output");
  const int child = number_in(scratch / "child"), strange = number_in(other / "child");
  if (!GetParam().waits) {
    const auto end = program.ended_within(10);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->code, 3);
  }
  ASSERT_TRUE(is_there(child)) << "it outlives its shell";
  program.stop();
  EXPECT_FALSE(is_there(child));
  EXPECT_TRUE(is_there(strange));
  ASSERT_TRUE(program.ended().has_value());
  EXPECT_EQ(program.ended()->stopped, GetParam().waits);
  if (GetParam().waits) return;
  EXPECT_EQ(program.ended()->code, 3) << "how it ended is remembered";
}

INSTANTIATE_TEST_SUITE_P(
    Children, LabelProcess,
    testing::Values(
        Case{"of_a_shell_that_goes_on", "sleep 1000 & echo $! > child; wait", true},
        Case{"of_a_shell_that_has_ended", "sleep 1000 & echo $! > child; exit 3", false},
        Case{"without_an_environment", "env -i /bin/sleep 1000 & echo $! > child; exit 3", false},
        Case{"in_a_group_of_its_own", "set -m; sleep 1000 & echo $! > child; exit 3", false},
        Case{"in_a_session_of_its_own", "setsid sh -c 'echo $$ > child; sleep 1000' & exit 3", false},
        Case{"in_a_session_of_its_own_without_an_environment",
             "setsid env -i /bin/sh -c 'echo $$ > child; sleep 1000' & wait", true},
        Case{"that_do_not_heed_a_request_and_lose_their_parent",
             "setsid env -i /bin/sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 0.1; done' & wait",
             true},
        Case{"of_a_child_that_has_ended", "sh -c 'sh -c \"sleep 1000 & echo \\$! > child\"'; exit 3", false},
        Case{"that_do_not_heed_a_request",
             "sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 0.1; done' & exit 3", false}),
    [](const testing::TestParamInfo<Case>& info) { return info.param.what; });

TEST(LabelProcess, one_that_heeds_a_request_is_given_time) {
  const Scratch scratch("label_process");
  RunningProgram program(
      "trap 'sleep 0.3; echo saved > saved; exit 0' TERM; echo $$ > child; while :; do sleep 0.05; done",
      scratch.path(), scratch / "output");
  number_in(scratch / "child");
  program.stop();
  std::ifstream file(scratch / "saved");
  EXPECT_TRUE(file.is_open());
}

TEST(LabelProcess, ends_are_told) {
  const Scratch scratch("label_process");
  const std::atomic<bool> stop = false, stopped = true;
  const auto end = [&](const char* command, std::optional<double> limit, const std::atomic<bool>& stops) {
    return run_program(command, scratch.path(), scratch / "output", limit, stops);
  };
  EXPECT_TRUE(end("exit 0", {}, stop).good());
  EXPECT_EQ(end("exit 7", {}, stop).code, 7);
  const ProcessEnd killed = end("kill -KILL $$", {}, stop);
  EXPECT_EQ(killed.code, 128 + SIGKILL);
  EXPECT_TRUE(killed.was_killed());
  EXPECT_TRUE(end("sleep 100", 0.05, stop).timed_out);
  EXPECT_TRUE(end("sleep 100", {}, stopped).stopped);
}

TEST(ProcessFamily, marks_of_programs_within_programs_add_up) {
  const std::string outer = ProcessFamily::new_mark();
  const std::string name = std::string(ProcessFamily::variable) + "=";
  ASSERT_EQ(outer.find(name), 0U);
  setenv(ProcessFamily::variable, outer.substr(name.size()).c_str(), 1);
  const std::string inner = ProcessFamily::new_mark();
  unsetenv(ProcessFamily::variable);
  EXPECT_EQ(inner.find(outer + " "), 0U) << inner;
  EXPECT_NE(outer, ProcessFamily::new_mark()) << "each has its own";
}

std::string heard(Socket& socket, std::size_t size) {
  std::string text(size, ' ');
  const bool all = socket.receive(std::as_writable_bytes(std::span(text)), "a word", [] {});
  return all ? text : "the end";
}

/// Somebody else of this machine finds the port before the program does.
TEST(LoopbackListener, a_stranger_who_connects_first_is_refused) {
  const Scratch scratch("label_process");
  const LoopbackListener listener;
  auto stranger = Socket::connect({"", "127.0.0.1", listener.port()}, [] {});
  ASSERT_TRUE(stranger.has_value());
  // A child of a shell, as under a launcher.
  RunningProgram program("bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(listener.port()) +
                             "; printf hello >&3; read -r <&3' & wait",
                         scratch.path(), scratch / "output");
  int asked = 0;
  Socket found = listener.accept([] {},
                                 [&](std::uint64_t socket) {
                                   ++asked;
                                   return program.holds_socket(socket);
                                 });
  EXPECT_EQ(heard(found, 5), "hello");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(heard(*stranger, 5), "the end") << "the stranger's connection is closed";
}

/// A program that speaks IPv6 stands in another table of the system's.
TEST(LoopbackListener, knows_who_connects_by_ipv6) {
  const LoopbackListener listener;
  std::optional<Socket> other;
  try {
    other = Socket::connect({"", "::ffff:127.0.0.1", listener.port()}, [] {});
  } catch (const Error& error) {
    GTEST_SKIP() << "no IPv6 here: " << error.what();
  }
  ASSERT_TRUE(other.has_value());
  std::uint64_t found = 0;
  EXPECT_NO_THROW((void)listener.accept([] { throw std::runtime_error("nobody"); },
                                        [&](std::uint64_t socket) { return found = socket, true; }));
  EXPECT_NE(found, 0U);
}

TEST(LoopbackListener, waits_on_while_only_strangers_come) {
  const Scratch scratch("label_process");
  const LoopbackListener listener;
  RunningProgram program("sleep 1000", scratch.path(), scratch / "output");
  std::vector<Socket> strangers;
  int waits = 0;
  const auto waiting = [&] {
    if (++waits == 4) throw std::runtime_error("long enough");
    auto one = Socket::connect({"", "localhost", listener.port()}, [] {});
    if (one) strangers.push_back(std::move(*one));
  };
  EXPECT_THROW((void)listener.accept(waiting, [&](std::uint64_t n) { return program.holds_socket(n); }),
               std::runtime_error);
  EXPECT_EQ(strangers.size(), 3U);
}

/// One that has connected and gone is no reason to stop waiting.
TEST(LoopbackListener, one_who_has_gone_is_not_taken) {
  const LoopbackListener listener;
  {
    const auto gone = Socket::connect({"", "127.0.0.1", listener.port()}, [] {});
  }
  bool asked = false;
  EXPECT_THROW((void)listener.accept([] { throw std::runtime_error("nobody"); },
                                     [&](std::uint64_t) { return asked = true; }),
               std::runtime_error);
  EXPECT_FALSE(asked);
}

/// CP2K draws a box around its reason, and Open MPI adds a page of its own.
TEST(LabelProcess, last_lines_are_the_programs_own) {
  const Scratch scratch("label_last_lines");
  const std::string path = scratch / "output.log";
  std::ofstream(path) << "first\n\nsecond\n"
                         " *   ___                                      *\n"
                         " *  /   \\                                     *\n"
                         " * [ABORT]     The file <one> cannot be        *\n"
                         " *  \\___/            opened.                   *\n"
                         " *    |                                        *\n"
                         " * / \\                     cp_files.F:396      *\n"
                         " ***********************************************\n"
                         " ===== Routine Calling Stack =====\n"
                         "            1 CP2K\n"
                         "--------------\n"
                         "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\n"
                         "with errorcode 1.\n\n"
                         "You may or may not see output.\n"
                         "--------------\n"
                         "[host:1] 1 more process\n";
  EXPECT_EQ(last_lines(path, 4),
            "\n    [ABORT] The file <one> cannot be opened. cp_files.F:396"
            "\n     ===== Routine Calling Stack ====="
            "\n                1 CP2K"
            "\n    [host:1] 1 more process");
  std::ofstream(path) << "first\nsecond\nthird\n";
  EXPECT_EQ(last_lines(path, 2), "\n    second\n    third");
  EXPECT_EQ(last_lines(scratch / "nothing", 2), "");
}

}  // namespace
}  // namespace quintet::dpmd
