#include "apps/vlasov/input/formulas.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "io/config/schema_formulas.hpp"
#include "io/log/error.hpp"

namespace quintet::vlasov {

namespace {

using Names = std::vector<std::string>;

/// What the formulas of some keys are functions of.
struct Arguments {
  std::string_view key;  ///< end of the key; '*' stands for any name or number
  Names names;
};

/// The keys whose formulas are functions; those of all others are numbers.
std::vector<Arguments> functions(int cdim, int vdim) {
  const auto first = [](Names names, int n) { return names.resize(n), names; };
  const auto joined = [](Names a, const Names& b) { return a.insert(a.end(), b.begin(), b.end()), a; };
  const Names x = first({"x", "y", "z"}, cdim), v = first({"vx", "vy", "vz"}, vdim);
  const Names x_and_v = joined(x, v), x_and_t = joined(x, {"t"}), t = {"t"}, s = {"s"};
  return {{"maxwellian.density", x},
          {"maxwellian.drift.*", x},
          {"maxwellian.thermal_speed.*", x},
          {"maxwellian.temperature.*", x},
          {"field.initial.electric.*", x},
          {"field.initial.magnetic.*", x},
          {"initial.*.function", x_and_v},
          {"shape.*.function", x_and_v},
          {"field.external.electric.*", x_and_t},
          {"field.external.magnetic.*", x_and_t},
          {"field.current.*", x_and_t},
          {"species.*.acceleration.*", x_and_t},
          {"collisions.frequency.*", x_and_t},
          {"collisions.between.*.frequency.*", x_and_t},
          {"source.amplitude", t},
          {"emission.*.flux", t},
          {"field.boundary.lower_value.*", t},
          {"field.boundary.upper_value.*", t},
          {"velocity.mapping.*", s}};
}

/// Cut the last part off "a.b.c".
std::string_view cut_last(std::string_view& key) {
  const auto dot = key.rfind('.');
  const auto last = dot == std::string_view::npos ? key : key.substr(dot + 1);
  key = dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
  return last;
}

bool ends_as(std::string_view key, std::string_view pattern) {
  while (!pattern.empty()) {
    if (key.empty()) return false;
    const auto part = cut_last(key), expected = cut_last(pattern);
    if (expected != "*" && part != expected) return false;
  }
  return true;
}

constexpr std::string_view constants_section = "constants.";

/// Constants may not be named as coordinates: a formula could mean either.
std::map<std::string, double> constants_of(const std::vector<KeyedFormula>& formulas) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& given : formulas) {
    if (!given.key.starts_with(constants_section)) continue;
    const auto name = given.key.substr(constants_section.size());
    for (const char* taken : {"x", "y", "z", "vx", "vy", "vz", "t"})
      QUINTET_CHECK(name != taken, "{}: '{}' is the name of a coordinate; choose another name",
                    place_and_key(given.formula, given.key), name);
    texts.emplace_back(name, given.formula.text);
  }
  return evaluate_constants(texts);
}

}  // namespace

std::string place_and_key(const FormulaText& text, const std::string& key) {
  const auto place = text.place.text();
  return place.empty() ? key : place + ": " + key;
}

Formulas::Formulas(const RunOptions& options, int cdim, int vdim) {
  RunOptions copy = options;  // described() may also write
  const auto given = formulas_in(described(copy));
  const auto constants = constants_of(given);
  const auto known = functions(cdim, vdim);
  std::map<std::string, Entry> entries;
  std::string wrong;
  for (const auto& one : given) try {
      if (one.key.starts_with(constants_section)) continue;
      const auto row = std::find_if(known.begin(), known.end(),
                                    [&](const Arguments& of) { return ends_as(one.key, of.key); });
      const bool is_number = row == known.end();
      const Formula formula(one.formula.text, is_number ? Names{} : row->names, constants,
                            place_and_key(one.formula, one.key));
      const double value = is_number ? formula({}) : 0;
      QUINTET_CHECK(std::isfinite(value), "{}: '{}' is {}; expected a finite number", formula.what(),
                    one.formula.text, std::isnan(value) ? std::abs(value) : value);  // nan, not -nan
      entries.emplace(one.key, Entry{formula, is_number ? Names{} : row->names, is_number, value});
    } catch (const InputError& error) {
      wrong += (wrong.empty() ? "" : "\n") + std::string(error.what());
    }
  QUINTET_CHECK(wrong.empty(), "{}", wrong);
  entries_ = std::make_shared<const std::map<std::string, Entry>>(std::move(entries));
}

const Formulas::Entry& Formulas::entry(const std::string& key) const {
  const auto found = entries_->find(key);
  if (found == entries_->end()) throw InternalError(fmt::format("{}: is no formula of the input", key));
  return found->second;
}

double Formulas::number(const std::string& key) const {
  const Entry& one = entry(key);
  if (!one.is_number) throw InternalError(fmt::format("{}: is a function, no number", key));
  return one.value;
}

double Formulas::positive(const std::string& key) const {
  const double value = number(key);
  QUINTET_CHECK(value > 0, "{}: {} is out of range; expected above 0", place(key), value);
  return value;
}

const Formula& Formulas::function(const std::string& key) const {
  const Entry& one = entry(key);
  if (one.is_number) throw InternalError(fmt::format("{}: is a number, no function", key));
  return one.formula;
}

std::optional<double> Formulas::constant(const std::string& key) const {
  const Entry& one = entry(key);
  for (const auto& name : one.arguments)
    if (one.formula.uses(name)) return std::nullopt;
  return one.formula(std::vector<double>(one.arguments.size(), 0.0));
}

const std::string& Formulas::place(const std::string& key) const { return entry(key).formula.what(); }

}  // namespace quintet::vlasov
