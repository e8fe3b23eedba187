#include "apps/quintet/bench/result.hpp"

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/parallel/comm.hpp"

using namespace quintet;
using namespace quintet::bench;
using tasks::Grain;

namespace {

/// Tasks of 1 s of work and `overhead` seconds of other things, for each unit of size.
Grain grain_of(std::int64_t size, double overhead) {
  const double work = size;
  return {.size = size, .task_s = work + overhead, .rate = work / (work + overhead)};
}

/// Rounds whose overheads are those given, over sizes 1 ... 64; machines that tests run on are busy.
Result searched(const std::vector<double>& overheads) {
  std::size_t call = 0;
  const auto measure = [&](std::int64_t size) { return grain_of(size, overheads[call++ / 7]); };
  return search(
      Comm::self(), overheads.size(), true,
      [&] {
        std::vector<Grain> grains;
        for (std::int64_t size = 1; size <= 64; size *= 2) grains.push_back(measure(size));
        return grains;
      },
      measure);
}

}  // namespace

TEST(MetgSearch, keeps_the_best_of_each_size_and_the_answer_of_each_round) {
  const auto result = searched({4, 2, 3});
  ASSERT_EQ(result.of_rounds.size(), 3u);
  EXPECT_LT(result.of_rounds[1], result.of_rounds[2]);
  EXPECT_LT(result.of_rounds[2], result.of_rounds[0]);
  for (const auto& grain : result.grains) EXPECT_EQ(grain.task_s, static_cast<double>(grain.size) + 2);
  EXPECT_EQ(result.grains.back().efficiency, 1);
}

TEST(MetgSearch, judges_rounds_that_were_measured_together_alike) {
  const auto one_by_one = searched({4, 2, 3});
  const auto together = judge(Comm::self(), true, [] {
    std::vector<std::vector<Grain>> rounds;
    for (const double overhead : {4.0, 2.0, 3.0}) {
      rounds.emplace_back();
      for (std::int64_t size = 1; size <= 64; size *= 2) rounds.back().push_back(grain_of(size, overhead));
    }
    return rounds;
  });
  EXPECT_EQ(together.of_rounds, one_by_one.of_rounds);
  ASSERT_EQ(together.grains.size(), one_by_one.grains.size());
  for (std::size_t i = 0; i < together.grains.size(); ++i) {
    EXPECT_EQ(together.grains[i].task_s, one_by_one.grains[i].task_s);
    EXPECT_EQ(together.grains[i].efficiency, one_by_one.grains[i].efficiency);
  }
  ASSERT_EQ(together.rounds.size(), 3u);
  EXPECT_EQ(together.rounds[0].back().efficiency, 1);
}

TEST(MetgSearch, writes_what_plans_read) {
  Tree tree = Tree::map();
  add_to(tree, searched({4, 2}));
  EXPECT_LE(tree.at("metg_least_us").as_number(), tree.at("metg_us").as_number());
  EXPECT_GT(tree.at("metg_greatest_us").as_number(), tree.at("metg_us").as_number());
  EXPECT_EQ(tree.at("efficiency").items().size(), 7u);
  EXPECT_EQ(tree.at("publishable").as_boolean(), tree.at("doubt").as_text().empty());
}

TEST(MetgSearch, says_where_the_answer_lies_below_all_sizes) {
  const auto result = searched({0.1});
  EXPECT_NE(metg_text(result).find("below"), std::string::npos);
  Tree tree = Tree::map();
  add_to(tree, result);
  EXPECT_FALSE(tree.has("metg_us"));
}
