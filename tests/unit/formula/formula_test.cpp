#include "io/formula/formula.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/log/error.hpp"

namespace quintet {
namespace {

double value(const std::string& text, double x = 0) {
  return Formula(text, {"x"}, {{"k", 0.5}}, "density")(std::array{x});
}

/// What a user reads.
std::string message(const std::string& text, const std::vector<std::string>& variables = {"x", "t"}) {
  try {
    static_cast<void>(Formula(text, variables, {{"amplitude", 0.01}}, "species.ions.density"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string constants_message(const std::vector<std::pair<std::string, std::string>>& constants) {
  try {
    static_cast<void>(evaluate_constants(constants));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Formula, functions_and_operators_have_their_usual_values) {
  EXPECT_DOUBLE_EQ(value("1 + 0.01*cos(k*x)", 3), 1 + 0.01 * std::cos(1.5));
  EXPECT_DOUBLE_EQ(value("-x^2", 3), -9);
  EXPECT_DOUBLE_EQ(value("2^3^2"), 512);
  EXPECT_DOUBLE_EQ(value("1 - 2 - 3"), -4);
  EXPECT_DOUBLE_EQ(value("2/4/2"), 0.25);
  EXPECT_DOUBLE_EQ(value("1.5e-3 + 2E2 + .5"), 200.5015);
  EXPECT_DOUBLE_EQ(value("pi*e"), std::numbers::pi * std::numbers::e);
  EXPECT_DOUBLE_EQ(value("x > 1 ? 7 : 8", 2), 7);
  EXPECT_DOUBLE_EQ(value("x >= 2 && x != 3", 2), 1);
  EXPECT_DOUBLE_EQ(value("\n 1 +\n x\n", 2), 3);
  EXPECT_DOUBLE_EQ(value("-3"), -3);
}

TEST(Formula, every_function_is_the_one_of_the_name) {
  const double x = 0.7;
  const std::vector<std::pair<std::string, double>> cases = {{"sin(x)", std::sin(x)},
                                                             {"cos(x)", std::cos(x)},
                                                             {"tan(x)", std::tan(x)},
                                                             {"asin(x)", std::asin(x)},
                                                             {"acos(x)", std::acos(x)},
                                                             {"atan(x)", std::atan(x)},
                                                             {"sinh(x)", std::sinh(x)},
                                                             {"cosh(x)", std::cosh(x)},
                                                             {"tanh(x)", std::tanh(x)},
                                                             {"exp(x)", std::exp(x)},
                                                             {"log(x)", std::log(x)},
                                                             {"log10(x)", std::log10(x)},
                                                             {"sqrt(x)", std::sqrt(x)},
                                                             {"abs(-x)", x},
                                                             {"erf(x)", std::erf(x)},
                                                             {"floor(x)", 0},
                                                             {"atan2(x, -1)", std::atan2(x, -1)},
                                                             {"pow(x, 3)", std::pow(x, 3)},
                                                             {"min(x, 3, -1)", -1},
                                                             {"max(x, 3, -1)", 3},
                                                             {"sign(-x)", -1},
                                                             {"sign(0*x)", 0},
                                                             {"step(x)", 1},
                                                             {"step(-x)", 0},
                                                             {"step(0*x)", 1},
                                                             {"gauss(x)", std::exp(-0.5 * x * x)}};
  for (const auto& [text, expected] : cases) EXPECT_DOUBLE_EQ(value(text, x), expected) << text;
}

TEST(Formula, copies_do_not_share_their_variables) {
  Formula first("x*y", {"x", "y"}, {}, "f");
  const Formula second = first;
  first = Formula("x + y", {"x", "y"}, {}, "g");
  const Formula third = std::move(first);

  EXPECT_EQ(second(std::array{2.0, 5.0}), 10);
  EXPECT_EQ(third(std::array{2.0, 5.0}), 7);
  EXPECT_EQ(second(std::array{3.0, 5.0}), 15);
  EXPECT_EQ(third.what(), "g");
}

TEST(Formula, says_which_names_it_uses) {
  const Formula formula("1e3*exp(x1)", {"x", "x1", "e3"}, {}, "f");
  EXPECT_TRUE(formula.uses("x1"));
  EXPECT_FALSE(formula.uses("x"));
  EXPECT_FALSE(formula.uses("e3"));
}

TEST(Formula, a_mistake_is_told_with_its_place_and_what_was_expected) {
  const std::string head = "species.ions.density: ";
  EXPECT_EQ(
      message("1 + amplitud*cos(x)"),
      head +
          "'1 + amplitud*cos(x)', character 5: unknown name 'amplitud'; did you mean 'amplitude'? (known: "
          "variables x, t; constants pi, e, amplitude)");
  EXPECT_EQ(
      message("1 + y"),
      head + "'1 + y', character 5: unknown name 'y' (known: variables x, t; constants pi, e, amplitude)");
  EXPECT_NE(message("coss(x)").find("character 1: unknown function 'coss'; did you mean 'cos'?"),
            std::string::npos);
  EXPECT_NE(message("rnd()").find("unknown function 'rnd'"), std::string::npos);
  EXPECT_EQ(message("sin + 1"), head + "'sin + 1', character 1: 'sin' is a function; expected '(' after it");
  EXPECT_EQ(message("x(2)"),
            head + "'x(2)', character 1: 'x' is no function; expected an operator such as *");
  EXPECT_EQ(message("1 +"),
            head + "'1 +', character 4: the formula ends too early; expected a number, a name or '('");
  EXPECT_EQ(message("2x"),
            head + "'2x', character 2: 'x' follows a value; expected an operator such as * or the end");
  EXPECT_EQ(message("x**2"), head + "'x**2', character 3: '*' follows an operator; powers are written x^2");
  EXPECT_EQ(message("x = 2"),
            head + "'x = 2', character 3: '=' has no meaning in a formula; write == to compare");
  EXPECT_EQ(message("(x + 1"), head + "'(x + 1', character 7: a ')' is missing");
  EXPECT_EQ(message("x)"), head + "'x)', character 2: unexpected ')'");
  EXPECT_EQ(message("atan2(x)"), head + "'atan2(x)', character 8: too few arguments of atan2");
  EXPECT_EQ(message("sin(x, 1)"), head + "'sin(x, 1)', character 9: too many arguments of sin");
  EXPECT_EQ(message("1, 2"), head + "'1, 2': 2 values, parted by ','; expected one");
  EXPECT_EQ(message("1", {"amplitude"}),
            head + "'amplitude' is a variable here and a constant too; rename the constant");
  EXPECT_EQ(message("  "), head + "the formula is empty; expected, say, '1'");
}

TEST(Formula, hostile_text_is_refused_or_read_but_never_crashes) {
  const std::string many(4000, '('), closed = many + "1" + std::string(4000, ')'),
                                     minuses = std::string(9000, '-').append("1"), digits(20000, '1');
  for (const std::string_view text :
       {std::string_view(many), std::string_view(closed), std::string_view(minuses), std::string_view(digits),
        std::string_view("\"text\""), std::string_view("x;x"), std::string_view("\xc3\xa9"),
        std::string_view("1..2"), std::string_view("1e"), std::string_view("1e999999"),
        std::string_view("x\0y", 3), std::string_view("?:"), std::string_view("1 ? 2"),
        std::string_view("max()"), std::string_view("#%&@!"), std::string_view("(1,2)"),
        std::string_view("1:2"), std::string_view(",")})
    EXPECT_NO_FATAL_FAILURE(static_cast<void>(message(std::string(text)))) << text.substr(0, 20);
  EXPECT_NE(message(std::string(20000, '1')).find("20000 characters; expected at most 10000"),
            std::string::npos);
  for (const std::string text :
       {"\"text\"", "x;x", "\xc3\xa9", "1..2", "1 ? 2", "max()", "#", "(1,2)", "1:2", ","})
    EXPECT_EQ(message(text).rfind("species.ions.density: ", 0), 0U) << text << " " << message(text);
}

TEST(Constants, are_formulas_of_each_other_in_any_order) {
  const auto values = evaluate_constants({{"L", "2*pi/k"}, {"k", "half"}, {"half", "1/2"}});
  EXPECT_DOUBLE_EQ(values.at("L"), 4 * std::numbers::pi);
  EXPECT_EQ(values.at("k"), 0.5);
  EXPECT_EQ(values.size(), 3U);
}

TEST(Constants, mistakes_are_told_with_the_constant) {
  EXPECT_EQ(constants_message({{"a", "2*b"}, {"b", "c + 1"}, {"c", "b"}}),
            "constants.b: defined by itself: b -> c -> b");
  EXPECT_EQ(constants_message({{"a", "a"}}), "constants.a: defined by itself: a -> a");
  EXPECT_EQ(constants_message({{"width", "1"}, {"b", "2*widht"}}),
            "constants.b: '2*widht', character 3: unknown name 'widht'; did you mean 'width'? (known: no "
            "variables; "
            "constants pi, e, b, width)");
  EXPECT_EQ(constants_message({{"a", "1/0"}}), "constants.a: '1/0' is inf; expected a finite number");
  EXPECT_EQ(constants_message({{"pi", "3"}}), "constants.pi: 'pi' has a value already; choose another name");
  EXPECT_EQ(constants_message({{"sin", "3"}}),
            "constants.sin: 'sin' is a function of formulas; choose another name");
  EXPECT_EQ(constants_message({{"1a", "3"}}),
            "constants: '1a' is no name; expected a letter, then letters, digits or '_'");
  EXPECT_EQ(constants_message({{"a", "1"}, {"a", "2"}}), "constants.a: given twice; keep one");
}

}  // namespace
}  // namespace quintet
