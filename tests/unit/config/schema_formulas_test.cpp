#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "io/config/schema_formulas.hpp"
#include "tests/unit/config/sample_options.hpp"

namespace {

using quintet::FormulaText;

/// Every way to hold a formula.
struct Formulas {
  std::vector<std::pair<std::string, FormulaText>> constants;
  FormulaText charge = "-1";
  std::optional<FormulaText> rate;
  std::vector<FormulaText> upper;
};

void describe(quintet::Schema& schema, Formulas& o) {
  schema.named_formulas("constants", o.constants, "Named constants");
  schema.formula("charge", o.charge, "Charge");
  schema.formula("rate", o.rate, "Rate");
  schema.formulas("upper", o.upper, "Upper corner").length(1, 2);
}

Formulas parse(const std::string& text) {
  Formulas formulas;
  quintet::parse_options(quintet::parse_yaml(text, "case.yaml"), quintet::described(formulas));
  return formulas;
}

std::string error_of(const std::string& text) {
  return sample::message_of([&] { (void)parse(text); });
}

TEST(SchemaFormulas, texts_and_numbers_are_kept_as_written_with_their_place) {
  const auto formulas = parse("constants:\n  k: 0.5\n  length: 2*pi/k\nrate: '3'\nupper: [length, 1e-3]\n");

  ASSERT_EQ(formulas.constants.size(), 2u);
  EXPECT_EQ(formulas.constants[1].first, "length");
  EXPECT_EQ(formulas.constants[1].second.text, "2*pi/k");
  EXPECT_EQ(formulas.constants[1].second.place.text(), "case.yaml:3:11");
  EXPECT_EQ(formulas.charge.text, "-1");
  EXPECT_EQ(formulas.rate->text, "3");
  ASSERT_EQ(formulas.upper.size(), 2u);
  EXPECT_EQ(formulas.upper[1].text, "1e-3");
  EXPECT_EQ(formulas.upper[1].place.text(), "case.yaml:5:17");
}

TEST(SchemaFormulas, one_formula_is_a_list_of_one) {
  EXPECT_EQ(parse("upper: 2*pi\n").upper.at(0).text, "2*pi");
  EXPECT_EQ(parse("upper: 2*pi\n").upper.size(), 1u);
}

TEST(SchemaFormulas, what_is_none_is_named_with_its_place) {
  EXPECT_EQ(error_of("charge: [1, 2]\n"),
            "case.yaml:1:9: charge: expected a formula or a number, found a list of 2");
  EXPECT_EQ(error_of("charge: ' '\n"), "case.yaml:1:9: charge: is empty; expected a formula or a number");
  EXPECT_EQ(error_of("constants: 3\n"),
            "case.yaml:1:12: constants: expected names with formulas or numbers such as {k: 0.5, length: "
            "2*pi/k}, found the number 3");
  EXPECT_EQ(error_of("constants: {k: [1]}\n"),
            "case.yaml:1:16: constants.k: expected a formula or a number, found a list of 1");
  EXPECT_EQ(
      error_of("upper: [1, 2, 3]\n"),
      "case.yaml:1:8: upper: the list has 3 elements; expected formulas or numbers such as [0.5, 2*pi], "
      "1 to 2 values");
}

/// A list of sections with formulas, and a section that may be absent.
struct Nested {
  std::vector<Formulas> parts;
  std::optional<Formulas> more;
};

void describe(quintet::Schema& schema, Nested& o) {
  schema.sections("parts", o.parts, "Parts");
  schema.section("more", o.more, "More");
}

TEST(SchemaFormulas, all_that_options_hold_are_listed_with_key_and_place) {
  Nested nested;
  quintet::parse_options(
      quintet::parse_yaml("parts:\n  - {constants: {k: 0.5}, upper: [2*k, 3]}\n  - {charge: k}\n",
                          "case.yaml"),
      quintet::described(nested));

  const auto all = quintet::formulas_in(quintet::described(nested));

  std::vector<std::string> found;
  for (const auto& [key, formula] : all) found.push_back(key + " = " + formula.text);
  const std::vector<std::string> expected = {"parts.0.constants.k = 0.5", "parts.0.charge = -1",
                                             "parts.0.upper.0 = 2*k", "parts.0.upper.1 = 3",
                                             "parts.1.charge = k"};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(all.at(2).formula.place.text(), "case.yaml:2:35");
  EXPECT_EQ(all.at(1).formula.place.text(), "");  // a default
}

TEST(SchemaFormulas, printed_options_parse_back_to_the_same) {
  auto formulas = parse("constants: {k: 0.5, s: 'a # b'}\nrate: 2*pi\nupper: [1, x]\n");

  const auto again = parse(quintet::print_options(quintet::described(formulas)));

  EXPECT_EQ(again.constants[0].second.text, "0.5");
  EXPECT_EQ(again.constants[1].second.text, "a # b");
  EXPECT_EQ(again.rate->text, "2*pi");
  EXPECT_EQ(again.upper[1].text, "x");
  EXPECT_EQ(again.charge.text, "-1");
}

TEST(SchemaFormulas, documents_call_them_formulas) {
  Formulas formulas;
  const auto page = quintet::reference_page(quintet::described(formulas), "page");
  const auto schema = quintet::json_schema(quintet::described(formulas), "page").at("properties");

  EXPECT_NE(page.find("| `constants` | named formulas |"), std::string::npos) << page;
  EXPECT_NE(page.find("| `charge` | formula |  | `-1` |"), std::string::npos) << page;
  EXPECT_NE(page.find("| `upper` | list of formulas |"), std::string::npos) << page;
  EXPECT_EQ(schema.at("charge").at("type").items().size(), 2u);
  EXPECT_EQ(schema.at("constants").at("type").as_text(), "object");
  EXPECT_TRUE(schema.at("upper").has("anyOf"));
}

}  // namespace
