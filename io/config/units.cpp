#include "io/config/units.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "io/config/scalar.hpp"
#include "io/config/suggest.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

/// Powers of length, mass, time, temperature, charge, angle, information, arithmetic.
using Dimension = std::array<int, 8>;

/// A unit as mantissa * 10^exponent SI units; the two apart, so that decimal prefixes convert without
/// rounding.
struct Unit {
  double mantissa = 1;
  int exponent = 0;
  Dimension dimension{};
};

constexpr Dimension none{}, length{1}, mass{0, 1}, duration{0, 0, 1}, temperature{0, 0, 0, 1},
    charge{0, 0, 0, 0, 1}, angle{0, 0, 0, 0, 0, 1}, information{0, 0, 0, 0, 0, 0, 1},
    arithmetic{0, 0, 0, 0, 0, 0, 0, 1}, force{1, 1, -2}, energy{2, 1, -2}, power{2, 1, -3},
    pressure{-1, 1, -2}, frequency{0, 0, -1}, voltage{2, 1, -2, 0, -1}, induction{0, 1, -1, 0, -1}, volume{3};

struct NamedUnit {
  std::string_view name;
  Unit unit;
  bool prefixes = false;  ///< takes k, m, ...
};

constexpr double two_10 = 1024;

constexpr NamedUnit named_units[] = {
    {"mol", {6.02214076, 23, none}, true},
    {"m", {1, 0, length}, true},
    {"angstrom", {1, -10, length}},
    {"A", {1, -10, length}},
    {"Å", {1, -10, length}},
    {"bohr", {5.29177210903, -11, length}},
    {"L", {1, -3, volume}, true},
    {"g", {1, -3, mass}, true},
    {"amu", {1 / 6.02214076, -26, mass}},  // 1 g/mol exactly; the measured constant differs by 3e-10
    {"u", {1 / 6.02214076, -26, mass}},
    {"Da", {1 / 6.02214076, -26, mass}},
    {"me", {9.1093837015, -31, mass}},
    {"s", {1, 0, duration}, true},
    {"min", {6, 1, duration}},
    {"h", {36, 2, duration}},
    {"day", {864, 2, duration}},
    {"week", {6048, 2, duration}},
    {"year", {315576, 2, duration}},  // Julian year, 365.25 days
    {"K", {1, 0, temperature}, true},
    {"J", {1, 0, energy}, true},
    {"eV", {1.602176634, -19, energy}, true},
    {"cal", {4.184, 0, energy}, true},
    {"hartree", {4.3597447222071, -18, energy}},
    {"Ha", {4.3597447222071, -18, energy}},
    {"Ry", {2.17987236110355, -18, energy}},
    {"Pa", {1, 0, pressure}, true},
    {"bar", {1, 5, pressure}, true},
    {"atm", {1.01325, 5, pressure}},
    {"N", {1, 0, force}, true},
    {"W", {1, 0, power}, true},
    {"Hz", {1, 0, frequency}, true},
    {"C", {1, 0, charge}, true},
    {"e", {1.602176634, -19, charge}},
    {"V", {1, 0, voltage}, true},
    {"T", {1, 0, induction}},
    {"rad", {1, 0, angle}, true},
    {"deg", {std::numbers::pi / 180, 0, angle}},
    {"B", {1, 0, information}, true},
    {"flop", {1, 0, arithmetic}, true},
    {"KiB", {two_10, 0, information}},
    {"MiB", {two_10 * two_10, 0, information}},
    {"GiB", {two_10 * two_10 * two_10, 0, information}},
    {"TiB", {two_10 * two_10 * two_10 * two_10, 0, information}},
};

struct Prefix {
  std::string_view name;
  int exponent;
};
constexpr Prefix prefixes[] = {{"f", -15}, {"p", -12}, {"n", -9}, {"u", -6}, {"µ", -6}, {"μ", -6}, {"m", -3},
                               {"c", -2},  {"h", 2},   {"k", 3},  {"M", 6},  {"G", 9},  {"T", 12}};

/// Units for messages and the reference page, the most usual of each dimension first.
// clang-format off
constexpr std::string_view usual_units[] = {
    "1", "%", "fs", "ps", "ns", "us", "ms", "s", "min", "h", "day", "year", "angstrom", "nm", "bohr",
    "um", "mm", "m", "km", "K", "eV", "meV", "kJ/mol", "kcal/mol", "hartree", "J", "bar", "kbar", "GPa",
    "atm", "Pa", "eV/angstrom^3", "g/mol", "amu", "g", "kg", "eV/angstrom", "hartree/bohr",
    "kcal/mol/angstrom", "N", "angstrom/ps", "nm/ps", "m/s", "angstrom^2/ps", "cm^2/s", "m^2/s",
    "angstrom^2", "nm^2", "m^2", "angstrom^3", "nm^3", "L", "m^3", "g/cm^3", "kg/m^3", "1/ps", "1/fs",
    "THz", "Hz", "1/s", "1/cm", "1/angstrom", "1/nm", "rad", "deg", "rad/ps", "e", "C", "V", "T", "W",
    "MB", "GB", "MiB", "GiB", "GB/s", "MB/s", "B/s", "ns/B", "s/B", "Gflop/s", "Tflop/s", "flop/s"};
// clang-format on

struct NamedDimension {
  std::string_view name;
  Dimension dimension;
};
constexpr NamedDimension named_dimensions[] = {
    {"dimensionless number", none},
    {"length", length},
    {"mass", mass},
    {"time", duration},
    {"temperature", temperature},
    {"charge", charge},
    {"angle", angle},
    {"memory size", information},
    {"force", force},
    {"energy", energy},
    {"power", power},
    {"pressure", pressure},
    {"frequency", frequency},
    {"voltage", voltage},
    {"magnetic field", induction},
    {"area", {2}},
    {"volume", volume},
    {"velocity", {1, 0, -1}},
    {"acceleration", {1, 0, -2}},
    {"diffusivity", {2, 0, -1}},
    {"density", {-3, 1}},
    {"wave number", {-1}},
    {"number density", {-3}},
    {"angular frequency", {0, 0, -1, 0, 0, 1}},
    {"bandwidth", {0, 0, -1, 0, 0, 0, 1}},
    {"inverse bandwidth", {0, 0, 1, 0, 0, 0, -1}},
    {"rate of arithmetic", {0, 0, -1, 0, 0, 0, 0, 1}},
};

/// a * b^power.
Unit times(const Unit& a, const Unit& b, int power) {
  Unit result{a.mantissa * std::pow(b.mantissa, power), a.exponent + b.exponent * power, a.dimension};
  for (std::size_t i = 0; i < result.dimension.size(); ++i) result.dimension[i] += b.dimension[i] * power;
  return result;
}

std::optional<Unit> find_unit(std::string_view name) {
  for (const auto& known : named_units)
    if (known.name == name) return known.unit;
  for (const auto& prefix : prefixes) {
    if (!name.starts_with(prefix.name)) continue;
    for (const auto& known : named_units)
      if (known.prefixes && known.name == name.substr(prefix.name.size()))
        return times({1, prefix.exponent, none}, known.unit, 1);
  }
  return std::nullopt;
}

bool has_offset(std::string_view name) {
  const auto word = lower_case(name);
  return word == "degc" || word == "celsius" || word == "°c" || word == "degf" || word == "fahrenheit" ||
         word == "°f";
}

[[noreturn]] void unknown_unit(std::string_view name, std::string_view whole) {
  if (has_offset(name))
    throw InputError(
        fmt::format("'{}' has an offset and cannot be a unit here; give the temperature in K "
                    "(0 degC = 273.15 K)",
                    name));
  std::vector<std::string> names;
  for (const auto& unit : usual_units) names.emplace_back(unit);
  for (const auto& unit : named_units) names.emplace_back(unit.name);
  throw InputError(fmt::format("unknown unit '{}'{}{}", name,
                               name == whole ? "" : fmt::format(" in '{}'", whole),
                               did_you_mean(name, names)));
}

/// Recursive descent over: product = factor { ('*' | '/' | ' ') factor }, factor = atom [ ('^' | '**')
/// integer ], atom = name | '1' | '%' | '(' product ')'.
class UnitParser {
 public:
  explicit UnitParser(std::string_view text) : text_(text), rest_(text) {}

  Unit parse() {
    const Unit unit = product(0);
    if (!rest_.empty()) bad();
    return unit;
  }

 private:
  static constexpr int max_power = 12;
  static constexpr int max_depth = 8;
  static constexpr int max_factors = 16;

  [[noreturn]] void bad() const {
    throw InputError(fmt::format("'{}' is no unit; write for example eV/angstrom^3 or W/(m K)", text_));
  }
  void skip_space() {
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  Unit product(int depth) {
    if (depth > max_depth) bad();
    skip_space();
    Unit unit = factor(depth);
    for (;;) {
      skip_space();
      if (rest_.empty() || rest_.starts_with(')')) return unit;
      const int sign = take("/") ? -1 : 1;
      if (sign > 0 && !take("*")) take("·");
      skip_space();
      unit = times(unit, factor(depth), sign);
    }
  }

  Unit factor(int depth) {
    if (++factors_ > max_factors) bad();
    const Unit base = atom(depth);
    if (!take("^") && !take("**")) return base;
    int power = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), power);
    if (error != std::errc{} || std::abs(power) > max_power) bad();
    rest_.remove_prefix(end - rest_.data());
    return times({}, base, power);
  }

  Unit atom(int depth) {
    if (take("(")) {
      const Unit unit = product(depth + 1);
      if (!take(")")) bad();
      return unit;
    }
    if (take("1")) return {};
    if (take("%")) return {1, -2, none};
    const auto is_end = [](char c) {
      return std::string_view(" \t*/^()%").find(c) != std::string_view::npos;
    };
    std::size_t n = 0;
    while (n < rest_.size() && !is_end(rest_[n]) && !rest_.substr(n).starts_with("·")) ++n;
    if (n == 0) bad();
    const auto name = rest_.substr(0, n);
    rest_.remove_prefix(n);
    const auto unit = find_unit(name);
    if (!unit) unknown_unit(name, text_);
    return *unit;
  }

  std::string_view text_, rest_;
  int factors_ = 0;
};

Unit parse_unit(std::string_view text) { return UnitParser(trimmed(text)).parse(); }

std::string_view known_dimension(const Dimension& dimension) {
  for (const auto& known : named_dimensions)
    if (known.dimension == dimension) return known.name;
  return {};
}

/// "a time (ps)" for messages.
std::string described_unit(std::string_view unit) {
  const auto name = known_dimension(parse_unit(unit).dimension);
  if (name.empty()) return fmt::format("a quantity in {}", unit);
  return fmt::format("a{} {}", std::string_view("aeiou").find(name[0]) != std::string_view::npos ? "n" : "",
                     name);
}

/// Conversion of a number: times `mantissa`, then by a power of ten.
struct Conversion {
  double mantissa = 1;
  int exponent = 0;
  [[nodiscard]] double operator()(double value) const {
    // Powers of ten up to 10^22 are exact doubles; dividing by one rounds once, multiplying by 10^-n twice.
    const double scaled = value * mantissa;
    return exponent < 0 ? scaled / std::pow(10.0, -exponent) : scaled * std::pow(10.0, exponent);
  }
};

Conversion conversion(std::string_view from, std::string_view to) {
  const Unit a = parse_unit(from), b = parse_unit(to);
  if (a.dimension != b.dimension) {
    throw InputError(fmt::format("'{}' is {}, expected {} in a unit such as {}", trimmed(from),
                                 described_unit(from), described_unit(to), name_list(compatible_units(to))));
  }
  return {a.mantissa / b.mantissa, a.exponent - b.exponent};
}

double converted(double value, std::string_view from, std::string_view to, std::string_view text) {
  const double result = conversion(from, to)(value);
  const bool lost = !std::isfinite(result) || (result == 0 && value != 0);
  QUINTET_CHECK(!lost, "'{}' is out of the range of a double in {}", trimmed(text), to);
  return result;
}

bool is_dimensionless(std::string_view unit) { return parse_unit(unit).dimension == none; }

/// The number at the start of `rest`, which is taken off it.
double take_number(std::string_view& rest, std::string_view text, std::string_view to) {
  const auto number = number_prefix(rest);
  QUINTET_CHECK(number, "'{}' is not a number with a unit; write for example '0.5 {}'", text, to);
  QUINTET_CHECK(number->in_range, "'{}' is out of the range of a double", text);
  rest = trimmed(rest.substr(number->length));
  return number->value;
}

/// The unit at the start of `rest`, up to the next number that stands alone ("1 1/ps 2 1/ps"), taken off it.
std::string_view take_unit(std::string_view& rest) {
  const auto starts_number = [&](std::size_t i) {
    const auto number = number_prefix(rest.substr(i));
    return number && (i == 0 || rest[i - 1] == ' ') && !rest.substr(i + number->length).starts_with('/');
  };
  std::size_t n = 0;
  while (n < rest.size() && !starts_number(n)) ++n;
  const auto unit = trimmed(rest.substr(0, n));
  rest.remove_prefix(n);
  return unit;
}

/// Up to three examples, the most usual units first and the program's own among them: whoever copies one
/// knows that there are others.
[[noreturn]] void needs_unit(std::string_view text, std::string_view to) {
  auto units = compatible_units(to);
  const auto own = std::find(units.begin(), units.end(), to);
  const auto n = std::min<std::size_t>(units.size(), 3);
  if (own - units.begin() >= static_cast<std::ptrdiff_t>(n)) units[n - 1] = to;
  std::string examples;
  for (std::size_t i = 0; i < n; ++i)
    examples += fmt::format("{}'{} {}'", i == 0 ? "" : i + 1 == n ? " or " : ", ", text, units[i]);
  throw InputError(fmt::format("'{}' needs a unit: write for example {}", text, examples));
}

/// Refuse what a number is often followed by: a decimal comma, degrees Celsius (C is the coulomb).
void refuse_habits(double value, std::string_view rest, std::string_view text, std::string_view to) {
  if (const auto point = without_decimal_comma(text))
    throw InputError(fmt::format("'{}' has a decimal comma; write '{}'", text, *point));
  if (dimension_name(to) == "temperature" && (rest == "C" || lower_case(rest) == "degc" || rest == "°C"))
    throw InputError(fmt::format("'{}' is in degrees Celsius; temperatures are given in K: write '{} K'",
                                 text, number_text(std::round((value + 273.15) * 1e6) / 1e6)));
}

}  // namespace

double unit_factor(std::string_view from, std::string_view to) { return conversion(from, to)(1.0); }

double parse_quantity(std::string_view given, std::string_view to) {
  const auto text = trimmed(given);
  auto rest = text;
  const double value = take_number(rest, text, to);
  refuse_habits(value, rest, text, to);
  if (!rest.empty()) return converted(value, rest, to, text);
  if (!is_dimensionless(to)) needs_unit(text, to);
  return converted(value, "1", to, text);
}

std::vector<double> parse_quantities(std::string_view given, std::string_view to) {
  const auto text = trimmed(given);
  std::vector<double> values;
  std::size_t without_unit = 0;  // the last numbers, whose unit is still to come
  for (auto rest = text; !rest.empty();) {
    values.push_back(take_number(rest, text, to));
    refuse_habits(values.back(), rest, text, to);
    ++without_unit;
    const auto unit = take_unit(rest);
    if (unit.empty()) continue;
    for (auto& value : std::span(values).last(without_unit)) value = converted(value, unit, to, text);
    without_unit = 0;
  }
  if (without_unit > 0 && !is_dimensionless(to)) needs_unit(text, to);
  for (auto& value : std::span(values).last(without_unit)) value = converted(value, "1", to, text);
  return values;
}

std::vector<std::string> compatible_units(std::string_view unit) {
  const auto dimension = parse_unit(unit).dimension;
  std::vector<std::string> names;
  for (const auto& usual : usual_units)
    if (parse_unit(usual).dimension == dimension) names.emplace_back(usual);
  if (names.empty()) names.emplace_back(unit);
  return names;
}

std::string dimension_name(std::string_view unit) {
  const auto name = known_dimension(parse_unit(unit).dimension);
  return name.empty() ? fmt::format("quantity in {}", unit) : std::string(name);
}

}  // namespace quintet
