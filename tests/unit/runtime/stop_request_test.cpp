#include <csignal>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

using namespace quintet;

namespace {

volatile std::sig_atomic_t former_handler_called = 0;

/// Raises the signal on the last rank only; returns what this rank is told.
std::string reason_after(const StopRequest& stop, int signal) {
  const auto comm = Comm::world();
  if (comm.rank() == comm.size() - 1) std::raise(signal);
  return stop.reason(comm, 0.0);
}

}  // namespace

TEST(StopRequest, signal_on_one_rank_is_a_reason_on_all) {
  for (const auto& [signal, name] : {std::pair(SIGTERM, "SIGTERM"), std::pair(SIGUSR1, "SIGUSR1"),
                                     std::pair(SIGHUP, "SIGHUP"), std::pair(SIGINT, "SIGINT")}) {
    const StopRequest stop({});
    EXPECT_EQ(stop.reason(Comm::world(), 1e9), "");

    EXPECT_EQ(reason_after(stop, signal), name);
    EXPECT_EQ(stop.reason(Comm::world(), 0.0), name) << "stays";
  }
}

TEST(StopRequest, former_handlers_come_back) {
  const auto handler = [](int) { former_handler_called = 1; };
  const auto before = std::signal(SIGUSR1, handler);

  {
    const StopRequest stop({});
    std::raise(SIGUSR1);
    EXPECT_EQ(former_handler_called, 0);
  }
  std::raise(SIGUSR1);

  EXPECT_EQ(former_handler_called, 1);
  std::signal(SIGUSR1, before);
}

TEST(StopRequest, a_hangup_that_is_ignored_stays_so) {
  const auto before = std::signal(SIGHUP, SIG_IGN);  // as nohup does
  {
    const StopRequest stop({});
    EXPECT_EQ(reason_after(stop, SIGHUP), "");
  }
  EXPECT_EQ(std::signal(SIGHUP, before), SIG_IGN);
}

TEST(StopRequest, second_interrupt_ends_the_process) {
  testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_EXIT(
      {
        const StopRequest stop({});
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(StopRequest, walltime_leaves_the_reserve) {
  const auto comm = Comm::world();
  const StopRequest stop(3600.0);

  EXPECT_EQ(stop.reason(comm, 0.0), "");
  EXPECT_EQ(stop.reason(comm, 3500.0), "") << "the process is younger than 100 s";
  EXPECT_EQ(stop.reason(comm, 3600.0), "walltime of 01:00:00 is nearly used");
}

TEST(StopRequest, walltime_that_ends_on_one_rank_ends_on_all) {
  const auto comm = Comm::world();
  const StopRequest stop(3600.0);
  const double reserve_s = comm.rank() == comm.size() - 1 ? 3600.0 : 0.0;

  EXPECT_EQ(stop.reason(comm, reserve_s), "walltime of 01:00:00 is nearly used");
}

TEST(StopRequest, costs_one_small_reduction) {
  const auto comm = Comm::world();
  const StopRequest stop(3600.0);
  comm.reset_counters();

  static_cast<void>(stop.reason(comm, 0.0));

  EXPECT_EQ(comm.counter(Comm::Call::reduce).messages, 1);
  EXPECT_LE(comm.counter(Comm::Call::reduce).bytes, 16);
}

TEST(Walltime, clock_and_units_are_seconds) {
  EXPECT_EQ(parse_walltime("00:30:00"), 1800.0);
  EXPECT_EQ(parse_walltime("100:00:01"), 360001.0);
  EXPECT_EQ(parse_walltime("2:05"), 125.0);
  EXPECT_EQ(parse_walltime("90 s"), 90.0);
  EXPECT_EQ(parse_walltime("30 min"), 1800.0);
  EXPECT_EQ(parse_walltime("1.5h"), 5400.0);
}

TEST(Walltime, what_is_not_one_is_refused_by_name) {
  for (const char* text : {"", "90", "1:60", "1:2:3:4", "-5 s", "0 s", "00:00:00", ":30", "1:", "1: 2",
                           "nan s", "inf h", "1e400 s", "3 d", "30 min later", "00:30:00 "}) {
    try {
      static_cast<void>(parse_walltime(text));
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("\"" + std::string(text) + "\""), std::string::npos)
          << error.what();
    }
  }
}
