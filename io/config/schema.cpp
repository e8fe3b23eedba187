#include "io/config/schema.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/config/scalar.hpp"
#include "io/config/schema_data.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet {

Key& Key::required() {
  data_->required = true;
  return *this;
}

Key& Key::at_least(double minimum) {
  data_->minimum = minimum;
  data_->above = false;
  return *this;
}

Key& Key::at_most(double maximum) {
  data_->maximum = maximum;
  data_->below = false;
  return *this;
}

Key& Key::above(double minimum) {
  data_->minimum = minimum;
  data_->above = true;
  return *this;
}

Key& Key::below(double maximum) {
  data_->maximum = maximum;
  data_->below = true;
  return *this;
}

Key& Key::length(std::size_t least, std::size_t most) {
  data_->least = least;
  data_->most = most;
  return *this;
}

Key& Key::example(std::string text) {
  data_->example = std::move(text);
  return *this;
}

Key& Key::existing_file() {
  data_->is_file = true;
  return *this;
}

namespace {

/// For the key, and for keys in its sections that have no rule of their own.
void set_rule(Key::Data& key, OnRestart rule) {
  key.on_restart = rule;
  for (auto& section : key.nested)
    for (auto& inner : section->keys)
      if (!inner.on_restart) set_rule(inner, rule);
}

}  // namespace

Key& Key::on_restart(OnRestart rule) {
  set_rule(*data_, rule);
  return *this;
}

Key& Key::on_restart(std::string_view inner, OnRestart rule) {
  for (auto& section : data_->nested)
    for (auto& key : section->keys)
      if (key.key == inner) set_rule(key, rule);
  return *this;
}

OnRestart restart_rule(const Key::Data& key) { return key.on_restart.value_or(OnRestart::physics); }

std::string restart_text(OnRestart rule) {
  constexpr const char* texts[] = {"free", "physics", "fixed"};
  return texts[static_cast<std::size_t>(rule)];
}

/// Properties in which the overloads below differ.
struct Schema::Value {
  Kind kind;
  Tree current;
  std::function<void(const Tree&)> assign;
  bool is_list = false;
  bool nullable = false;
};

namespace {

/// A list of values in canonical form, each made by `make`.
template <class T, class Make>
Tree list_of(const std::vector<T>& values, Make make) {
  Tree tree = Tree::list();
  for (const auto& value : values) tree.append(make(value));
  return tree;
}

/// Stores a list given in canonical form, each element read by `read`.
template <class T, class Read>
std::function<void(const Tree&)> assign_list(std::vector<T>& values, Read read) {
  return [&values, read](const Tree& tree) {
    values.clear();
    for (const auto& item : tree.items()) values.push_back((item.*read)());
  };
}

/// Stores a value or null given in canonical form.
template <class T, class Read>
std::function<void(const Tree&)> assign_optional(std::optional<T>& value, Read read) {
  return [&value, read](const Tree& tree) {
    if (tree.is_null())
      value.reset();
    else
      value = (tree.*read)();
  };
}

}  // namespace

Key Schema::value(std::string_view key, std::string_view doc, Value description) {
  auto& data = section_.keys.emplace_back();
  data.key = key;
  data.doc = doc;
  data.kind = description.kind;
  data.current = std::move(description.current);
  data.assign = std::move(description.assign);
  data.is_list = description.is_list;
  data.nullable = description.nullable;
  return Key(data);
}

Key Schema::quantity(std::string_view key, double& value, std::string_view unit, std::string_view doc) {
  auto made = number(key, value, doc);
  section_.keys.back().kind = Kind::quantity;
  section_.keys.back().unit = unit;
  return made;
}

Key Schema::quantity(std::string_view key, std::optional<double>& value, std::string_view unit,
                     std::string_view doc) {
  auto made = number(key, value, doc);
  section_.keys.back().kind = Kind::quantity;
  section_.keys.back().unit = unit;
  return made;
}

Key Schema::quantities(std::string_view key, std::vector<double>& value, std::string_view unit,
                       std::string_view doc) {
  auto made = numbers(key, value, doc);
  section_.keys.back().kind = Kind::quantity;
  section_.keys.back().unit = unit;
  return made;
}

Key Schema::number(std::string_view key, double& value, std::string_view doc) {
  return this->value(key, doc,
                     {Kind::number, Tree::number(value), [&value](const Tree& t) { value = t.as_number(); }});
}

Key Schema::number(std::string_view key, std::optional<double>& value, std::string_view doc) {
  return this->value(key, doc,
                     {Kind::number, value ? Tree::number(*value) : Tree(),
                      assign_optional(value, &Tree::as_number), false, true});
}

Key Schema::numbers(std::string_view key, std::vector<double>& value, std::string_view doc) {
  return this->value(
      key, doc, {Kind::number, list_of(value, Tree::number), assign_list(value, &Tree::as_number), true});
}

Key Schema::integer(std::string_view key, std::int64_t& value, std::string_view doc) {
  return this->value(
      key, doc, {Kind::integer, Tree::integer(value), [&value](const Tree& t) { value = t.as_integer(); }});
}

Key Schema::integer(std::string_view key, int& value, std::string_view doc) {
  auto made = this->value(
      key, doc, {Kind::integer, Tree::integer(value), [&value](const Tree& t) { value = t.as_integer(); }});
  section_.keys.back().is_int = true;
  return made;
}

Key Schema::integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view doc) {
  return this->value(key, doc,
                     {Kind::integer, value ? Tree::integer(*value) : Tree(),
                      assign_optional(value, &Tree::as_integer), false, true});
}

Key Schema::integers(std::string_view key, std::vector<std::int64_t>& value, std::string_view doc) {
  return this->value(
      key, doc, {Kind::integer, list_of(value, Tree::integer), assign_list(value, &Tree::as_integer), true});
}

Key Schema::flag(std::string_view key, bool& value, std::string_view doc) {
  return this->value(key, doc,
                     {Kind::flag, Tree::boolean(value), [&value](const Tree& t) { value = t.as_boolean(); }});
}

Key Schema::text(std::string_view key, std::string& value, std::string_view doc) {
  return this->value(key, doc,
                     {Kind::text, Tree::text(value), [&value](const Tree& t) { value = t.as_text(); }});
}

Key Schema::text(std::string_view key, std::optional<std::string>& value, std::string_view doc) {
  return this->value(
      key, doc,
      {Kind::text, value ? Tree::text(*value) : Tree(), assign_optional(value, &Tree::as_text), false, true});
}

Key Schema::texts(std::string_view key, std::vector<std::string>& value, std::string_view doc) {
  return this->value(key, doc,
                     {Kind::text, list_of(value, Tree::text), assign_list(value, &Tree::as_text), true});
}

namespace {

FormulaText formula_of(const Tree& tree) {
  FormulaText formula(tree.as_text());
  formula.place = tree.location();
  return formula;
}

/// A number stays a number in documents.
Tree tree_of(const FormulaText& formula) {
  const bool is_number = !formula.empty() && to_number(formula.text);
  Tree tree = is_number ? Tree::scalar(formula.text) : Tree::text(formula.text);
  tree.set_location(formula.place);
  return tree;
}

}  // namespace

Key Schema::formula(std::string_view key, FormulaText& value, std::string_view doc) {
  return this->value(key, doc,
                     {Kind::formula, tree_of(value), [&value](const Tree& t) { value = formula_of(t); }});
}

Key Schema::formula(std::string_view key, std::optional<FormulaText>& value, std::string_view doc) {
  return this->value(key, doc,
                     {Kind::formula, value ? tree_of(*value) : Tree(),
                      [&value](const Tree& t) {
                        value.reset();
                        if (!t.is_null()) value = formula_of(t);
                      },
                      false, true});
}

Key Schema::formulas(std::string_view key, std::vector<FormulaText>& value, std::string_view doc) {
  const auto assign = [&value](const Tree& tree) {
    value.clear();
    for (const auto& item : tree.items()) value.push_back(formula_of(item));
  };
  return this->value(key, doc, {Kind::formula, list_of(value, tree_of), assign, true});
}

Key Schema::named_formulas(std::string_view key, std::vector<std::pair<std::string, FormulaText>>& value,
                           std::string_view doc) {
  Tree current = Tree::map();
  for (const auto& [name, formula] : value) current.set(name, tree_of(formula));
  const auto assign = [&value](const Tree& tree) {
    value.clear();
    for (const auto& [name, formula] : tree.entries()) value.emplace_back(name, formula_of(formula));
  };
  auto made = this->value(key, doc, {Kind::formula, std::move(current), assign});
  section_.keys.back().is_map = true;
  return made;
}

Key Schema::named_quantities(std::string_view key, std::vector<std::pair<std::string, double>>& value,
                             std::string_view unit, std::string_view doc) {
  Tree current = Tree::map();
  for (const auto& [name, number] : value) current.set(name, Tree::number(number));
  const auto assign = [&value](const Tree& tree) {
    value.clear();
    for (const auto& [name, number] : tree.entries()) value.emplace_back(name, number.as_number());
  };
  auto made = this->value(key, doc, {Kind::quantity, std::move(current), assign});
  section_.keys.back().is_map = true;
  section_.keys.back().unit = unit;
  return made;
}

Key Schema::choice_text(std::string_view key, const std::vector<std::string>& names, std::string_view current,
                        std::function<void(std::size_t)> assign, std::string_view doc) {
  const auto store = [names, assign = std::move(assign)](const Tree& tree) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == tree.as_text()) return assign(i);
  };
  auto made = value(key, doc, {Kind::choice, Tree::text(std::string(current)), store});
  section_.keys.back().choices = names;
  return made;
}

std::unique_ptr<Schema::Section> collect(const std::function<void(Schema&)>& describe, bool parsing,
                                         const Tree* given) {
  auto section = std::make_unique<Schema::Section>();
  section->parsing = parsing;
  section->given = given;
  Schema schema(*section);
  describe(schema);
  return section;
}

namespace {

/// The value given for a key, or nullptr.
const Tree* given_value(const Schema::Section& section, std::string_view key) {
  return section.given ? section.given->find(key) : nullptr;
}

/// Only maps are parsed as sections; anything else is an error that the parser reports.
const Tree* if_map(const Tree* tree) { return tree && tree->is_map() ? tree : nullptr; }

}  // namespace

Key Schema::nested(std::string_view key, const std::function<void(Schema&)>& describe, std::string_view doc) {
  auto made = value(key, doc, {Kind::section, {}, {}});
  section_.keys.back().nested.push_back(
      collect(describe, section_.parsing, if_map(given_value(section_, key))));
  return made;
}

Key Schema::nested_optional(std::string_view key, const std::function<void(Schema&)>& describe,
                            const std::function<void(bool)>& make_present, bool present,
                            std::string_view doc) {
  auto made = value(key, doc, {Kind::section, {}, {}, false, true});
  auto& data = section_.keys.back();
  if (const Tree* given = given_value(section_, key)) {
    present = !given->is_null();
    make_present(present);
  }
  data.is_sample = !present;
  data.nested.push_back(collect(describe, section_.parsing, if_map(given_value(section_, key))));
  return made;
}

Key Schema::nested_list(std::string_view key, const std::function<void(Schema&, std::size_t)>& describe,
                        const std::function<void(std::size_t)>& resize, std::size_t size,
                        std::string_view doc) {
  auto made = value(key, doc, {Kind::section, {}, {}, true});
  auto& data = section_.keys.back();
  const Tree* given = given_value(section_, key);
  if (given && given->is_list()) {
    size = given->items().size();
    resize(size);
  }
  data.is_sample = size == 0;
  for (std::size_t i = 0; i < std::max<std::size_t>(size, 1); ++i) {
    const Tree* element = given && given->is_list() && size > 0 ? if_map(&given->items()[i]) : nullptr;
    data.nested.push_back(collect([&](Schema& schema) { describe(schema, i); }, section_.parsing, element));
  }
  return made;
}

void Schema::check(std::function<std::optional<std::string>()> rule) {
  section_.rules.push_back(std::move(rule));
}

std::string joined_path(const std::string& section, const std::string& key) {
  return section.empty() ? key : fmt::format("{}.{}", section, key);
}

namespace {

std::string bound_text(const char* relation, double bound, const std::string& unit) {
  return fmt::format("{} {}{}{}", relation, number_text(bound), unit.empty() || unit == "1" ? "" : " ",
                     unit == "1" ? "" : unit);
}

std::string length_text(const Key::Data& key) {
  const char* what = key.kind == Kind::section ? "section" : "value";
  const bool bounded = key.most != std::numeric_limits<std::size_t>::max();
  if (key.least == key.most) return counted(key.least, what);
  if (bounded) return fmt::format("{} to {}", key.least, counted(key.most, what));
  return key.least > 0 ? "at least " + counted(key.least, what) : "";
}

}  // namespace

std::string range_text(const Key::Data& key) {
  std::vector<std::string> parts;
  if (auto length = length_text(key); !length.empty()) parts.push_back(std::move(length));
  std::string range;
  if (key.minimum) range = bound_text(key.above ? "above" : "at least", *key.minimum, key.unit);
  if (key.minimum && key.maximum) range += " and ";
  if (key.maximum) range += bound_text(key.below ? "below" : "at most", *key.maximum, key.unit);
  if (!range.empty()) parts.push_back(key.is_list ? "each " + range : range);
  return fmt::format("{}", fmt::join(parts, ", "));
}

Tree value_tree(const Key::Data& key) {
  if (key.kind != Kind::quantity || key.current.is_null() || key.unit == "1") return key.current;
  const auto with_unit = [&](const Tree& value) {
    return Tree::scalar(fmt::format("{} {}", value.as_text(), key.unit));
  };
  if (key.is_map) {
    Tree map = Tree::map();
    for (const auto& [name, value] : key.current.entries()) map.set(name, with_unit(value));
    return map;
  }
  if (!key.is_list) return with_unit(key.current);
  Tree list = Tree::list();
  for (const auto& item : key.current.items()) list.append(with_unit(item));
  return list;
}

}  // namespace quintet
