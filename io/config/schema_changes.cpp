#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "io/config/scalar.hpp"
#include "io/config/schema_data.hpp"
#include "io/config/units.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

using Section = Schema::Section;

/// Rounding when one value is written in two units: 0.5 fs and 0.0005 ps.
constexpr double same_number = 1e-14;

bool same_numbers(double a, double b) {
  return std::abs(a - b) <= same_number * std::max(std::abs(a), std::abs(b));
}

std::optional<double> number_of(const Key::Data& key, const Tree& value) {
  if (!value.is_scalar()) return std::nullopt;
  if (key.kind != Kind::quantity || to_number(value.as_text())) return to_number(value.as_text());
  try {
    return parse_quantity(value.as_text(), key.unit);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
  return text;
}

bool same_scalars(const Key::Data& key, const Tree& a, const Tree& b) {
  if (!a.is_scalar() || !b.is_scalar()) return a.is_null() && b.is_null();
  if (key.kind == Kind::flag) return to_boolean(a.as_text()) == to_boolean(b.as_text());
  const bool may_be_number = key.kind != Kind::text && key.kind != Kind::choice;
  const auto x = may_be_number ? number_of(key, a) : std::nullopt;
  const auto y = may_be_number ? number_of(key, b) : std::nullopt;
  if (x && y) return same_numbers(*x, *y);
  if (key.kind == Kind::formula) return without_spaces(a.as_text()) == without_spaces(b.as_text());
  return a.as_text() == b.as_text();
}

bool same_lists(const Key::Data& key, const Tree& a, const Tree& b) {
  return a.is_list() && b.is_list() &&
         std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                    [&](const Tree& x, const Tree& y) { return same_scalars(key, x, y); });
}

bool same_maps(const Key::Data& key, const Tree& a, const Tree& b) {
  if (!a.is_map() || !b.is_map() || a.entries().size() != b.entries().size()) return false;
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const auto& entry) {
    const Tree* other = b.find(entry.first);
    return other && same_scalars(key, entry.second, *other);
  });
}

bool same_values(const Key::Data& key, const Tree& a, const Tree& b) {
  return key.is_list ? same_lists(key, a, b) : key.is_map ? same_maps(key, a, b) : same_scalars(key, a, b);
}

/// A value as a message shows it.
std::string shown(const Key::Data& key, const Tree& value) {
  if (value.is_null()) return "absent";
  if (key.kind != Kind::section) return inline_yaml(value);
  if (!key.is_list) return "given";
  return fmt::format("{}", counted(value.items().size(), "section"));
}

bool is_in_any_order(const Section& section, const std::string& key) {
  return std::any_of(section.rules.begin(), section.rules.end(), [&](const auto& rule) {
    const auto* const mark = rule.template target<AnyOrder>();
    return mark && mark->key == key;
  });
}

/// Finds what differs, section by section.
class Comparison {
 public:
  /// `fresh` is the same section with its defaults, where known; `then` what the earlier run had.
  void section(const Section& now, const Section* fresh, const Tree& then, const std::string& path) {
    for (const auto& key : now.keys) {
      const Key::Data* fresh_key = find_key(fresh, key.key);
      const Tree* before = then.find(key.key);
      if (!before && (!fresh_key || key.required)) continue;
      Tree then_value = before ? *before : key_tree(*fresh_key);
      if (key.is_list && then_value.is_list() && is_in_any_order(now, key.key))
        then_value = sorted_like(key, fresh_key, then_value);
      this->key(key, fresh_key, then_value, joined_path(path, key.key));
    }
  }

  [[nodiscard]] std::vector<Change> take() { return std::move(changes_); }

 private:
  void key(const Key::Data& now, const Key::Data* fresh, const Tree& then, const std::string& path) {
    const Section* fresh_section = fresh && !fresh->nested.empty() ? fresh->nested.front().get() : nullptr;
    if (now.kind != Kind::section) {
      if (!same_values(now, then, value_tree(now))) add(now, then, path);
    } else if (now.is_list) {
      list(now, fresh_section, then, path);
    } else if (now.is_sample == then.is_map()) {
      add(now, then, path);
    } else if (!now.is_sample) {
      section(*now.nested.front(), fresh_section, then, path);
    }
  }

  /// Items of former values, each that is still there at its present place.
  static Tree sorted_like(const Key::Data& now, const Key::Data* fresh, const Tree& then) {
    const auto is_same = [&](std::size_t i, const Tree& former) {
      if (now.kind != Kind::section) return same_scalars(now, former, value_tree(now).items()[i]);
      const Section* fresh_section = fresh && !fresh->nested.empty() ? fresh->nested.front().get() : nullptr;
      Comparison trial;
      trial.section(*now.nested[i], fresh_section, former, "");
      return former.is_map() && trial.changes_.empty();
    };
    const std::size_t n = now.kind != Kind::section ? value_tree(now).items().size()
                          : now.is_sample           ? 0
                                                    : now.nested.size();
    std::vector<Tree> left(then.items().begin(), then.items().end());
    std::vector<std::optional<Tree>> places(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto found =
          std::find_if(left.begin(), left.end(), [&](const Tree& former) { return is_same(i, former); });
      if (found == left.end()) continue;
      places[i] = *found;
      left.erase(found);
    }
    Tree sorted = Tree::list();
    auto next = left.begin();
    for (auto& place : places) {
      if (!place && next != left.end()) place = *next++;
      if (place) sorted.append(*place);
    }
    while (next != left.end()) sorted.append(*next++);
    return sorted;
  }

  void list(const Key::Data& now, const Section* fresh, const Tree& then, const std::string& path) {
    const std::size_t size = now.is_sample ? 0 : now.nested.size();
    if (!then.is_list() || then.items().size() != size) return add(now, then, path);
    for (std::size_t i = 0; i < size; ++i)
      if (then.items()[i].is_map())
        section(*now.nested[i], fresh, then.items()[i], fmt::format("{}.{}", path, i));
  }

  void add(const Key::Data& now, const Tree& then, const std::string& path) {
    changes_.push_back({path, restart_rule(now), shown(now, then), shown(now, key_tree(now)), now.is_file});
  }

  std::vector<Change> changes_;
};

void collect_files(const Section& section, const std::string& path, std::vector<InputFile>& files) {
  for (const auto& key : section.keys) {
    const auto full = joined_path(path, key.key);
    const auto add = [&](const Tree& value) {
      if (value.is_scalar() && !value.as_text().empty())
        files.push_back({full, value.as_text(), restart_rule(key)});
    };
    if (key.is_file && !key.is_list) add(key.current);
    if (key.is_file && key.is_list)
      for (const auto& item : key.current.items()) add(item);
    if (key.is_sample) continue;
    for (std::size_t i = 0; i < key.nested.size(); ++i)
      collect_files(*key.nested[i], key.is_list ? fmt::format("{}.{}", full, i) : full, files);
  }
}

}  // namespace

std::vector<Change> changes_since(const Tree& former, const Describe& describe) {
  const auto now = collect(describe.current());
  const auto fresh = describe.knows_defaults() ? collect(describe.defaults()) : nullptr;
  Comparison comparison;
  comparison.section(*now, fresh.get(), former.is_map() ? former : Tree::map(), "");
  return comparison.take();
}

std::vector<InputFile> input_files(const Describe& describe) {
  std::vector<InputFile> files;
  collect_files(*collect(describe.current()), "", files);
  return files;
}

}  // namespace quintet
