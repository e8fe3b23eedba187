#include "io/config/schema_hints.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "io/config/scalar.hpp"
#include "io/config/suggest.hpp"
#include "io/config/tree.hpp"
#include "io/config/units.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

bool are_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::size_t digits_at_start(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// 10^5 or 10**5 as 1e5, 3*10^5 as 3e5; "" for others.
std::string with_exponent(std::string_view text) {
  std::string_view mantissa = "1";
  const auto times = text.find_first_of("*x");
  if (times != std::string_view::npos && text.substr(times + 1, 2) == "10") {
    mantissa = trimmed(text.substr(0, times));
    text = text.substr(times + 1);
  }
  for (const std::string_view power : {"10^", "10**"})
    if (text.starts_with(power)) {
      auto exponent = text.substr(power.size());
      const std::string_view sign = exponent.starts_with('-') ? "-" : "";
      exponent.remove_prefix(sign.size());
      if (are_digits(exponent) && to_number(mantissa))
        return fmt::format("{}e{}{}", mantissa, sign, exponent);
    }
  return {};
}

bool is_unit(std::string_view text) {
  try {
    return !text.empty() && !dimension_name(text).empty();
  } catch (const InputError&) {
    return false;
  }
}

bool is_same_unit(std::string_view a, std::string_view b) {
  try {
    return unit_factor(a, b) == 1;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

std::string number_hint(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == '_' || c == ',' || c == '\''; });
  if (const auto point = without_decimal_comma(text); point && to_number(*point))
    return fmt::format("; write {} with a decimal point", *point);
  if (plain != text && to_number(plain)) return fmt::format("; write {} without separators", plain);
  if (const auto short_form = with_exponent(text); !short_form.empty()) return "; write " + short_form;
  const auto number = number_prefix(text);
  if (number && !number->in_range) return "; it is out of the range of a double";
  if (!number || number->length == text.size()) return {};
  const auto rest = trimmed(text.substr(number->length));
  if (std::string_view("+-*/^(").find(rest.front()) != std::string_view::npos)
    return "; this key takes no formula";
  return "; this key takes no unit";
}

std::string plain_formula_problem(std::string_view text) {
  if (is_nonfinite_text(text) || is_nonfinite_text(fmt::format(".{}", text)))
    return fmt::format("'{}' is not a finite number; expected a formula or a number", text);
  if (const auto point = without_decimal_comma(text); point && to_number(*point))
    return fmt::format("'{}' has a decimal comma; write {}", text, *point);
  const auto number = number_prefix(text);
  if (!number || number->length == text.size() || text[number->length] != ' ') return {};
  const auto unit = trimmed(text.substr(number->length));
  const bool is_word = std::isalpha(static_cast<unsigned char>(unit.front())) != 0;
  if (!is_word || !is_unit(unit)) return {};
  return fmt::format(
      "'{}' has a unit, but this key takes a number or a formula in the units of the equations; write {}",
      text, text.substr(0, number->length));
}

std::string choice_hint(std::string_view text, const std::vector<std::string>& choices) {
  for (const auto& choice : choices)
    if (lower_case(choice) == lower_case(text) || is_same_unit(text, choice))
      return fmt::format("; did you mean '{}'?", choice);
  return did_you_mean(text, choices);
}

std::string bare_key_hint(std::string_view key, const Tree& value, const Tree* before,
                          const std::vector<std::string>& names) {
  if (!value.is_null()) return {};
  if (before != nullptr && before->is_scalar() && are_digits(key.substr(0, digits_at_start(key))) &&
      to_number(before->as_text()))
    return fmt::format("; a comma begins a new key here: write {}.{} with a decimal point", before->as_text(),
                       key);
  const auto end = key.find_first_of(" :=");
  if (end == std::string_view::npos ||
      (!names.empty() && std::find(names.begin(), names.end(), key.substr(0, end)) == names.end()))
    return {};
  const auto rest = key.find_first_not_of(" :=", end);
  if (rest == std::string_view::npos) return {};
  return fmt::format("; write '{}: {}'", key.substr(0, end), key.substr(rest));
}

namespace {

namespace fs = std::filesystem;

/// The one of the names that begins as what was given, of three letters or more; "" if none does or several
/// do.
std::string only_one_that_begins(const std::string& given, const std::vector<std::string>& names) {
  constexpr std::size_t least = 3;
  const auto begins = [&](const std::string& name) { return name.starts_with(given); };
  if (given.size() < least || std::count_if(names.begin(), names.end(), begins) != 1) return {};
  return *std::find_if(names.begin(), names.end(), begins);
}

/// The entry of a folder whose name is nearest to one that is not there; of files those of the same ending,
/// by their stems, since that all end alike says nothing; else the only one that begins so. "" if none does.
fs::path nearest_entry(const fs::path& folder, const fs::path& name) {
  constexpr int most = 10000;
  std::vector<std::string> stems;
  std::error_code ignored;
  int seen = 0;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end && seen < most;
       entry.increment(ignored), ++seen)
    if (const auto path = entry->path(); path.extension() == name.extension())
      stems.push_back(path.stem().string());
  std::sort(stems.begin(), stems.end());
  auto near = closest(name.stem().string(), stems);
  if (near.empty()) near = only_one_that_begins(name.stem().string(), stems);
  return near.empty() ? fs::path() : fs::path(near + name.extension().string());
}

}  // namespace

std::string file_hint(const fs::path& folder, const fs::path& name) {
  std::error_code ignored;
  fs::path there, missing;
  for (const auto& part : name) {
    if (fs::exists(folder / there / part, ignored)) {
      there /= part;
      continue;
    }
    if (missing.empty()) missing = there / part;
    const auto near = nearest_entry(folder / there, part);
    if (near.empty())
      return missing == name ? "" : fmt::format("; there is no folder '{}'", missing.string());
    there /= near;
  }
  return fs::is_regular_file(folder / there, ignored) ? fmt::format("; did you mean '{}'?", there.string())
                                                      : "";
}

namespace {

constexpr auto letters_of_paths = "abcdefghijklmnopqrstuvwxyz0123456789_.";

/// The value of a path "grid.upper.0", or of the part of it that the document has; null if it has nothing.
/// `is_whole`: whether all of it is there.
const Tree* value_at(const Tree& document, std::string_view path, bool* is_whole = nullptr) {
  const Tree* at = &document;
  const Tree* found = nullptr;
  while (!path.empty()) {
    const auto end = std::min(path.find('.'), path.size());
    const std::string word(path.substr(0, end));
    if (at->is_map())
      at = at->find(word);
    else if (at->is_list() && !word.empty() && word.size() < 9 &&
             word.find_first_not_of("0123456789") == std::string::npos &&
             std::stoul(word) < at->items().size())
      at = &at->items()[std::stoul(word)];
    else
      at = nullptr;
    if (at == nullptr) break;
    found = at;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  if (is_whole != nullptr) *is_whole = at != nullptr;
  return found;
}

const Tree* whole_value_at(const Tree& document, std::string_view path) {
  bool is_whole = false;
  const Tree* const value = value_at(document, path, &is_whole);
  return is_whole ? value : nullptr;
}

}  // namespace

const Tree* value_named_in(std::string_view message, const Tree& tree) {
  const auto end = std::min(message.find_first_not_of(letters_of_paths), message.size());
  const auto first = message.substr(0, end);
  // One word may be the first of a sentence; a path is none.
  const bool is_key =
      (end < message.size() && message[end] == ':') || first.find('.') != std::string_view::npos;
  const Tree* value = is_key ? whole_value_at(tree, first) : nullptr;
  for (auto begin = end; value == nullptr && begin < message.size();) {
    begin = std::min(message.find_first_of(letters_of_paths, begin), message.size());
    const auto length = std::min(message.find_first_not_of(letters_of_paths, begin), message.size()) - begin;
    const auto word = message.substr(begin, length);
    if (word.find('.') != std::string_view::npos && !word.ends_with('.')) value = whole_value_at(tree, word);
    begin += length;
  }
  return value == nullptr && is_key ? value_at(tree, first) : value;
}

}  // namespace quintet
