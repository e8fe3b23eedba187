#include "apps/application/cli/input_hints.hpp"

#include <gtest/gtest.h>

#include <string>

#include "apps/application/cli/input_kind.hpp"
#include "apps/application/cli/usage_hints.hpp"
#include "io/config/tree.hpp"

using quintet::parse_yaml;
using quintet::with_place;

namespace {

const char* const text =
    "grid:\n  cells: [4, 8]\ndata:\n  crop: [1, 2]\n  files: [run.h5]\nfit_until: 1989-13-30\nsteps: 3\n"
    "variable: TEMP\nnames: [b, b]\n";

std::string placed(const std::string& message) { return with_place(message, parse_yaml(text, "in.yaml")); }

}  // namespace

TEST(InputHints, a_message_that_names_a_key_gets_its_place) {
  EXPECT_EQ(placed("fit_until: no date"), "in.yaml:6:12: fit_until: no date");
  EXPECT_EQ(placed("grid.cells.1: 8 is odd"), "in.yaml:2:14: grid.cells.1: 8 is odd");
  EXPECT_EQ(placed("grid.cells is not even"), "in.yaml:2:10: grid.cells is not even");
  // The nearest that the document has of a key that it does not give.
  EXPECT_EQ(placed("grid.upper: below the lower end").substr(0, 11), "in.yaml:2:3");
  EXPECT_EQ(placed("/a/b.h5: has 12 frames, but data.crop asks for 14").substr(0, 15), "in.yaml:4:9: /a");
}

TEST(InputHints, a_message_that_quotes_a_value_gets_its_place) {
  EXPECT_EQ(placed("x.nc: there is no variable 'TEMP'; it has 'sst'").substr(0, 20), "in.yaml:8:11: x.nc: ");
  EXPECT_EQ(placed("'x' or 'TEMP'"), "in.yaml:8:11: 'x' or 'TEMP'");
  // given twice, a number, no whole quotation
  for (const char* message : {"there is no 'b'", "there is no '3'", "an open 'TEMP", "''"})
    EXPECT_EQ(placed(message), message);
}

TEST(InputHints, a_message_about_a_file_gets_the_place_that_names_it) {
  for (const char* file : {"run.h5", "/a/b/run.h5"})
    EXPECT_EQ(placed(std::string(file) + ": is damaged"),
              std::string("in.yaml:5:11: ") + file + ": is damaged");
  for (const char* message : {"/a/rerun.h5: is damaged", "run.h5 is damaged", "run.h5/a: x", ": x"})
    EXPECT_EQ(placed(message), message);
  const auto tree = parse_yaml("a: ../c/x.dp\nb: [y.dp, y.dp]\n", "in.yaml");
  EXPECT_EQ(with_place("/d/c/x.dp: no", tree), "in.yaml:1:4: /d/c/x.dp: no");
  EXPECT_EQ(with_place("/d/y.dp: no", tree), "/d/y.dp: no");  // named twice
}

TEST(InputHints, a_message_about_something_else_stays_as_it_is) {
  for (const char* message :
       {"steps are few", "other.h5: is damaged", "data lacks a file", "in.yaml:2:3: grid.cells: odd",
        "--set grid.cells: grid.cells: odd", "", "grid", "Ends. grid.", "not.there: no"})
    EXPECT_EQ(placed(message), message);
}

TEST(InputHints, inputs_are_known_by_their_keys) {
  const auto commands = [](const std::string& keys) {
    return quintet::commands_that_read(parse_yaml(keys, "in.yaml"));
  };

  EXPECT_EQ(commands("{grid: 1, species: 2, field: 3, time: 4}"), std::vector<std::string>{"vlasov run"});
  EXPECT_EQ(commands("{slots: 1, stages: 2}"), std::vector<std::string>{"quintet campaign"});
  EXPECT_TRUE(commands("{a: 1, b: 2, time: 4}").empty());
  EXPECT_TRUE(commands("[1, 2]").empty());
}

TEST(UsageHints, words_left_over_are_put_behind_their_key) {
  using quintet::setting_meant;
  const std::vector<std::string> words = {"run", "a.yaml", "--set", "time.dt=2", "fs", "--quiet"};

  EXPECT_EQ(setting_meant({"time.dt=2"}, words, {"fs"}), "--set 'time.dt=2 fs'");
  EXPECT_EQ(setting_meant({"time.dt=2"}, words, {"a.yaml"}), "");
  EXPECT_EQ(setting_meant({"cells"}, {"--set", "cells", "=", "[4,8]"}, {"=", "[4,8]"}),
            "--set 'cells=[4,8]'");
  EXPECT_EQ(setting_meant({}, {"x"}, {}), "");
}
