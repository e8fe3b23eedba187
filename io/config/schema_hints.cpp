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

/// The entry of a folder whose name is nearest to one that is not there; of files those of the same ending,
/// by their stems, since that all end alike says nothing. "" if none is near.
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
  const auto near = closest(name.stem().string(), stems);
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

}  // namespace quintet
