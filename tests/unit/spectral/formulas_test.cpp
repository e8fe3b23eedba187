#include "physics/spectral/flow_equations.hpp"

#include <gtest/gtest.h>

#include <string>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/spectral/flow_machine.hpp"

namespace quintet::spectral {
namespace {

FlowEquations vorticity(const std::string& change) {
  return {{{"w", change, "in.yaml:3:4: equations.w"}},
          {{"v", "-dx(psi)", "in.yaml:7:4: diagnosed.v"},
           {"psi", "inverse_lap(w)", "in.yaml:6:4: diagnosed.psi"},
           {"u", "dy(psi)", "in.yaml:5:4: diagnosed.u"}},
          {{"nu", 0.01}}};
}

/// What a user reads.
std::string message(const std::string& change) {
  try {
    FlowReader reader(vorticity(change));
    static_cast<void>(reader.read(reader.equations().variables[0]));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string message_of(FlowEquations equations) {
  try {
    FlowReader reader(std::move(equations));
    for (const auto& name : reader.field_names()) static_cast<void>(reader.named(name, "all"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Formulas, mistakes_are_told_with_place_and_what_was_expected) {
  const std::string begin = "in.yaml:3:4: equations.w: ";
  EXPECT_EQ(message("-u*dx(w) - v*dy(w) + nu*lap(w)"), "accepted");
  EXPECT_EQ(message("-u*dx(w) + nuu*w")
                .find(begin + "'-u*dx(w) + nuu*w', character 12: unknown name 'nuu'; did you "
                              "mean 'nu'?"),
            0)
      << message("-u*dx(w) + nuu*w");
  EXPECT_NE(message("lapp(w)").find("unknown function 'lapp'; did you mean 'lap'?"), std::string::npos)
      << message("lapp(w)");
  EXPECT_NE(message("nu(w)").find("'nu' is no function"), std::string::npos);
  EXPECT_NE(message("lap").find("'lap' is a function; expected '('"), std::string::npos);
  EXPECT_NE(message("w**2").find("powers are written x^2"), std::string::npos);
  EXPECT_NE(message("w = 1").find("'=' has no meaning here"), std::string::npos);
  EXPECT_NE(message("dx(w").find("a ')' is missing"), std::string::npos);
  EXPECT_NE(message("w)").find("unexpected ')'"), std::string::npos);
  EXPECT_NE(message("dx(w, u)").find("dx has 1 argument; 2 given"), std::string::npos);
  EXPECT_NE(message("w +").find("ends too early"), std::string::npos);
  EXPECT_NE(message("  ").find("the formula is empty"), std::string::npos);
  EXPECT_NE(message("w/0").find("character 2: a division by 0"), std::string::npos) << message("w/0");
  EXPECT_NE(message("w*sqrt(-1)").find("this has no value"), std::string::npos);
  EXPECT_NE(message("w # 2").find("'#' follows a value"), std::string::npos);
  EXPECT_NE(message("3 w").find("'w' follows a value"), std::string::npos);
}

TEST(Formulas, deep_and_long_texts_are_refused_just_beyond_the_limit) {
  const auto nested = [](int n) { return std::string(n, '(') + "w" + std::string(n, ')'); };
  EXPECT_EQ(message(nested(199)), "accepted");
  EXPECT_NE(message(nested(200)).find("nested deeper than 200 levels"), std::string::npos);
  EXPECT_EQ(message("w" + std::string(9999, ' ')), "accepted");
  EXPECT_NE(message("w" + std::string(10000, ' ')).find("10001 characters"), std::string::npos);
}

TEST(Formulas, names_that_clash_or_define_themselves_are_refused) {
  FlowEquations equations = vorticity("lap(w)");
  equations.parameters["psi"] = 1;
  EXPECT_EQ(message_of(equations),
            "in.yaml:6:4: diagnosed.psi: 'psi' is a parameter already; choose another name");
  equations = vorticity("lap(w)");
  equations.parameters["dx"] = 1;
  EXPECT_EQ(message_of(equations), "parameters: 'dx' is an operator already; choose another name");
  equations = vorticity("lap(w)");
  equations.diagnosed[1].text = "u + v";
  EXPECT_NE(message_of(equations).find("defined by itself: "), std::string::npos) << message_of(equations);
  EXPECT_EQ(message_of(vorticity("lap(w)")), "accepted");
}

TEST(Formulas, what_is_linear_stays_with_the_waves) {
  FlowReader reader(vorticity("nu*lap(w) - 2*v + dx(psi)/4 + 3"));
  const FlowValue change = reader.read(reader.equations().variables[0]);
  EXPECT_EQ(change.point, -1);
  EXPECT_EQ(change.form.constant, 3);
  const auto symbol = change.form.slots.at(0).at(3, 4);  // k^2 = 25; psi is -w/25, v is 3 i/25 w
  EXPECT_NEAR(symbol.real(), -0.25, 1e-15);
  EXPECT_NEAR(symbol.imag(), -6.0 / 25 - 3.0 / 100, 1e-15);
  EXPECT_EQ(change.form.slots.at(0).at(0, 0), 0.0);  // no mean
  EXPECT_TRUE(reader.program().instructions().empty());
}

TEST(Formulas, an_inverse_laplacian_takes_the_mean_away) {
  FlowReader reader(vorticity("lap(inverse_lap(w))"));
  const auto symbol = reader.read(reader.equations().variables[0]).form.slots.at(0);
  EXPECT_EQ(symbol.at(2, 1), 1.0);
  EXPECT_EQ(symbol.at(0, 0), 0.0);
}

TEST(Formulas, equal_products_are_made_once) {
  FlowReader reader(vorticity("dx(u*w) + dy(u*w) + w*u"));
  static_cast<void>(reader.read(reader.equations().variables[0]));
  EXPECT_EQ(reader.program().instructions().size(), 3u);  // u, w, u w
  EXPECT_EQ(reader.program().sources().size(), 1u);
}

/// Each function and operator at points, against the C++ of the same text.
TEST(Formulas, values_at_points_are_those_of_the_formulas) {
  const FlowEquations equations{{{"w", "0", "equations.w"}}, {}, {{"a", 0.7}}};
  struct Case {
    const char* text;
    double (*value)(double x, double y);
  };
  const Case cases[] = {
      {"sin(x)*cos(y) + a", [](double x, double y) { return std::sin(x) * std::cos(y) + 0.7; }},
      {"dx(sin(x)*cos(2*y))", [](double x, double y) { return std::cos(x) * std::cos(2 * y); }},
      {"dy(sin(x)*cos(2*y))", [](double x, double y) { return -2 * std::sin(x) * std::sin(2 * y); }},
      {"dxy(sin(x)*cos(2*y))", [](double x, double y) { return -2 * std::cos(x) * std::sin(2 * y); }},
      {"lap(sin(x)*cos(2*y))", [](double x, double y) { return -5 * std::sin(x) * std::cos(2 * y); }},
      {"inverse_lap(sin(x)*cos(2*y) + 3)",
       [](double x, double y) { return -std::sin(x) * std::cos(2 * y) / 5; }},
      {"dx(cos(y)*dx(sin(x)))", [](double x, double y) { return -std::cos(y) * std::sin(x); }},
      {"-2^2 + 2^-1 + (1 + sin(x))^3/2",
       [](double x, double) { return -3.5 + std::pow(1 + std::sin(x), 3) / 2; }},
      {"max(sin(x), a) - min(cos(y), 0) + abs(sin(y))",
       [](double x, double y) {
         return std::max(std::sin(x), 0.7) - std::min(std::cos(y), 0.0) + std::abs(std::sin(y));
       }},
      {"exp(sin(x))/(2 + cos(y)) + t",
       [](double x, double y) { return std::exp(std::sin(x)) / (2 + std::cos(y)) + 9; }}};
  constexpr double length = 6.283185307179586;
  for (const auto& one : cases) {
    FlowReader reader(equations);
    const FlowValue value = reader.read({"f", one.text, "f"});
    const FlowValue all = reader.program().on_points(value);
    WaveGrid grid = product_grid(Comm::self(), {length, length, 24, 20, Dealias::three_halves});
    FlowMachine machine(grid, reader.program(), {all});
    machine.run({grid.make_modes()}, 9);
    const auto values = machine.values(0);
    for (int j = 0; j < grid.n_y(); ++j)
      for (int i = 0; i < grid.n_x(); ++i)
        ASSERT_NEAR(values[j * grid.n_x() + i], one.value(length * i / grid.n_x(), length * j / grid.n_y()),
                    1e-13)
            << one.text;
  }
}

}  // namespace
}  // namespace quintet::spectral
