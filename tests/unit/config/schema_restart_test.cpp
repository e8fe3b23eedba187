#include <gtest/gtest.h>

#include "io/config/schema_marks.hpp"
#include "tests/unit/config/sample_options.hpp"

using quintet::Change;
using quintet::changes_since;
using quintet::described;
using quintet::OnRestart;
using quintet::options_tree;
using quintet::parse_yaml;
using quintet::Schema;
using quintet::Tree;

namespace restart_sample {

struct Species {
  std::string name = "electrons";
  double charge = -1;
};

inline void describe(Schema& schema, Species& o) {
  schema.text("name", o.name, "Name");
  schema.number("charge", o.charge, "Charge").on_restart(OnRestart::physics);
}

struct Ramp {
  double to = 300;
};
inline void describe(Schema& schema, Ramp& o) { schema.quantity("to", o.to, "K", "Target"); }

struct Settings {
  sample::Time time;
  std::vector<Species> species = {{}};
  std::optional<Ramp> ramp;
  std::vector<std::string> models;
  std::vector<std::pair<std::string, quintet::FormulaText>> constants;
  quintet::FormulaText end = "10";
  std::vector<double> box = {1, 2};
  double friction = 1;
  std::vector<Species> set;
  std::vector<std::string> names;
};

inline void describe(Schema& schema, Settings& o) {
  schema.sections("set", o.set, "Species in any order");
  schema.texts("names", o.names, "Names in any order");
  schema.check(quintet::AnyOrder{"set"});
  schema.check(quintet::AnyOrder{"names"});
  schema.section("time", o.time, "Steps").on_restart("steps", o.ramp ? OnRestart::physics : OnRestart::free);
  schema.sections("species", o.species, "Particles").on_restart(OnRestart::fixed);
  schema.section("ramp", o.ramp, "A ramp");
  schema.texts("models", o.models, "Files").existing_file();
  schema.named_formulas("constants", o.constants, "Names");
  schema.formula("end", o.end, "End").on_restart(OnRestart::free);
  schema.quantities("box", o.box, "angstrom", "Box").on_restart(OnRestart::fixed);
  schema.number("friction", o.friction, "A key that younger programs know");
}

inline Settings parse(const std::string& text) {
  Settings run;
  parse_options(parse_yaml(text, "run.yaml"), described(run));
  return run;
}

/// What a restart with the options `now` of a run with the options `then` finds.
std::vector<Change> changes(const std::string& then, const std::string& now) {
  Settings former = parse(then), run = parse(now);
  return changes_since(options_tree(described(former)), described(run));
}

/// "key rule from -> to", one a line.
std::string text(const std::vector<Change>& changes) {
  std::string text;
  const char* rules[] = {"free", "physics", "fixed"};
  for (const auto& change : changes)
    text += fmt::format("{} {} {} -> {}\n", change.key, rules[static_cast<int>(change.rule)], change.from,
                        change.to);
  return text;
}

}  // namespace restart_sample

using namespace restart_sample;

TEST(SchemaRestart, values_are_compared_not_texts) {
  EXPECT_EQ(text(changes("time: {dt: 0.5 fs, steps: 1000}\nend: 2*pi\nbox: [10 angstrom, 2 nm]",
                         "time:\n  steps: 1e3\n  dt: 0.0005 ps\nend: 2 * pi\nbox: 1 2 nm")),
            "");
  EXPECT_EQ(text(changes("time: {dt: 0.5 fs, steps: 10}", "time: {dt: 0.25 fs, steps: 10}")),
            "time.dt physics 0.0005 ps -> 0.00025 ps\n");
  EXPECT_EQ(text(changes("{time: {steps: 1}, end: 3}", "{time: {steps: 1}, end: 3.0}")), "");
  EXPECT_EQ(text(changes("{time: {steps: 1}, constants: {a: 1, b: 2*a}}",
                         "{time: {steps: 1}, constants: {b: 2*a, a: 1.0}}")),
            "");
}

TEST(SchemaRestart, each_key_has_a_rule_and_undeclared_ones_change_the_physics) {
  EXPECT_EQ(
      text(changes("{time: {steps: 1}}", "{time: {steps: 2}, end: 20, friction: 2, box: 1 3 angstrom}")),
      "time.steps free 1 -> 2\nend free 10 -> 20\nbox fixed [1 angstrom, 2 angstrom] -> [1 angstrom, 3 "
      "angstrom]\nfriction physics 1 -> 2\n");
  EXPECT_EQ(text(changes("{time: {steps: 1}}", "{time: {steps: 1}, species: [{name: ions, charge: 1}]}")),
            "species.0.name fixed electrons -> ions\nspecies.0.charge physics -1 -> 1\n");
  EXPECT_EQ(text(changes("{time: {steps: 1}}", "{time: {steps: 1}, species: [{}, {name: ions}]}")),
            "species fixed 1 section -> 2 sections\n");
  EXPECT_EQ(text(changes("{time: {steps: 1}, constants: {a: 1}}", "{time: {steps: 1}, constants: {a: 2}}")),
            "constants physics a: 1 -> a: 2\n");
}

TEST(SchemaRestart, where_order_means_nothing_only_what_is_in_a_list_counts) {
  const std::string ab = "set: [{name: a, charge: 1}, {name: b, charge: 2}]",
                    ba = "set: [{name: b, charge: 2}, {name: a, charge: 1}]",
                    bc = "set: [{name: b, charge: 2}, {name: a, charge: 3}]";
  const auto with = [](const std::string& text) { return "{time: {steps: 1}, " + text + "}"; };
  EXPECT_EQ(text(changes(with(ab), with(ba))), "");
  EXPECT_EQ(text(changes(with(ab), with(bc))), "set.1.charge physics 1 -> 3\n");
  EXPECT_EQ(text(changes(with("set: [{name: a}, {name: a}]"), with("set: [{name: a}, {name: b}]"))),
            "set.1.name physics a -> b\n");
  EXPECT_EQ(text(changes(with(ab), with("set: [{name: b, charge: 2}]"))),
            "set physics 2 sections -> 1 section\n");
  EXPECT_EQ(text(changes(with("names: [a, b, c]"), with("names: [c, a, b]"))), "");
  EXPECT_NE(text(changes(with("names: [a, b]"), with("names: [a, c]"))), "");
  EXPECT_NE(text(changes(with("names: [a, b]"), with("names: [a, b, b]"))), "");
  EXPECT_NE(text(changes(with("species: [{name: a}, {name: b}]"), with("species: [{name: b}, {name: a}]"))),
            "");
}

TEST(SchemaRestart, a_rule_can_depend_on_other_keys) {
  EXPECT_EQ(text(changes("{time: {steps: 1}, ramp: {}}", "{time: {steps: 2}, ramp: {}}")),
            "time.steps physics 1 -> 2\n");
  EXPECT_EQ(text(changes("{time: {steps: 1}, ramp: {}}", "{time: {steps: 1}}")),
            "ramp physics given -> absent\n");
  EXPECT_EQ(text(changes("{time: {steps: 1}}", "{time: {steps: 1}, ramp: {to: 4 K}}")),
            "ramp physics absent -> given\n");
}

TEST(SchemaRestart, a_key_the_earlier_program_did_not_know_had_its_default) {
  Settings run = parse("{time: {steps: 1}}"), other = parse("{time: {steps: 1}, friction: 3}");
  const Tree former = parse_yaml("{time: {dt: 0.0005 ps, steps: 1}, gone: 7}", "old");
  EXPECT_EQ(text(changes_since(former, described(run))), "");
  EXPECT_EQ(text(changes_since(former, described(other))), "friction physics 1 -> 3\n");
}

TEST(SchemaRestart, files_are_listed_with_their_keys) {
  Settings run = parse("{time: {steps: 1}}");
  run.models = {"/a.dp", "/b.dp"};
  const auto files = input_files(described(run));
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1].key, "models");
  EXPECT_EQ(files[1].path, "/b.dp");
  EXPECT_EQ(files[1].rule, OnRestart::physics);
  Settings former = run;
  former.models.pop_back();
  const auto found = changes_since(options_tree(described(former)), described(run));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is_file);
}

TEST(SchemaRestart, rules_are_part_of_what_is_printed) {
  Settings run = parse("{time: {steps: 1}}");
  EXPECT_NE(print_options(described(run)).find("restart: fixed"), std::string::npos);
  EXPECT_NE(reference_page(described(run), "run").find("| fixed | Box |"), std::string::npos);
  EXPECT_NE(to_json(json_schema(described(run), "run")).find("\"x-on-restart\": \"fixed\""),
            std::string::npos);
}
