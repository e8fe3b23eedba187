#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/ranges.h>

#include "io/config/suggest.hpp"
#include "io/formula/formula.hpp"
#include "io/formula/names.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

using Texts = std::map<std::string, std::string>;

constexpr std::size_t longest_chain = 1000;  ///< of constants that use each other: one call within another

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_predefined(const std::string& name) {
  return holds(detail::formula_functions(), name) || holds(detail::formula_constants(), name);
}

/// Evaluates constants after those they use.
struct Resolver {
  const Texts& texts;
  const std::string& what;
  std::map<std::string, double> values{};
  std::vector<std::string> under_way{};  ///< from the first that was asked for to the current one
  std::set<std::string> open{};          ///< the same names

  void resolve(const std::string& name) {
    if (values.count(name) != 0) return;
    if (!open.insert(name).second) {
      const auto begin = std::find(under_way.begin(), under_way.end(), name);
      throw InputError(fmt::format("{}.{}: defined by itself: {} -> {}", what, name,
                                   fmt::join(begin, under_way.end(), " -> "), name));
    }
    under_way.push_back(name);
    QUINTET_CHECK(under_way.size() <= longest_chain, "{}.{}: more than {} constants use each other in a row",
                  what, name, longest_chain);
    const std::string& text = texts.at(name);
    for (const auto& used : detail::used_names(text))
      if (!used.called && texts.count(used.text) != 0) resolve(used.text);
    values[name] = evaluate(name, text);
    under_way.pop_back();
    open.erase(name);
  }

  /// All constants that it uses are known by now. Only they are handed over, so that the cost of all grows
  /// with their number alone; where a name is unknown all are, without a value, for the list in the message.
  [[nodiscard]] double evaluate(const std::string& name, const std::string& text) const {
    std::map<std::string, double> known;
    bool all_known = true;
    for (const auto& used : detail::used_names(text)) {
      const auto value = values.find(used.text);
      if (value != values.end()) known.insert(*value);
      all_known = all_known && (value != values.end() || is_predefined(used.text));
    }
    if (!all_known)
      for (const auto& [other, other_text] : texts) known.emplace(other, 0);
    const double value = Formula(text, {}, known, what + "." + name)({});
    QUINTET_CHECK(std::isfinite(value), "{}.{}: '{}' is {}; expected a finite number", what, name, text,
                  std::isnan(value) ? std::abs(value) : value);  // nan, not -nan
    return value;
  }
};

void check_name(const std::string& name, const std::string& what) {
  QUINTET_CHECK(detail::is_name(name), "{}: '{}' is no name; expected a letter, then letters, digits or '_'",
                what, name);
  QUINTET_CHECK(!holds(detail::formula_functions(), name),
                "{}.{}: '{}' is a function of formulas; choose another name", what, name, name);
  QUINTET_CHECK(!holds(detail::formula_constants(), name),
                "{}.{}: '{}' has a value already; choose another name", what, name, name);
}

}  // namespace

std::map<std::string, double> evaluate_constants(
    const std::vector<std::pair<std::string, std::string>>& constants, const std::string& what) {
  Texts texts;
  for (const auto& [name, text] : constants) {
    check_name(name, what);
    QUINTET_CHECK(texts.emplace(name, text).second, "{}.{}: given twice; keep one", what, name);
  }
  Resolver resolver{texts, what};
  for (const auto& [name, text] : constants) resolver.resolve(name);
  return resolver.values;
}

}  // namespace quintet
