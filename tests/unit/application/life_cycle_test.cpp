#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "apps/application/life/failure.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/life/phases.hpp"
#include "apps/application/life/progress.hpp"
#include "io/config/tree.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/shared_memory_bounds.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

void wait_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

TEST(Phases, nest_by_name_and_know_mean_and_slowest_rank) {
  const Comm comm = Comm::world();
  Phases phases;
  {
    const auto outer = phases.timer("forces");
    wait_ms(5);
  }
  phases.add("loop/model", comm.rank() + 1.0);
  phases.add("loop/model", 1.0);
  phases.add("loop", comm.rank() + 3.0);
  phases.add("end", 0.5);
  if (comm.rank() == comm.size() - 1) phases.add("loop/last rank only", comm.size());

  const auto times = phases.over_ranks(comm);
  if (!comm.is_root()) {
    EXPECT_TRUE(times.empty());
    return;
  }
  ASSERT_EQ(times.size(), 5u);
  // Children stand behind their parent, though other ranks have entered other ones.
  const char* paths[] = {"forces", "loop", "loop/model", "loop/last rank only", "end"};
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i].path, paths[i]);
  EXPECT_GE(times[0].mean, 0.005);
  EXPECT_DOUBLE_EQ(times[2].slowest, comm.size() + 1.0);
  EXPECT_DOUBLE_EQ(times[2].mean, (comm.size() + 3.0) / 2);
  EXPECT_DOUBLE_EQ(times[3].mean, 1.0);
  EXPECT_DOUBLE_EQ(times[3].slowest, comm.size());
}

TEST(Phases, know_the_longest_visit_at_any_depth) {
  Phases phases;
  double longest = 0;  // on a busy machine any of them may be
  for (const int milliseconds : {1, 20, 1}) {
    const auto begin = std::chrono::steady_clock::now();
    {
      const auto outer = phases.timer("loop");
      const auto inner = phases.timer("checkpoint");
      wait_ms(milliseconds);
    }
    const std::chrono::duration<double> visit = std::chrono::steady_clock::now() - begin;
    longest = std::max(longest, visit.count());
  }

  EXPECT_GE(phases.longest("checkpoint"), 0.02);
  EXPECT_LE(phases.longest("checkpoint"), longest);
  EXPECT_EQ(phases.longest("absent"), 0);
}

TEST(Failure, exceptions_lead_to_their_exit_codes) {
  const auto code = [](const auto& error) { return failure_of(std::make_exception_ptr(error)).code; };

  EXPECT_EQ(code(UsageError("x")), ExitCode::usage);
  EXPECT_EQ(code(InputError("x")), ExitCode::input);
  EXPECT_EQ(code(NumericalError("x")), ExitCode::numerical);
  EXPECT_EQ(code(ResourceError("x")), ExitCode::resource);
  EXPECT_EQ(code(std::bad_alloc()), ExitCode::resource);
  EXPECT_EQ(code(InternalError("x")), ExitCode::internal);
  EXPECT_EQ(code(std::out_of_range("x")), ExitCode::internal);
  EXPECT_EQ(code(42), ExitCode::internal);
}

TEST(Failure, ranks_that_failed_together_agree_on_the_lowest_ones_failure) {
  const Comm comm = Comm::world();
  const Failure mine{comm.is_root() ? ExitCode::input : ExitCode::resource,
                     "rank " + std::to_string(comm.rank())};

  const Failure agreed = agree_on_failure(comm.split(0, comm.rank()), mine, "");
  EXPECT_EQ(agreed.code, ExitCode::input);
  EXPECT_EQ(agreed.message, "rank 0");
}

TEST(Memory, what_fits_passes_and_what_does_not_is_refused_on_all_ranks) {
  const Comm comm = Comm::world();
  ASSERT_TRUE(available_memory().has_value());
  EXPECT_GT(*available_memory(), 1e6);

  EXPECT_NO_THROW(require_memory(comm, 1000, "a little"));
  for (const double bytes : {1e18, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(require_memory(comm, comm.rank() == comm.size() - 1 ? bytes : 0, "a lot"), ResourceError)
        << bytes;
}

TEST(Memory, the_message_names_what_for) {
  try {
    require_memory(Comm::self(), 3e15, "the density");
    FAIL();
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("for the density: 3e+06 GB"), std::string::npos) << error.what();
  }
}

TEST(Progress, times_read_as_on_a_clock) {
  EXPECT_EQ(clock_text(0), "0:00");
  EXPECT_EQ(clock_text(59.6), "1:00");
  EXPECT_EQ(clock_text(3599), "59:59");
  EXPECT_EQ(clock_text(3661), "1:01:01");
  EXPECT_EQ(clock_text(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(clock_text(std::numeric_limits<double>::quiet_NaN()), "?");
}

TEST(Progress, keeps_a_file_that_says_how_far_the_loop_is) {
  const Scratch scratch("progress");
  const std::string file = scratch / "progress.json";
  Progress progress(false, true);
  progress.start(11, 30);
  EXPECT_FALSE(std::filesystem::exists(file));
  progress.write_to(file);
  progress.start(11, 30);
  Tree told = read_yaml(file);
  EXPECT_EQ(told.at("step").as_integer(), 10);
  EXPECT_EQ(told.at("last_step").as_integer(), 30);
  EXPECT_TRUE(told.at("steps_per_s").is_null());
  EXPECT_TRUE(told.at("left_s").is_null());
  wait_ms(20);
  progress.update(5);  // within a second of the last
  EXPECT_EQ(read_yaml(file).at("step").as_integer(), 10);
  wait_ms(1000);
  progress.show("T", 300, "\"K\"");
  progress.update(10);
  told = read_yaml(file);
  EXPECT_EQ(told.at("step").as_integer(), 20);
  EXPECT_NEAR(told.at("left_s").as_number() * told.at("steps_per_s").as_number(), 10, 1e-3);
  EXPECT_EQ(told.at("shown").as_text(), "T = 300 \"K\"");
  EXPECT_NEAR(told.at("written_unix_s").as_number(), std::time(nullptr), 60);
  progress.finish(20);
  EXPECT_EQ(read_yaml(file).at("step").as_integer(), 30);
  EXPECT_EQ(read_yaml(file).at("left_s").as_number(), 0);
  EXPECT_FALSE(std::filesystem::exists(file + ".tmp"));
}

TEST(Progress, that_cannot_be_written_stops_nothing) {
  Progress progress(false, true);
  progress.write_to("/nowhere/at/all/progress.json");
  EXPECT_NO_THROW(progress.start(1, 2));
  EXPECT_NO_THROW(progress.finish(2));
}

TEST(Progress, on_a_full_disk_keeps_the_file_before) {
  const Scratch scratch("full");
  const std::string file = scratch / "progress.json";
  Progress progress(false, true);
  progress.write_to(file);
  progress.start(1, 4);
  std::filesystem::create_symlink("/dev/full", file + ".tmp");
  progress.finish(4);
  EXPECT_FALSE(std::filesystem::is_symlink(file));
  EXPECT_EQ(read_yaml(file).at("step").as_integer(), 0);
}

}  // namespace
}  // namespace quintet
