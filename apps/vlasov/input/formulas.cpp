#include "apps/vlasov/input/formulas.hpp"

#include <cmath>

#include "io/log/error.hpp"

namespace quintet::vlasov {

namespace {

std::vector<std::string> first(std::vector<std::string> names, int n) {
  names.resize(static_cast<std::size_t>(n));
  return names;
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Constants may not be named as coordinates: a formula could mean either.
std::map<std::string, double> evaluate(const std::vector<std::pair<std::string, FormulaText>>& constants) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, formula] : constants) {
    for (const char* taken : {"x", "y", "z", "vx", "vy", "vz", "t"})
      QUINTET_CHECK(name != taken, "{}: '{}' is the name of a coordinate; choose another name",
                    place_and_key(formula, "constants." + name), name);
    texts.emplace_back(name, formula.text);
  }
  return evaluate_constants(texts);
}

}  // namespace

std::string place_and_key(const FormulaText& text, const std::string& key) {
  const auto place = text.place.text();
  return place.empty() ? key : place + ": " + key;
}

Formulas::Formulas(const std::vector<std::pair<std::string, FormulaText>>& constants, int cdim, int vdim)
    : constants_(evaluate(constants)),
      position_(first({"x", "y", "z"}, cdim)),
      velocity_(first({"vx", "vy", "vz"}, vdim)) {}

double Formulas::number(const FormulaText& text, const std::string& key) const {
  const Formula formula(text.text, {}, constants_, place_and_key(text, key));
  const double value = formula({});
  QUINTET_CHECK(std::isfinite(value), "{}: '{}' is {}; expected a finite number", formula.what(), text.text,
                value);
  return value;
}

double Formulas::positive(const FormulaText& text, const std::string& key) const {
  const double value = number(text, key);
  QUINTET_CHECK(value > 0, "{}: {} is out of range; expected above 0", place_and_key(text, key), value);
  return value;
}

std::vector<double> Formulas::numbers(const std::vector<FormulaText>& texts, const std::string& key) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < texts.size(); ++i)
    values.push_back(number(texts[i], fmt::format("{}.{}", key, i)));
  return values;
}

Formula Formulas::of_position(const FormulaText& text, const std::string& key) const {
  return Formula(text.text, position_, constants_, place_and_key(text, key));
}

Formula Formulas::of_position_and_time(const FormulaText& text, const std::string& key) const {
  return Formula(text.text, joined(position_, {"t"}), constants_, place_and_key(text, key));
}

Formula Formulas::of_phase(const FormulaText& text, const std::string& key) const {
  return Formula(text.text, joined(position_, velocity_), constants_, place_and_key(text, key));
}

Formula Formulas::of_grid_coordinate(const FormulaText& text, const std::string& key) const {
  return Formula(text.text, {"s"}, constants_, place_and_key(text, key));
}

Formula Formulas::of_time(const FormulaText& text, const std::string& key) const {
  return Formula(text.text, {"t"}, constants_, place_and_key(text, key));
}

}  // namespace quintet::vlasov
