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

std::string file_of(const std::string& name, const std::string& file) {
  return std::string(REGRESSION_FOLDER) + "/" + name + "/" + file;
}

/// Runs a case in a folder, as runs/NAME.
std::string command_of(const std::string& name, const std::string& where) {
  const Tree expected = read_yaml(file_of(name, "expected.yaml"));
  return "cd '" + where + "' && '" + REGRESSION_PROGRAM + "' " + expected.at("command").as_text() + " '" +
         file_of(name, "input.yaml") + "' --quiet --output 'runs/" + name + "'";
}

class Regression : public testing::TestWithParam<std::string> {};

TEST_P(Regression, SummaryIsAsExpected) {
  const Tree expected = read_yaml(file_of(GetParam(), "expected.yaml"));
  const Scratch scratch("regression_" + GetParam());

  // Cases that leave what this one reads, in their order; it finds that in runs/NAME of the working folder.
  auto names = expected.has("before") ? expected.at("before").items() : Tree::List{};
  names.push_back(Tree::text(GetParam()));
  for (const auto& name : names) {
    const auto command = command_of(name.as_text(), scratch.path());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  const Tree summary = read_yaml(scratch / ("runs/" + GetParam() + "/summary.json"));

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
