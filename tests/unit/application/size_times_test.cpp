#include "apps/application/loop/size_times.hpp"
#include "apps/application/loop/timed_steps.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

using Size = std::vector<std::int64_t>;

/// The clock of these tests, which only steps move: a busy machine decides nothing.
double now = 0;
void take(double seconds) { now += seconds; }

/// Steps of 2 us a unit of work.
SizeSeries series(Size largest) {
  return {.key = "n", .unit = "units", .largest = std::move(largest), .make = [](const Size& size) {
            double work = 1;
            for (const auto n : size) work *= n;
            return SizedCase{.work = work, .step = [work] { take(2e-6 * work); }};
          }};
}

const SizeQuestion quick{.rounds = 2, .seconds = 0.01, .clock = [] { return now; }};

TEST(timed_steps, are_no_more_than_the_run_has) {
  for (const int of_run : {0, 1, 2, 3, 6, 7, 50}) {
    int n = 0;
    const auto times = time_steps([&] { ++n; }, 0, 5, 1000, of_run);
    EXPECT_EQ(n, std::clamp(of_run, 1, 6)) << of_run;  // five, and one that warms up
    EXPECT_EQ(times.n, of_run < 2 ? n : n - 1) << of_run;
  }
}

TEST(size_times, halve_the_largest_number_each_time) {
  EXPECT_EQ(halved({64, 32}), (Size{32, 32}));
  EXPECT_EQ(halved({32, 32}), (Size{16, 32}));
  EXPECT_EQ(halved({5, 1, 4}), (Size{3, 1, 4}));
  EXPECT_EQ(halved({2, 1}), (Size{1, 1}));
  EXPECT_EQ(halved({1, 1}), Size{});
  EXPECT_EQ(halved({}), Size{});
}

TEST(size_times, go_down_to_one_where_nothing_is_lost) {
  const Comm comm = Comm::world();
  const auto times = measure_sizes(comm, series({16}), quick);
  EXPECT_EQ(times.unit, "units");
  EXPECT_EQ(times.ranks, comm.size());
  EXPECT_EQ(times.end, "n: all are 1");
  ASSERT_EQ(times.sizes.size(), 5u);
  for (const auto& one : times.sizes) {
    ASSERT_EQ(one.step_s.size(), 2u);
    for (const double seconds : one.step_s) EXPECT_NEAR(seconds, 2e-6 * one.work, 1e-9 * one.work);
  }
}

TEST(size_times, end_behind_two_sizes_that_lose_most_of_it) {
  auto s = series({1024});
  s.make = [](const Size& size) {
    const double work = size[0];
    return SizedCase{.work = work, .step = [work] { take(2e-4 + 1e-6 * work); }};  // 2e-4 s whatever it is
  };
  const auto times = measure_sizes(Comm::world(), s, quick);
  EXPECT_EQ(times.end, "");
  // 1024 units take 1.22 ms, the best rate; 128 and 64 have 0.46 and 0.29 of it, 32 has 0.16.
  EXPECT_EQ(times.sizes.back().size, Size{32});
  const double before = seconds_now();
  EXPECT_LE(before, seconds_now()) << "the machine's own";
}

TEST(size_times, end_where_the_application_refuses_and_its_first_refusal_is_an_error) {
  auto s = series({8});
  const auto make = s.make;
  std::int64_t least = 4;
  s.make = [&, make](const Size& size) {
    QUINTET_CHECK(size[0] >= least, "{} are too few", size[0]);
    return make(size);
  };
  const auto times = measure_sizes(Comm::world(), s, quick);
  EXPECT_EQ(times.sizes.size(), 2u);
  EXPECT_EQ(times.end, "n=[2]: 2 are too few");
  least = 16;
  EXPECT_THROW((void)measure_sizes(Comm::world(), s, quick), InputError);
}

TEST(size_times, are_the_same_behind_json) {
  const SizeSeriesTimes times{.unit = "atoms",
                              .end = "why",
                              .ranks = 3,
                              .sizes = {{{4, 2}, 8, {1e-5, 2e-5}}, {{2, 2}, 4, {0.5e-5, 1e-5}}}};
  const auto again = size_times_of(parse_yaml(to_json(to_tree(times)), "x"));
  EXPECT_EQ(again.unit, "atoms");
  EXPECT_EQ(again.end, "why");
  EXPECT_EQ(again.ranks, 3);
  ASSERT_EQ(again.sizes.size(), 2u);
  EXPECT_EQ(again.sizes[1].size, (Size{2, 2}));
  EXPECT_EQ(again.sizes[1].work, 4);
  EXPECT_EQ(again.sizes[1].step_s, (std::vector<double>{0.5e-5, 1e-5}));
  EXPECT_THROW((void)size_times_of(parse_yaml("{a: 1}", "x")), InputError);
  EXPECT_THROW((void)size_times_of(parse_yaml("[1]", "x")), InputError);
}

}  // namespace
}  // namespace quintet
