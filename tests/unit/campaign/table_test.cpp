#include "apps/campaign/table.hpp"

#include <gtest/gtest.h>

namespace quintet::campaign {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Lines = std::vector<std::string>;

const Rows rows = {{"", "first", "second", "third"}, {"steps", "100", "200", "300"}, {"rmse", "", "", "0.5"}};

TEST(Table, one_block_holds_all_columns_that_just_fit) {
  const auto whole = aligned(rows);
  EXPECT_EQ(aligned_within(whole[0].size(), rows), whole);
}

TEST(Table, a_column_that_does_not_fit_by_one_character_follows_below) {
  const auto whole = aligned(rows);
  EXPECT_EQ(aligned_within(whole[0].size() - 1, rows), (Lines{"       first  second", "steps  100    200", "",
                                                              "       third", "steps  300", "rmse   0.5"}));
}

TEST(Table, a_column_wider_than_the_terminal_stands_alone) {
  EXPECT_EQ(aligned_within(1, {{"", "a"}, {"message", "too long for it"}}),
            (Lines{"         a", "message  too long for it"}));
}

}  // namespace
}  // namespace quintet::campaign
