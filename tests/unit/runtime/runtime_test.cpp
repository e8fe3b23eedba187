#include <algorithm>
#include <cfenv>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

using namespace quintet;

namespace {

int no_arguments = 0;
char** no_argv = nullptr;

/// A subsystem that writes down when it starts and stops.
Subsystem recorded(const std::string& name, std::vector<std::string>& events) {
  return {name,
          [&events, name](const Comm&, int threads) {
            events.push_back(name + " up " + std::to_string(threads));
          },
          [&events, name] { events.push_back(name + " down"); }};
}

std::string threads_error(int requested, int cores, int ranks) {
  try {
    static_cast<void>(choose_threads(requested, cores, ranks));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST(Runtime, denormals_count_as_zero_in_it_and_in_threads_started_later) {
  const auto half_of_the_smallest = [] {
    const volatile float smallest = std::numeric_limits<float>::min();
    return smallest / 2;
  };
  const auto denormal_times_two = [] {
    const volatile double denormal = std::numeric_limits<double>::min() / 4;
    return denormal * 2;
  };
  std::fesetenv(FE_DFL_ENV);  // as a program begins; the test's own runtime has been up
  EXPECT_GT(half_of_the_smallest(), 0);
  Runtime runtime(no_arguments, no_argv, 1, {});
  EXPECT_EQ(half_of_the_smallest(), 0);
  EXPECT_EQ(denormal_times_two(), 0);
  float there = 1;
  std::thread([&] { there = half_of_the_smallest(); }).join();
  EXPECT_EQ(there, 0);
}

TEST(Runtime, subsystems_stop_in_reverse_order) {
  std::vector<std::string> events;

  { Runtime runtime(no_arguments, no_argv, 1, {recorded("a", events), recorded("b", events)}); }

  EXPECT_EQ(events, (std::vector<std::string>{"a up 1", "b up 1", "b down", "a down"}));
}

TEST(Runtime, failure_of_a_start_on_one_rank_stops_what_was_started_on_all) {
  const auto comm = Comm::world();
  std::vector<std::string> events;
  const Subsystem failing{"glass",
                          [](const Comm& comm, int) {
                            if (comm.rank() == comm.size() - 1) throw InputError("glass broke");
                          },
                          [&] { events.push_back("glass down"); }};
  std::string message;

  try {
    Runtime runtime(no_arguments, no_argv, 1, {recorded("a", events), failing, recorded("c", events)});
  } catch (const Error& error) {
    message = error.what();
  }

  std::vector<std::string> expected{"a up 1", "a down"};
  const bool started = comm.rank() != comm.size() - 1;
  EXPECT_EQ(message, "glass broke") << "on all ranks";
  if (started) expected.insert(expected.begin() + 1, "glass down");
  EXPECT_EQ(events, expected) << "c never starts";
}

TEST(Runtime, describes_itself_on_one_line) {
  Runtime runtime(no_arguments, no_argv, 1, {{"lib 1.2", [](const Comm&, int) {}, {}}});

  const auto text = runtime.description();

  const int n_ranks = runtime.comm().size();
  EXPECT_NE(
      text.find(std::to_string(n_ranks) + (n_ranks == 1 ? " rank x 1 thread (" : " ranks x 1 thread (")),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("Kokkos "), std::string::npos) << text;
  EXPECT_NE(text.find(", lib 1.2, BLAS: "), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(Threads, default_shares_the_cores_of_the_node_among_its_ranks) {
  EXPECT_EQ(choose_threads(0, 8, 2).per_rank, 4);
  EXPECT_EQ(choose_threads(0, 7, 2).per_rank, 3);
  EXPECT_EQ(choose_threads(0, 2, 3).per_rank, 1) << "at least one";
  EXPECT_EQ(choose_threads(0, 8, 2).cores_on_node, 8);
  EXPECT_EQ(choose_threads(4, 8, 2).per_rank, 4) << "all cores may be asked for";
  EXPECT_EQ(choose_threads(1, 2, 3).per_rank, 1) << "one thread a rank is never refused";
}

TEST(Threads, more_than_the_cores_are_refused_with_the_way_out) {
  const auto message = threads_error(5, 8, 2);

  EXPECT_NE(message.find("2 ranks x 5 threads on this node are more than the 8 cores"), std::string::npos)
      << message;
  EXPECT_NE(message.find("Ask for 4 or fewer a rank"), std::string::npos) << message;
  EXPECT_NE(message.find("slot:PE=5"), std::string::npos) << message;
}

TEST(Threads, negative_number_is_refused) {
  EXPECT_NE(threads_error(-1, 8, 1).find("-1 threads were asked for"), std::string::npos);
}

TEST(Threads, request_beyond_the_cores_stops_the_runtime_on_all_ranks) {
  EXPECT_THROW(Runtime(no_arguments, no_argv, 1000000, {}), InputError);
}

TEST(Process, age_grows_as_the_clock_does) {
  const double before = seconds_since_start();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double passed = seconds_since_start() - before;

  EXPECT_GE(before, 0.0);
  EXPECT_LT(before, 300.0) << "counts from the start of the process, not of the machine";
  EXPECT_GE(passed, 0.05);
  EXPECT_LT(passed, 30.0);
}

TEST(Process, peak_memory_follows_an_allocation) {
  const double before = peak_memory_mb();
  constexpr std::size_t n_bytes = 64'000'000;
  const auto block = std::make_unique<char[]>(n_bytes);
  std::memset(block.get(), 1, n_bytes);

  EXPECT_GT(before, 1.0);
  EXPECT_GE(peak_memory_mb(), std::max(before, 64.0));
  EXPECT_LT(peak_memory_mb(), before + 100.0);
}
