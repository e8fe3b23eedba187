#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/config/sample_options.hpp"

using quintet::InputError;
using quintet::parse_yaml;
using quintet::to_json;
using quintet::to_yaml;
using quintet::Tree;
using sample::message_of;

namespace {

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
}

Tree parsed(const std::string& text) { return parse_yaml(text, "in.yaml"); }
std::string compact(const std::string& text) { return to_json(parsed(text), 0); }

}  // namespace

TEST(Tree, broken_json_names_line_column_and_what_was_expected) {
  const auto message = [](const std::string& text) {
    return message_of([&] { static_cast<void>(parse_yaml(text, "in.json")); });
  };
  EXPECT_EQ(message("{\"a\": [1, -2.5e-3, true, null, \"x\\\"y\", NaN, -Infinity], \"b\": {}, \"c\": []}"),
            "");
  EXPECT_EQ(message("{\n \"a\": 1\n \"b\": 2\n}"),
            "in.json:3:2: expected ',' or '}' behind the value of 'a', found '\"' (not valid JSON)");
  expect_contains(message("{\"a\": [1, 2}"),
                  "in.json:1:12: expected ',' or ']' behind a value of the list, found '}'");
  expect_contains(message("{\"a\": 1,\n}"), "in.json:2:1: expected a key in double quotes, found '}'");
  expect_contains(message("{\"a\" 1}"), "expected ':' behind the key 'a', found '1'");
  expect_contains(message("{\"a\": 'x'}"), "texts are in double quotes");
  expect_contains(message("{\"a\": yes}"),
                  "expected the value of 'a', found 'yes'; texts are in double quotes");
  expect_contains(message("{\"a\": \"x}\n"), "in.json:1:7: the text that begins here has no closing");
  expect_contains(message("{\"a\": 1."), "in.json:1:7: the number that begins here is not complete");
  expect_contains(message("{\"a\": 1"), "found the end of the file");
  expect_contains(message("{} {}"), "expected the end of the text");
  expect_contains(message(std::string(100000, '[')), "more than 200 lists");
}

TEST(Tree, reads_scalars_lists_and_maps_in_order) {
  const auto tree = parsed("b: 1.5\na: [1, two, null, ~]\nc:\n  d: yes\n  e: 'quoted'\n");

  EXPECT_EQ(tree.entries()[0].first, "b");
  EXPECT_EQ(tree.at("b").as_number(), 1.5);
  EXPECT_EQ(tree.at("a").items()[0].as_integer(), 1);
  EXPECT_EQ(tree.at("a").items()[1].as_text(), "two");
  EXPECT_TRUE(tree.at("a").items()[2].is_null());
  EXPECT_TRUE(tree.at("a").items()[3].is_null());
  EXPECT_TRUE(tree.at("c").at("d").as_boolean());
  EXPECT_TRUE(tree.at("c").at("e").quoted());
  EXPECT_FALSE(tree.has("x"));
  EXPECT_TRUE(parsed("").is_null());
}

TEST(Tree, knows_the_place_of_values_and_keys) {
  const auto tree = parsed("a: 1\nlist:\n  - x\n  - {y: 2}\n");

  EXPECT_EQ(tree.at("a").location().text(), "in.yaml:1:4");
  EXPECT_EQ(tree.at("list").key_location().text(), "in.yaml:2:1");
  EXPECT_EQ(tree.at("list").items()[0].location().text(), "in.yaml:3:5");
  EXPECT_EQ(tree.at("list").items()[1].at("y").location().text(), "in.yaml:4:9");
}

TEST(Tree, integers_may_be_written_as_whole_numbers) {
  EXPECT_EQ(parsed("1e6").as_integer(), 1000000);
  EXPECT_EQ(parsed("+7").as_integer(), 7);
  EXPECT_EQ(parsed("-9223372036854775808").as_integer(), std::numeric_limits<std::int64_t>::min());
  for (const char* bad : {"1.5", "1e300", "9223372036854775808", "10_000", "0x10", "x", "'7'", "[7]", "null"})
    EXPECT_THROW((void)parsed(bad).as_integer(), InputError) << bad;
}

TEST(Tree, numbers_are_finite) {
  EXPECT_EQ(parsed("-1.5e-3").as_number(), -1.5e-3);
  EXPECT_EQ(parsed("+.5").as_number(), 0.5);
  for (const char* bad : {".nan", ".inf", "inf", "nan", "1e999", "1.5x", "1,5", "- 1", "{}"})
    EXPECT_THROW((void)parsed(bad).as_number(), InputError) << bad;
}

TEST(Tree, type_errors_name_place_and_finding) {
  EXPECT_EQ(message_of([] { (void)parsed("a: abc").at("a").as_number(); }),
            "in.yaml:1:4: expected a finite number, found the text 'abc'");
  EXPECT_EQ(message_of([] { (void)parsed("a: [1, 2]").at("a").as_text(); }),
            "in.yaml:1:4: expected text, found a list of 2");
  EXPECT_EQ(message_of([] { (void)parsed("a: 2").at("a").as_boolean(); }),
            "in.yaml:1:4: expected true or false, found the number 2");
  EXPECT_EQ(message_of([] { (void)parsed("steps: 2").at("stesp"); }),
            "in.yaml:1:1: missing key 'stesp'; did you mean 'steps'?");
}

TEST(Tree, duplicate_keys_are_all_reported) {
  const auto message = message_of([] { (void)parsed("a: 1\nb: 2\na: 3\nc: {d: 1, d: 2}\n"); });

  EXPECT_EQ(message,
            "in.yaml:3:1: key 'a' is given twice, first in line 1; keep one of them\n"
            "in.yaml:4:11: key 'd' is given twice, first in line 4; keep one of them");
}

TEST(Tree, syntax_errors_name_the_place) {
  for (const char* bad : {"a: [1, 2", "a: 'x", "a: b: c", "{a: 1}}", "a: 1\n---\nb: 2\n", "a: !custom 3",
                          "? [a]\n: b", "*x", "a: &x [*x]", "\t- a", "{a: 1} b"})
    expect_contains(message_of([&] { (void)parsed(bad); }), "in.yaml:");
}

TEST(Tree, hostile_depth_and_aliases_end_in_an_error) {
  EXPECT_THROW((void)parsed(std::string(100000, '[')), InputError);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const auto before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += before + (k < 9 ? ", " : "]\n");
  }
  expect_contains(message_of([&] { (void)parsed(bomb); }), "aliases repeat more than");
  // Few values, but of many bytes.
  std::string long_text = "a: &x '" + std::string(100000, 'y') + "'\nb: [";
  for (int i = 0; i < 2000; ++i) long_text += "*x, ";
  expect_contains(message_of([&] { (void)parsed(long_text + "1]"); }), "aliases repeat more than 64 MB");
  // Each anchor keeps all that lies within it.
  std::string anchors = "a: ";
  for (int i = 0; i < 90; ++i) anchors += "&a" + std::to_string(i) + " [";
  anchors += "'" + std::string(1000000, 'y') + "'" + std::string(90, ']');
  expect_contains(message_of([&] { (void)parsed(anchors); }), "anchors and aliases repeat more than");
  expect_contains(message_of([&] { (void)parsed("a: " + std::string(120, '[') + std::string(120, ']')); }),
                  "more than 100 deep");
}

TEST(Tree, aliases_are_copies) {
  EXPECT_EQ(compact("a: &x {b: 1}\nc: *x\n"), R"({"a": {"b": 1}, "c": {"b": 1}})");
}

TEST(Tree, json_is_strictly_valid) {
  EXPECT_EQ(compact("[1, 1.0, +2, .5, 3., 007, 1e5, true, FALSE, null, yes, '1', \"tr\\nue\", abc]"),
            R"([1, 1.0, 2, 0.5, 3, 7, 1e5, true, false, null, "yes", "1", "tr\nue", "abc"])");
  EXPECT_EQ(to_json(Tree::number(std::nan("")), 0), "null");
  EXPECT_EQ(to_json(Tree::number(-std::numeric_limits<double>::infinity()), 0), "null");
  EXPECT_EQ(to_json(Tree::scalar("a\"b\\c\t\x01\x7f", true), 0), R"("a\"b\\c\t\u0001\u007f")");
  EXPECT_EQ(to_json(Tree::scalar("\xff\xc3\xa9\xed\xa0\x80", true), 0),
            "\"\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(to_json(Tree::list(), 1), "[]");
  EXPECT_EQ(to_json(parsed("{a: [1, {b: 2}]}"), 2),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ]\n}");
}

TEST(Tree, numbers_are_written_shortest_and_read_back_bitwise) {
  EXPECT_EQ(Tree::number(0.1).as_text(), "0.1");
  EXPECT_EQ(Tree::number(1.0 / 3.0).as_text(), "0.3333333333333333");
  for (const double value : {0.1, 1.0 / 3.0, 1e300, 5e-324, -0.0, 123456789.123456789, 1e22, 2.0})
    EXPECT_EQ(parse_yaml(to_json(Tree::number(value), 0), "x").as_number(), value);
}

TEST(Tree, text_stays_text) {
  for (const char* word : {"42",          "1e5",   "true", "no",      "null", "",    "~",        ".nan",
                           "nve",         "a b",   "- x",  "a: b",    "#c",   "[x",  "00:30:00", "tab\there",
                           "line\nbreak", "\"q\"", "it's", " space ", "é",    "...", "---",      "/a/b.yaml",
                           "*x",          "&x",    "-",    "?",       "!t",   "%d",  "@a",       "`b",
                           "a #b",        "x:",    ">",    "|",       "-1",   "=",   "<<"}) {
    const auto tree = Tree::map({{"key", Tree::list({Tree::text(word)})}, {"k2", Tree::text(word)}});
    const auto again = parsed(to_yaml(tree));
    EXPECT_EQ(again.at("k2").as_text(), word);
    EXPECT_EQ(again.at("key").items()[0].as_text(), word);
    EXPECT_EQ(parsed(to_json(tree)).at("k2").as_text(), word);
    EXPECT_EQ(to_json(again), to_json(tree)) << to_yaml(tree);
  }
}

TEST(Tree, yaml_reads_back_to_the_same_document) {
  const auto tree = parsed(
      "a: {b: [1, 2, [3, {c: d}]], e: {}, f: []}\ng: [[1, 2], [3, 4]]\nh: [{i: 1, j: {k: [1, {l: ~}]}}, [{m: "
      "1}], n]\n"
      "'odd: key': 1\n");

  const auto text = to_yaml(tree);

  EXPECT_EQ(to_json(parsed(text)), to_json(tree)) << text;
  EXPECT_EQ(to_yaml(parsed(text)), text);
}

TEST(Tree, json_of_a_model_reads_fast) {
  Tree layers = Tree::list();
  for (int i = 0; i < 1200; ++i)
    layers.append(Tree::map({{"@class", Tree::text("Layer")},
                             {"w", Tree::list({Tree::number(0.1 * i), Tree(), Tree::boolean(true)})},
                             {"text", Tree::scalar("a\"b\\c/\n", true)}}));
  const auto text = to_json(Tree::map({{"model", layers}}), 0);
  ASSERT_GT(text.size(), 80000u);

  const auto start = std::clock();  // the processor's time, of which others take none
  const auto tree = parse_yaml(text, "model.dp");
  const auto seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;

  EXPECT_EQ(to_json(tree, 0), text);
  EXPECT_LT(seconds, 1.0);  // takes about 0.03 s; the bound only has to catch a quadratic reader
}

TEST(Tree, json_without_spaces_and_with_escapes_is_read) {
  const auto tree = parsed(R"({"a":1,"b":[true,null,-2.5e-3],"c":{"d":"x\/y\u00e9\"\\"}})");

  EXPECT_EQ(tree.at("b").items()[2].as_number(), -2.5e-3);
  EXPECT_EQ(tree.at("c").at("d").as_text(), "x/y\xc3\xa9\"\\");
}

TEST(Tree, paths_set_nested_values) {
  auto tree = parsed("a: {b: 1}\nlist: [{x: 1}, {x: 2}]\n");

  tree.set_path("a.b", Tree::integer(5));
  tree.set_path("new.deep.key", Tree::text("v"));
  tree.set_path("list.1.x", Tree::integer(7));

  EXPECT_EQ(to_json(tree, 0),
            R"({"a": {"b": 5}, "list": [{"x": 1}, {"x": 7}], "new": {"deep": {"key": "v"}}})");
}

TEST(Tree, bad_paths_are_input_errors) {
  auto tree = parsed("a: 1\nlist: [1]\n");
  const auto value = parse_yaml("3", "--set");

  EXPECT_EQ(message_of([&] { tree.set_path("a.b", value); }),
            "--set: 'a' is the number 1 at in.yaml:1:4 and has no key 'b'");
  EXPECT_EQ(message_of([&] { tree.set_path("list.1", value); }),
            "--set: in 'list.1', '1' is no element of a list of 1; elements are numbered from 0");
  EXPECT_THROW(tree.set_path("", value), InputError);
  EXPECT_THROW(tree.set_path("a..b", value), InputError);
  EXPECT_THROW(tree.set_path("list.x", value), InputError);
  EXPECT_EQ(to_json(tree, 0), R"({"a": 1, "list": [1]})");
}

TEST(Tree, text_files_are_replaced_whole) {
  const Scratch scratch("tree");
  const auto path = scratch / "a.txt";

  quintet::write_text_file(path, "old");
  quintet::write_text_file(path, "new: 1\n");

  EXPECT_EQ(quintet::read_yaml(path).at("new").as_integer(), 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
  EXPECT_THROW(quintet::write_text_file(scratch / "no/such/folder", "x"), quintet::ResourceError);
}

TEST(Tree, unreadable_files_are_input_errors) {
  const Scratch scratch("tree_missing");

  expect_contains(message_of([&] { (void)quintet::read_yaml(scratch / "no.yaml"); }),
                  "no.yaml: cannot be opened: there is no such file");
  EXPECT_THROW((void)quintet::read_yaml(scratch.path()), InputError);
}
