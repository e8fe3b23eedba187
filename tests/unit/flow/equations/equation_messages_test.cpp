#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "surrogates/flow/equations/pde_system.hpp"

namespace quintet::flow {
namespace {

/// What a user reads.
std::string message(const std::string& text,
                    const EquationNames& names = {{"p", "b", "u", "w"}, {"t", "z", "x"}, {"P", "R"}}) {
  try {
    PdeSystem({{"buoyancy", text, "case.yaml:3:9: equations.buoyancy"}}, names);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string start(const std::string& text, int character) {
  return fmt::format("case.yaml:3:9: equations.buoyancy: '{}', character {}: ", text, character);
}

TEST(EquationMessages, name_the_place_and_what_was_expected) {
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {"dt(b) + uu", 9,
       "unknown name 'uu'; did you mean 'u'? (known: fields p, b, u, w; axes t, z, x; constants P, R, pi, "
       "e)"},
      {"dt(b) + dy(b)", 9, "unknown function 'dy'; did you mean 'dt'?"},
      {"dt(b) + sine(b)", 9, "unknown function 'sine'; did you mean 'sin'?"},
      {"dt(b", 5, "a ')' is missing"},
      {"dt(b))", 6, "unexpected ')'"},
      {"dt(b) + ", 9, "the equation ends too early; expected a number, a name or '('"},
      {"dt(b) u", 7, "'u' follows a value; expected an operator such as * or the end"},
      {"u**2", 3, "'*' follows an operator; powers are written x^2"},
      {"u(x) + 1", 1, "'u' is no function; expected an operator such as *"},
      {"dx + 1", 1, "'dx' is a function; expected '(' after it"},
      {"sin*u", 1, "'sin' is a function; expected '(' after it"},
      {"dx(b, u)", 1, "dx has one argument; 2 are given"},
      {"atan2(b)", 1, "atan2 has 2 arguments; 1 is given"},
      {"min(b)", 1, "min has 2 or more arguments; 1 is given"},
      {"dx(dxx(b))", 1, "a third derivative; expected first and second ones"},
      {"dxx(dz(b)*u)", 1, "a third derivative; expected first and second ones"},
      {"dx(floor(b))", 1, "floor has no derivative everywhere"},
      {"dx(max(b, u))", 1, "max has no derivative everywhere"},
      {"b > 0", 3, "'>' follows a value; expected an operator such as * or the end"},
      {"b == u", 4, "'==' compares nothing here; write left = right"},
      {"b = u = w", 7, "a second '='; expected one"},
      {"(b = u)", 4, "'=' stands between the two sides of an equation alone"},
      {"b, u", 2, "',' stands between the arguments of a function alone"},
      {"b / 0", 3, "a division by 0"},
      {"dt(b) + sqrt(0 - 1)*dx(b)", 9, "this has no value, as sqrt(-1)"},
      {"u*(1e300*1e300 - 1e300*1e300)", 16, "this has no value"},
      {"1e999*b", 1, "not a number that can be held"},
      {"b # u", 3, "'#' follows a value; expected an operator such as * or the end"},
      {"$", 1, "'$' cannot be read here; expected a number, a name or '('"},
  };
  for (const auto& [text, character, expected] : cases) {
    const auto found = message(text), beginning = start(text, character) + expected;
    EXPECT_EQ(found.substr(0, beginning.size()), beginning) << found;
  }
}

TEST(EquationMessages, refuse_what_is_no_equation) {
  EXPECT_EQ(message("  "),
            "case.yaml:3:9: equations.buoyancy: the equation is empty; expected, say, 'dt(b) + u*dx(b)'");
  EXPECT_EQ(message("P - x"),
            "case.yaml:3:9: equations.buoyancy: 'P - x' mentions no field; expected one of p, b, u, w");
  EXPECT_EQ(message("b", {{"b", "x"}, {"t", "z", "x"}, {}}),
            "the name 'x' is that of a field and of an axis; rename one");
  EXPECT_EQ(message("f", {{"f"}, {"t", "vx", "x"}, {"f"}}),
            "the name 'f' is that of a field and of a constant; rename one");
  EXPECT_EQ(message("f", {{"f"}, {"v", "vx", "x"}, {}}),
            "dvx() may mean two derivatives with axes v, vx, x; rename an axis");
  EXPECT_EQ(message("dt(f) + vx*dx(f) + dvxvx(f)", {{"f"}, {"t", "vx", "x"}, {}}), "accepted");
}

TEST(EquationMessages, hostile_texts_end_in_a_message) {
  const std::string refused = "case.yaml:3:9: equations.buoyancy: ";
  const auto repeat = [](const std::string& part, int n) {
    std::string all;
    for (int i = 0; i < n; ++i) all += part;
    return all;
  };
  EXPECT_NE(message(repeat("(", 5000) + "b" + repeat(")", 5000)).find("an equation of 10001 characters"),
            std::string::npos);
  for (const auto& text : {repeat("(", 4000) + "b", repeat("-", 5000) + "b", repeat("b^", 3000) + "b",
                           repeat("sin(", 1000) + "b" + repeat(")", 1000)})
    EXPECT_NE(message(text).find("nested deeper than 200 levels"), std::string::npos);
  // Long but flat: fine. Nested products whose second derivative explodes: a message or an answer, soon.
  EXPECT_EQ(message(repeat("b+", 4999) + "b"), "accepted");
  EXPECT_EQ(message(repeat("b*", 4999) + "b"), "accepted");
  for (const auto& chain : {repeat("b/", 4950) + "b", "max(" + repeat("b,", 4900) + "b)"}) {
    EXPECT_EQ(message(chain), "accepted");
    for (const std::string derivative : {"dx", "dxx", "dtx"}) {
      const auto deep = message(derivative + "(" + chain + ")");
      EXPECT_TRUE(deep.find("nested deeper than 6000 levels") != std::string::npos ||
                  deep.find("has no derivative everywhere") != std::string::npos)
          << deep.substr(0, 300);
    }
  }
  const auto exploding = message("dxx(" + repeat("sin(b)*", 1400) + "b)");
  EXPECT_TRUE(exploding == "accepted" || exploding.starts_with(refused)) << exploding;
  std::string tower = "b";
  for (int i = 0; i < 60; ++i) tower = "(" + tower + ")^u";
  const auto towering = message("dxx(" + tower + ")");
  EXPECT_TRUE(towering == "accepted" || towering.starts_with(refused)) << towering.substr(0, 300);
}

TEST(EquationMessages, constants_that_make_no_number_are_refused) {
  const PdeSystem system({{"b", "dt(b) - dxx(b)/P", "equations.b"}}, {{"b"}, {"t", "z", "x"}, {"P"}});
  try {
    static_cast<void>(system.residuals(std::vector<std::vector<double>>{{1}, {0}}));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("a coefficient is -inf for sample 2 of 2"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace quintet::flow
