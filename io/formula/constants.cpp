#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "io/config/suggest.hpp"
#include "io/formula/formula.hpp"
#include "io/formula/names.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

using Texts = std::map<std::string, std::string>;

/// Evaluates constants after those they use.
struct Resolver {
  const Texts& texts;
  const std::string& what;
  std::map<std::string, double> values;
  std::vector<std::string> under_way;  ///< from the first that was asked for to the current one

  void resolve(const std::string& name) {
    if (values.count(name) != 0) return;
    const auto begin = std::find(under_way.begin(), under_way.end(), name);
    QUINTET_CHECK(begin == under_way.end(), "{}.{}: defined by itself: {} -> {}", what, name,
                  fmt::join(begin, under_way.end(), " -> "), name);
    under_way.push_back(name);
    const std::string& text = texts.at(name);
    for (const auto& used : detail::used_names(text))
      if (!used.called && texts.count(used.text) != 0) resolve(used.text);
    values[name] = evaluate(name, text);
    under_way.pop_back();
  }

  /// All that it uses is known by now; for the list in messages the others are too, without a value.
  [[nodiscard]] double evaluate(const std::string& name, const std::string& text) const {
    auto known = values;
    for (const auto& [other, other_text] : texts) known.emplace(other, 0);
    const double value = Formula(text, {}, known, what + "." + name)({});
    QUINTET_CHECK(std::isfinite(value), "{}.{}: '{}' is {}; expected a finite number", what, name, text,
                  value);
    return value;
  }
};

void check_name(const std::string& name, const std::string& what) {
  const auto taken = [&](const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  QUINTET_CHECK(detail::is_name(name), "{}: '{}' is no name; expected a letter, then letters, digits or '_'",
                what, name);
  QUINTET_CHECK(!taken(detail::formula_functions()),
                "{}.{}: '{}' is a function of formulas; choose another name", what, name, name);
  QUINTET_CHECK(!taken(detail::formula_constants()), "{}.{}: '{}' has a value already; choose another name",
                what, name, name);
}

}  // namespace

std::map<std::string, double> evaluate_constants(
    const std::vector<std::pair<std::string, std::string>>& constants, const std::string& what) {
  Texts texts;
  for (const auto& [name, text] : constants) {
    check_name(name, what);
    QUINTET_CHECK(texts.emplace(name, text).second, "{}.{}: given twice; keep one", what, name);
  }
  Resolver resolver{texts, what, {}, {}};
  for (const auto& [name, text] : constants) resolver.resolve(name);
  return resolver.values;
}

}  // namespace quintet
