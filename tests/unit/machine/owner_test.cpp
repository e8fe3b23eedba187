#include "apps/quintet/owner/owner.hpp"

#include <gtest/gtest.h>

#include "io/config/schema.hpp"

namespace quintet {
namespace {

struct Inner {
  double length = 1;
};
void describe(Schema& schema, Inner& options) {
  schema.quantity("length", options.length, "m", "Length").required();
}

struct Outer {
  std::vector<Inner> parts;
  std::optional<Inner> extra;
  std::vector<std::pair<std::string, FormulaText>> constants;
  std::int64_t steps = 0;
};
void describe(Schema& schema, Outer& options) {
  schema.sections("parts", options.parts, "Parts");
  schema.section("extra", options.extra, "One more");
  schema.named_formulas("constants", options.constants, "Constants");
  schema.integer("steps", options.steps, "Steps").required();
}

std::vector<std::string> unknown(const std::string& yaml) {
  Outer options;
  return unknown_keys(parse_yaml(yaml, "x"), json_schema(described(options), "x"));
}
std::vector<std::string> missing(const std::string& yaml) {
  Outer options;
  return missing_keys(parse_yaml(yaml, "x"), json_schema(described(options), "x"));
}
using Names = std::vector<std::string>;

TEST(owner, a_file_whose_keys_are_all_known_fits) {
  const char* yaml = "steps: 3\nparts: [{length: 1 m}]\nextra: {length: 2 m}\nconstants: {any: 1, name: 2}\n";
  EXPECT_EQ(unknown(yaml), Names{});
  EXPECT_EQ(missing(yaml), Names{});
}

TEST(owner, unknown_keys_are_found_at_every_depth) {
  EXPECT_EQ(unknown("stepz: 3\nparts: [{length: 1 m}, {width: 2 m}]\nextra: {height: 2 m}\n"),
            (Names{"stepz", "parts.1.width", "extra.height"}));
}

TEST(owner, required_keys_that_are_not_there_are_found) {
  EXPECT_EQ(missing("parts: [{}]\nextra: null\n"), (Names{"steps", "parts.0.length"}));
}

}  // namespace
}  // namespace quintet
