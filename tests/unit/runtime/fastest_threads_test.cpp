#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "io/runtime/fastest_threads.hpp"

using namespace quintet;

namespace {

/// What a piece of work takes with n threads (ms), by a clock that only it moves, and the numbers that were
/// tried.
struct Work {
  std::vector<double> milliseconds;  ///< [n - 1]
  std::vector<double> processor{};   ///< [n - 1]; empty: as long
  int threads = 0, most_tried = 0;
  double wall = 0, used = 0;
  ThreadTimes run(int most, double patience_s = 20) {
    return fastest_threads(
        Comm::world(), most,
        [this](int n) {
          threads = n;
          most_tried = std::max(most_tried, n);
        },
        [this] {
          const auto n = static_cast<std::size_t>(threads) - 1;
          wall += 1e-3 * milliseconds.at(n);
          used += 1e-3 * (processor.empty() ? milliseconds : processor).at(n);
        },
        patience_s, {[this] { return wall; }, [this] { return used; }});
  }
};

}  // namespace

TEST(FastestThreads, all_are_taken_where_each_doubling_halves_the_time) {
  Work work{{40, 20, 14, 10, 7, 5}};

  const auto times = work.run(6);

  EXPECT_EQ(times.chosen, 6);
  EXPECT_EQ(work.threads, 6);           // and they are set
  ASSERT_EQ(times.seconds.size(), 4U);  // 1, 2, 4, 6
  EXPECT_NEAR(times.seconds[1].second, 0.02, 1e-12);
}

TEST(FastestThreads, one_is_taken_where_two_wait_for_each_other_and_no_more_are_tried) {
  Work work{{5, 20, 20, 20}};

  const auto times = work.run(4);

  EXPECT_EQ(times.chosen, 1);
  EXPECT_EQ(work.threads, 1);
  EXPECT_EQ(work.most_tried, 2);
  EXPECT_NE(times.in_words().find("1 thread ("), std::string::npos) << times.in_words();
}

TEST(FastestThreads, more_threads_must_gain_a_tenth) {
  Work work{{20, 19.5}};

  EXPECT_EQ(work.run(2).chosen, 1);
}

TEST(FastestThreads, one_core_is_no_choice) {
  Work work{{1}};

  EXPECT_EQ(work.run(1).chosen, 1);
  EXPECT_EQ(work.most_tried, 1);
}

TEST(FastestThreads, work_that_takes_long_gets_its_threads_too) {
  Work work{{80, 5}};

  EXPECT_EQ(work.run(2, 0).chosen, 2);
}

TEST(FastestThreads, a_rank_with_fewer_cores_chooses_for_all) {
  Work work{{40, 20, 14, 10}};
  const auto comm = Comm::world();

  const auto times = work.run(comm.rank() == 0 ? 2 : 4);

  EXPECT_LE(times.chosen, 2);
  EXPECT_EQ(work.most_tried, 2);
}

TEST(FastestThreads, threads_that_spin_are_not_worth_a_little_time) {
  Work work{{20, 16}, {5, 15}};  // a fifth faster, at three times the processor time

  const auto times = work.run(2);

  EXPECT_EQ(times.chosen, 1);
  EXPECT_NE(times.in_words().find("at 3 times the processor time"), std::string::npos) << times.in_words();
}

TEST(FastestThreads, threads_that_cost_just_less_than_twice_are) {
  Work work{{20, 16}, {5, 9.9}};

  EXPECT_EQ(work.run(2).chosen, 2);
}

TEST(FastestThreads, the_real_clock_moves) {
  const auto clock = ThreadClock::real();
  const double wall = clock.wall(), used = clock.processor();
  while (clock.processor() <= used) {
  }
  EXPECT_GT(clock.wall(), wall);
}
