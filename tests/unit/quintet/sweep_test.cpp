#include "apps/campaign/sweep.hpp"

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

TEST(sweep, all_combinations_the_last_key_fastest) {
  const auto points = sweep_points(parse_yaml("a: 1\nsweep: {t.x: [300 K, 320 K], n: [1, 2]}\n", "x"));
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0], (SweepPoint{"t.x=300 K", "n=1"}));
  EXPECT_EQ(points[1], (SweepPoint{"t.x=300 K", "n=2"}));
  EXPECT_EQ(points[3], (SweepPoint{"t.x=320 K", "n=2"}));
}

TEST(sweep, values_may_be_lists_and_quoted_texts) {
  const auto points = sweep_points(parse_yaml("sweep: {cells: [[8, 8], [16, 16]], name: ['1']}\n", "x"));
  for (const auto& setting : points[1]) {
    const auto equals = setting.find('=');
    const Tree value = parse_yaml(setting.substr(equals + 1), "y");
    if (setting.starts_with("cells")) {
      EXPECT_EQ(value.items().at(1).as_integer(), 16);
    }
    if (setting.starts_with("name")) {
      EXPECT_TRUE(value.quoted());
    }
  }
}

TEST(sweep, without_one_there_is_one_point) {
  EXPECT_EQ(sweep_points(parse_yaml("a: 1\n", "x")), std::vector<SweepPoint>(1));
}

TEST(sweep, what_is_no_list_of_values_is_refused_with_its_place) {
  for (const char* yaml :
       {"sweep: 3\n", "sweep: {}\n", "sweep: {a: 3}\n", "sweep: {a: []}\n", "sweep: [a]\n"}) {
    try {
      (void)sweep_points(parse_yaml(yaml, "x.yaml"));
      ADD_FAILURE() << yaml;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("x.yaml:1:"), 0U) << error.what();
    }
  }
}

TEST(sweep, millions_of_points_are_refused) {
  std::string values = "[0";
  for (int i = 1; i < 200; ++i) values += "," + std::to_string(i);
  values += "]";
  EXPECT_THROW((void)sweep_points(
                   parse_yaml("sweep: {a: " + values + ", b: " + values + ", c: " + values + "}\n", "x")),
               InputError);
}

TEST(sweep, the_rest_of_the_document_stays) {
  const Tree rest = without_sweep(parse_yaml("a: 1\nsweep: {a: [1]}\nb: 2\n", "x"));
  EXPECT_FALSE(rest.has("sweep"));
  EXPECT_EQ(rest.at("b").as_integer(), 2);
}

}  // namespace
}  // namespace quintet
