#include "io/syntax/yaml_syntax.hpp"

#include <gtest/gtest.h>

#include <string>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/syntax/yaml_lines.hpp"

namespace {

/// What a user reads whose file has this text.
std::string message(const std::string& text) {
  try {
    static_cast<void>(quintet::parse_yaml(text, "in.yaml"));
  } catch (const quintet::InputError& error) {
    return error.what();
  }
  return {};
}

std::string hidden(const std::string& text) {
  const auto problem = quintet::hidden_yaml_problem(text);
  return problem
             ? std::to_string(problem->line) + ":" + std::to_string(problem->column) + ": " + problem->what
             : "";
}

struct Case {
  const char *text, *message;
};

}  // namespace

TEST(YamlSyntax, mistakes_are_named_in_their_line_with_what_to_write) {
  const Case cases[] = {
      {"time:\n\tdt: 2 fs\n", "in.yaml:2:1: not valid YAML: the line is indented by a tab"},
      {"time:\n  dt: 2 fs\n\tsteps: 3\n", "in.yaml:3:1: not valid YAML: the line is indented by a tab"},
      {"time:\n  dt: 2 fs\n  steps 1000\nseed: 3\n",
       "in.yaml:3:3: not valid YAML: ':' and a space are missing behind the key; write 'steps: 1000'"},
      {"time:\n  dt: 2 fs\n  steps:1000\nseed: 3\n",
       "in.yaml:3:3: not valid YAML: ':' and a space are missing behind the key; write 'steps: 1000'"},
      {"time:\n  dt: 2 fs\n  steps = 1000\nseed: 3\n", "write 'steps: 1000'"},
      {"seed: 3\ntime\n  dt: 2 fs\n",
       "in.yaml:2:1: not valid YAML: ':' and a space are missing behind the key; write 'time:'"},
      {"time:\n  dt: 2 fs\n    steps: 3\n",
       "in.yaml:3:5: not valid YAML: the line is indented by 4 spaces, but line 2 above it, 'dt: 2 fs', by 2 "
       "spaces"},
      {"time:\n    dt: 2 fs\n  steps: 3\n",
       "in.yaml:3:3: not valid YAML: the line is indented by 2 spaces, which fits no section above it; the "
       "open ones have 0, 4"},
      {"a: [1, 2\nb: 3\n", "in.yaml:1:4: not valid YAML: '[' is not closed"},
      {"a: {b: [1, 2}\nc: 3\n", "in.yaml:1:13: not valid YAML: '}' closes nothing that is open"},
      {"a: {b: 1}}\nc: 3\n", "in.yaml:1:10: not valid YAML: '}' closes nothing that is open"},
      {"dt: 2 fs steps: 3\n", "in.yaml:1:15: not valid YAML: a second ': ' in this line"},
      {"files: *.xyz\n",
       "in.yaml:1:8: not valid YAML: a value that begins with '*' must be in quotes: '*.xyz'"},
      {"a: \"x\" y\n", "in.yaml:1:8: not valid YAML: 'y' stands behind the end of the value \"x\""},
      {"a: \"C:\\data\"\n", "write the text in single quotes"},
      {"a:\n  - b: 1\n  c: 2\n", "in.yaml:3:3: not valid YAML: the line stands among the items of a list"},
      {"a:\u00a01\nb: 2\n", "in.yaml:1:3: not valid YAML: here is a no-break space; write a space"},
      {"a\uff1a 1\nb: 2\n", "in.yaml:1:2: not valid YAML: here is a wide colon; write ':'"},
  };
  for (const auto& one : cases)
    EXPECT_NE(message(one.text).find(one.message), std::string::npos)
        << one.text << "says: " << message(one.text);
}

TEST(YamlSyntax, what_is_as_it_should_be_is_not_blamed_for_a_mistake_elsewhere) {
  // A tab in a comment or a text, brackets in words, apostrophes in words, lines that go on.
  const std::string fine =
      "a: 1  # it's a\ttab [\nb: don't\nc: f(x)]\nd: |\n  no key\n  \ttab\ne: {x: 1,\n  y: 2}\nf: words\n  "
      "more\n";
  EXPECT_EQ(message(fine), "");
  EXPECT_EQ(hidden(fine), "");

  EXPECT_NE(
      message(fine + "g: 1\n  h: 2\n").find("in.yaml:12:3: not valid YAML: the line is indented by 2 spaces"),
      std::string::npos)
      << message(fine + "g: 1\n  h: 2\n");
}

TEST(YamlSyntax, a_complaint_without_a_likely_cause_is_passed_on) {
  const auto problem = quintet::likely_yaml_problem("a: 1\nb: 2\n", {2, 1, "something"});

  EXPECT_EQ(problem.line, 2);
  EXPECT_EQ(problem.what, "something");
  EXPECT_EQ(quintet::likely_yaml_problem("", {1, 1, "nothing"}).what, "nothing");
}

TEST(YamlSyntax, what_YAML_takes_for_something_else_is_found) {
  EXPECT_EQ(hidden("a: 'x\nb: 2\n"), "1:4: ''' is not closed");
  EXPECT_EQ(hidden("a: 'it''s'\nb: 2\n"), "");
  EXPECT_EQ(hidden("time:\n\u00a0 dt: 2 fs\n"), "2:1: here is a no-break space; write a space");
  EXPECT_EQ(hidden("a: 'x\u00a0y'  # \u00a0\n"), "");
  EXPECT_EQ(hidden("model = x\n"), "1:1: ':' and a space are missing behind the key; write 'model: x'");
}

TEST(YamlSyntax, a_block_of_text_opens_nothing) {
  EXPECT_EQ(hidden("a: |\n  'tis [ {\nb: 2\n"), "");
  EXPECT_EQ(hidden("a: >-  # folded\r\n  'tis\r\n\r\n  [ x\r\nb: 2\r\n"), "");
  EXPECT_EQ(hidden("- a: |\n    'tis\n  b: 'x\n"), "3:6: ''' is not closed");
  EXPECT_EQ(hidden("- |\n 'tis\n- b\n"), "");
  EXPECT_EQ(hidden("a: |\nb: 'x\n"), "2:4: ''' is not closed");
  EXPECT_EQ(hidden("a: | x\n  'tis\n"), "2:3: ''' is not closed");

  const auto lines = quintet::yaml_lines("a: |\n  b: 1\n\n  c: 2\nd: 3\ne: |2\n   f");
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_TRUE(lines[1].is_inner && lines[2].is_inner && lines[5].is_inner);
  EXPECT_FALSE(lines[0].is_inner || lines[3].is_inner || lines[4].is_inner);
}

TEST(YamlSyntax, lines_know_indentation_key_value_and_what_is_open) {
  const auto lines =
      quintet::yaml_lines("# head\na:\n  - b: 1  # one\n  - {c: 2,\n     d: 3}\n'e f': \"x: y\"\n");

  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].number, 2);
  EXPECT_EQ(lines[1].key_indent(), 4U);
  EXPECT_EQ(lines[1].value(), "1");
  EXPECT_FALSE(lines[2].has_key());
  EXPECT_TRUE(lines[3].is_inner);
  EXPECT_EQ(lines[4].value(), "\"x: y\"");
}
