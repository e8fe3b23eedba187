#include <chrono>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "apps/application/failure.hpp"
#include "apps/application/memory.hpp"
#include "apps/application/phases.hpp"
#include "apps/application/progress.hpp"

namespace quintet {
namespace {

void wait_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

TEST(Phases, nest_by_name_and_report_the_slowest_rank) {
  const Comm comm = Comm::world();
  Phases phases;
  for (int visit = 0; visit < 2; ++visit) {
    const auto outer = phases.timer("forces");
    const auto inner = phases.timer("model");
    wait_ms(comm.rank() == comm.size() - 1 ? 30 : 5);
  }
  if (comm.rank() == comm.size() - 1) const auto last = phases.timer("last rank only");

  const auto timings = phases.slowest_rank(comm);
  if (!comm.is_root()) {
    EXPECT_TRUE(timings.empty());
    return;
  }
  std::map<std::string, double> by_path(timings.begin(), timings.end());
  ASSERT_EQ(by_path.size(), 3u);
  EXPECT_EQ(by_path.count("last rank only"), 1u);
  EXPECT_GE(by_path["forces/model"], 0.06);
  EXPECT_GE(by_path["forces"], by_path["forces/model"]);
  EXPECT_EQ(timings.front().first, "forces");
}

TEST(Phases, know_the_longest_visit_at_any_depth) {
  Phases phases;
  for (const int milliseconds : {1, 20, 1}) {
    const auto outer = phases.timer("loop");
    const auto inner = phases.timer("checkpoint");
    wait_ms(milliseconds);
  }

  EXPECT_GE(phases.longest("checkpoint"), 0.02);
  EXPECT_LT(phases.longest("checkpoint"), 0.5);
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

}  // namespace
}  // namespace quintet
