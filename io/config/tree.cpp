#include "io/config/tree.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "io/config/scalar.hpp"
#include "io/config/suggest.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

/// Throw "<place>: expected ..., found ...".
[[noreturn]] void wrong_type(const Tree& tree, std::string_view expected) {
  const auto place = tree.location().text();
  throw InputError(
      fmt::format("{}{}expected {}, found {}", place, place.empty() ? "" : ": ", expected, tree.found()));
}

Tree& list_element(Tree::List& items, std::string_view index, std::string_view path, const Location& place) {
  std::size_t i = 0;
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), i);
  QUINTET_CHECK(error == std::errc{} && end == index.data() + index.size() && i < items.size(),
                "{}: in '{}', '{}' is no element of a list of {}; elements are numbered from 0", place.text(),
                path, index, items.size());
  return items[i];
}

}  // namespace

std::string Location::text() const {
  if (line == 0 || file.starts_with("--")) return file;
  return fmt::format("{}:{}:{}", file, line, column);
}

Tree Tree::scalar(std::string text, bool quoted) {
  Tree tree;
  tree.value_ = std::move(text);
  tree.quoted_ = quoted;
  return tree;
}

Tree Tree::text(std::string text) {
  const bool looks_otherwise =
      is_null_text(text) || is_nonfinite_text(text) || to_number(text) || to_boolean(text);
  return scalar(std::move(text), looks_otherwise);
}

Tree Tree::number(double value) { return scalar(number_text(value)); }
Tree Tree::integer(std::int64_t value) { return scalar(fmt::format("{}", value)); }
Tree Tree::boolean(bool value) { return scalar(value ? "true" : "false"); }

Tree Tree::list(List items) {
  Tree tree;
  tree.value_ = std::move(items);
  return tree;
}

Tree Tree::map(Map items) {
  Tree tree;
  tree.value_ = std::move(items);
  return tree;
}

const std::string& Tree::as_text() const {
  if (!is_scalar()) wrong_type(*this, "text");
  return std::get<std::string>(value_);
}

double Tree::as_number() const {
  const auto number = is_scalar() && !quoted_ ? to_number(std::get<std::string>(value_)) : std::nullopt;
  if (!number) wrong_type(*this, "a finite number");
  return *number;
}

std::int64_t Tree::as_integer() const {
  const auto number = is_scalar() && !quoted_ ? to_integer(std::get<std::string>(value_)) : std::nullopt;
  if (!number) wrong_type(*this, "an integer");
  return *number;
}

bool Tree::as_boolean() const {
  const auto flag = is_scalar() && !quoted_ ? to_boolean(std::get<std::string>(value_)) : std::nullopt;
  if (!flag) wrong_type(*this, "true or false");
  return *flag;
}

const Tree::List& Tree::items() const {
  static const List empty;
  if (is_null()) return empty;
  if (!is_list()) wrong_type(*this, "a list");
  return std::get<List>(value_);
}

const Tree::Map& Tree::entries() const {
  static const Map empty;
  if (is_null()) return empty;
  if (!is_map()) wrong_type(*this, "a map of keys and values");
  return std::get<Map>(value_);
}

const Tree* Tree::find(std::string_view key) const {
  const auto& map = entries();
  const auto entry = std::find_if(map.begin(), map.end(), [&](const auto& e) { return e.first == key; });
  return entry == map.end() ? nullptr : &entry->second;
}

const Tree& Tree::at(std::string_view key) const {
  const Tree* value = find(key);
  if (value) return *value;
  std::vector<std::string> names;
  for (const auto& [name, unused] : entries()) names.push_back(name);
  const auto place = location_.text();
  throw InputError(
      fmt::format("{}{}missing key '{}'{}", place, place.empty() ? "" : ": ", key, did_you_mean(key, names)));
}

void Tree::set(std::string_view key, Tree value) {
  if (is_null()) value_ = Map{};
  if (!is_map()) wrong_type(*this, fmt::format("a map in which to set '{}'", key));
  if (value.key_line_ == 0) value.set_key_place(value.location_.line, value.location_.column);
  auto& map = std::get<Map>(value_);
  const auto entry = std::find_if(map.begin(), map.end(), [&](const auto& e) { return e.first == key; });
  if (entry == map.end())
    map.emplace_back(key, std::move(value));
  else
    entry->second = std::move(value);
}

void Tree::append(Tree value) {
  if (is_null()) value_ = List{};
  if (!is_list()) wrong_type(*this, "a list to append to");
  std::get<List>(value_).push_back(std::move(value));
}

void Tree::set_path(std::string_view dotted, Tree value) {
  const auto place = value.location();
  Tree* node = this;
  for (std::size_t start = 0; start <= dotted.size();) {
    const auto dot = std::min(dotted.find('.', start), dotted.size());
    const auto key = dotted.substr(start, dot - start);
    const auto above = dotted.substr(0, start == 0 ? 0 : start - 1);
    QUINTET_CHECK(!key.empty(), "{}: '{}' is no path of keys such as time.dt", place.text(), dotted);
    QUINTET_CHECK(!node->is_scalar(), "{}: '{}' is {} at {} and has no key '{}'", place.text(), above,
                  node->found(), node->location_.text(), key);
    if (node->is_list()) {
      node = &list_element(std::get<List>(node->value_), key, dotted, place);
    } else {
      if (!node->has(key)) {
        Tree created;
        created.set_location(place);
        node->set(key, std::move(created));
      }
      node = const_cast<Tree*>(node->find(key));
    }
    start = dot + 1;
  }
  value.set_key_place(place.line, place.column);
  *node = std::move(value);
}

Location Tree::key_location() const {
  return key_line_ == 0 ? location_ : Location{location_.file, key_line_, key_column_};
}

std::string Tree::found() const {
  if (is_null()) return "nothing";
  if (is_list()) return fmt::format("a list of {}", std::get<List>(value_).size());
  if (is_map()) return "a map";
  constexpr std::size_t shown = 60;
  const auto& text = std::get<std::string>(value_);
  const auto cut = text.size() > shown ? text.substr(0, shown) + "..." : text;
  return !quoted_ && to_number(text) ? fmt::format("the number {}", cut) : fmt::format("the text '{}'", cut);
}

}  // namespace quintet
