#include <gtest/gtest.h>

#include "io/config/units.hpp"
#include "io/log/error.hpp"
#include "tests/unit/config/sample_options.hpp"

using quintet::compatible_units;
using quintet::parse_quantities;
using quintet::parse_quantity;
using quintet::unit_factor;
using sample::message_of;

namespace {
void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
}
}  // namespace

TEST(Units, decimal_prefixes_convert_exactly) {
  EXPECT_EQ(unit_factor("fs", "ps"), 1e-3);
  EXPECT_EQ(unit_factor("nm", "angstrom"), 10.0);
  EXPECT_EQ(unit_factor("angstrom", "m"), 1e-10);
  EXPECT_EQ(unit_factor("Å", "A"), 1.0);
  EXPECT_EQ(unit_factor("kbar", "GPa"), 0.1);
  EXPECT_EQ(unit_factor("meV", "eV"), 1e-3);
  EXPECT_EQ(unit_factor("kg", "g"), 1000.0);
  EXPECT_EQ(unit_factor("µs", "us"), 1.0);
  EXPECT_EQ(unit_factor("GiB", "MiB"), 1024.0);
}

TEST(Units, conversions_match_values_from_the_literature) {
  EXPECT_NEAR(unit_factor("kJ/mol", "eV"), 0.01036426966, 1e-11);  // CODATA 2018: 1 eV = 96.48533212 kJ/mol
  EXPECT_NEAR(unit_factor("eV", "kcal/mol"), 23.06054783, 1e-7);
  EXPECT_NEAR(unit_factor("hartree", "eV"), 27.211386245988, 1e-10);  // CODATA 2018
  EXPECT_NEAR(unit_factor("Ry", "hartree"), 0.5, 1e-12);
  EXPECT_NEAR(unit_factor("eV/angstrom^3", "GPa"), 160.2176634, 1e-9);
  EXPECT_NEAR(unit_factor("eV/angstrom^3", "bar"), 1.602176634e6, 1e-5);
  EXPECT_NEAR(unit_factor("hartree/bohr", "eV/angstrom"), 51.42206747, 1e-7);
  EXPECT_NEAR(unit_factor("atm", "Pa"), 101325, 1e-9);
  EXPECT_NEAR(unit_factor("amu", "kg"), 1.66053906660e-27, 1e-36);
  EXPECT_NEAR(unit_factor("g/mol", "amu"), 1.0, 1e-15);
  EXPECT_NEAR(unit_factor("deg", "rad"), 0.017453292519943295, 1e-17);
  EXPECT_NEAR(unit_factor("day", "h"), 24.0, 1e-12);
}

TEST(Units, products_quotients_and_powers_multiply) {
  EXPECT_DOUBLE_EQ(unit_factor("angstrom^2/ps", "cm^2/s"), 1e-4);
  EXPECT_DOUBLE_EQ(unit_factor("nm^-1", "1/angstrom"), 0.1);
  EXPECT_DOUBLE_EQ(unit_factor("1/fs", "THz"), 1000.0);
  EXPECT_DOUBLE_EQ(unit_factor("kg m / s^2", "N"), 1.0);
  EXPECT_DOUBLE_EQ(unit_factor("kg*m**2/s**2", "J"), 1.0);
  EXPECT_DOUBLE_EQ(unit_factor("W/(m K)", "W/m/K"), 1.0);
  EXPECT_DOUBLE_EQ(unit_factor("1/cm", "1/m"), 100.0);
  EXPECT_DOUBLE_EQ(unit_factor("J/(kg K)", "m^2/s^2/K"), 1.0);
}

TEST(Units, factor_to_and_fro_is_one) {
  for (const auto& from : compatible_units("eV"))
    for (const auto& to : compatible_units("eV"))
      EXPECT_NEAR(unit_factor(from, to) * unit_factor(to, from), 1.0, 4e-16) << from << " " << to;
}

TEST(Units, a_quantity_in_its_own_unit_keeps_every_bit) {
  for (const double value : {0.1, 1.0 / 3.0, 6.02e23, 5e-324, 1.7976931348623157e308, -2.5})
    for (const char* unit : {"ps", "eV/angstrom^3", "kcal/mol", "bohr"}) {
      const auto text = quintet::Tree::number(value).as_text() + " " + unit;
      EXPECT_EQ(parse_quantity(text, unit), value) << text;
    }
}

TEST(Units, a_quantity_is_a_number_and_a_unit) {
  EXPECT_EQ(parse_quantity("0.5 fs", "ps"), 0.0005);
  EXPECT_EQ(parse_quantity("  2fs ", "ps"), 0.002);
  EXPECT_EQ(parse_quantity("5eV", "eV"), 5.0);
  EXPECT_EQ(parse_quantity("1e3meV", "eV"), 1.0);
  EXPECT_EQ(parse_quantity("-1.5e-1 K", "K"), -0.15);
  EXPECT_EQ(parse_quantity("+.5 K", "K"), 0.5);
  EXPECT_EQ(parse_quantity("2 1/ps", "1/ps"), 2.0);
  EXPECT_EQ(parse_quantity("0.25", "1"), 0.25);
  EXPECT_EQ(parse_quantity("25 %", "1"), 0.25);
}

TEST(Units, lists_share_the_unit_that_follows) {
  EXPECT_EQ(parse_quantities("1 1 2 bar", "bar"), (std::vector<double>{1, 1, 2}));
  EXPECT_EQ(parse_quantities("1 nm 20 angstrom", "angstrom"), (std::vector<double>{10, 20}));
  EXPECT_EQ(parse_quantities("1 1/ps 2 1/ps", "1/ps"), (std::vector<double>{1, 2}));
  EXPECT_EQ(parse_quantities("1 2", "1"), (std::vector<double>{1, 2}));
  expect_contains(message_of([] { (void)parse_quantities("1 bar 2", "bar"); }), "needs a unit");
  expect_contains(message_of([] { (void)parse_quantities("bar", "bar"); }), "is not a number with a unit");
}

TEST(Units, bare_number_names_the_expected_unit) {
  EXPECT_EQ(message_of([] { (void)parse_quantity("0.5", "ps"); }),
            "'0.5' needs a unit: write for example '0.5 fs', '0.5 ps' or '0.5 ns'");
  EXPECT_EQ(message_of([] { (void)parse_quantity("0.07", "hartree"); }),
            "'0.07' needs a unit: write for example '0.07 eV', '0.07 meV' or '0.07 hartree'");
  EXPECT_EQ(message_of([] { (void)parse_quantity("300", "K"); }),
            "'300' needs a unit: write for example '300 K'");
}

TEST(Units, wrong_dimension_names_both_and_what_would_fit) {
  const auto message = message_of([] { (void)parse_quantity("3 eV", "ps"); });
  expect_contains(message, "'eV' is an energy, expected a time in a unit such as fs, ps, ns");
  expect_contains(message_of([] { (void)unit_factor("K", "eV"); }),
                  "'K' is a temperature, expected an energy");
  expect_contains(message_of([] { (void)unit_factor("rad/ps", "THz"); }), "angular frequency");
  expect_contains(message_of([] { (void)unit_factor("1/cm", "THz"); }), "wave number");
}

TEST(Units, unknown_unit_gets_a_suggestion) {
  expect_contains(message_of([] { (void)unit_factor("angstrm", "nm"); }),
                  "unknown unit 'angstrm'; did you mean 'angstrom'?");
  expect_contains(message_of([] { (void)unit_factor("eV/angstrm", "N"); }),
                  "unknown unit 'angstrm' in 'eV/angstrm'");
}

TEST(Units, units_with_an_offset_are_refused) {
  expect_contains(message_of([] { (void)parse_quantity("25 degC", "K"); }),
                  "'25 degC' is in degrees Celsius; temperatures are given in K: write '298.15 K'");
  expect_contains(message_of([] { (void)parse_quantity("27 C", "K"); }), "write '300.15 K'");
  EXPECT_EQ(parse_quantity("27 C", "C"), 27);
  expect_contains(message_of([] { (void)parse_quantity("77 degF", "K"); }), "'degF' has an offset");
}

TEST(Units, a_decimal_comma_is_named_and_one_that_groups_thousands_is_not) {
  expect_contains(message_of([] { (void)parse_quantity("0,5 fs", "ps"); }),
                  "'0,5 fs' has a decimal comma; write '0.5 fs'");
  expect_contains(message_of([] { (void)parse_quantity("1,000 fs", "ps"); }), "unknown unit ',000'");
}

TEST(Units, nonsense_is_an_input_error) {
  for (const char* unit :
       {"", "/", "ps^", "ps^x", "ps^99", "(ps", "ps)", "ps//s", "((((((((((ps))))))))))", "2 ps", "ps 3"})
    EXPECT_THROW((void)unit_factor(unit, "ps"), quintet::InputError) << unit;
  for (const char* text :
       {"", "ps", "inf ps", "nan ps", "0x10 ps", "1e999 ps", "1e-999 ps", "1e308 s", "--1 ps", "1 2 ps"})
    EXPECT_THROW((void)parse_quantity(text, "fs"), quintet::InputError) << text;
  EXPECT_THROW((void)unit_factor(std::string(100000, '('), "ps"), quintet::InputError);
}

TEST(Units, dimensions_have_names) {
  EXPECT_EQ(quintet::dimension_name("fs"), "time");
  EXPECT_EQ(quintet::dimension_name("eV/angstrom^3"), "pressure");
  EXPECT_EQ(quintet::dimension_name("K^2"), "quantity in K^2");
  EXPECT_EQ(compatible_units("K^2"), std::vector<std::string>{"K^2"});
}
