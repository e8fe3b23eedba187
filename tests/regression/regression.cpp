#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "io/config/tree.hpp"
#include "tests/support/scratch.hpp"

/// Runs each case of an application's folder and compares its summary.json with expected.yaml (see
/// README.md).
namespace quintet {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(REGRESSION_FOLDER))
    if (fs::exists(entry.path() / "expected.yaml")) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Regression : public testing::TestWithParam<std::string> {};

TEST_P(Regression, SummaryIsAsExpected) {
  const std::string folder = std::string(REGRESSION_FOLDER) + "/" + GetParam();
  const Tree expected = read_yaml(folder + "/expected.yaml");
  const Scratch scratch("regression_" + GetParam());

  const std::string command = std::string(REGRESSION_PROGRAM) + " " + expected.at("command").as_text() +
                              " '" + folder + "/input.yaml' --quiet --output '" + scratch.path() + "/run'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const Tree summary = read_yaml(scratch / "run/summary.json");

  for (const auto& [key, entry] : expected.at("values").entries()) {
    const double value = entry.at("value").as_number(), tolerance = entry.at("tolerance").as_number();
    EXPECT_FALSE(entry.at("why").as_text().empty()) << key;
    ASSERT_TRUE(summary.has(key)) << key;
    EXPECT_NEAR(summary.at(key).as_number(), value, tolerance * std::abs(value))
        << key << ": " << entry.at("why").as_text();
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Regression, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace quintet
