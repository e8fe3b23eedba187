#include <algorithm>
#include <filesystem>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/config/scalar.hpp"
#include "io/config/schema_data.hpp"
#include "io/config/schema_hints.hpp"
#include "io/config/schema_marks.hpp"
#include "io/config/suggest.hpp"
#include "io/config/units.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

using Section = Schema::Section;

/// One mistake of the user.
struct Problem {
  Location place;
  std::string text;
};

/// A key with the path that leads to it.
struct KeyPath {
  std::string section, key;
};

void collect_paths(const Section& section, const std::string& path, std::vector<KeyPath>& paths) {
  for (const auto& key : section.keys) {
    paths.push_back({path, key.key});
    if (!key.nested.empty()) collect_paths(*key.nested.front(), joined_path(path, key.key), paths);
  }
}

/// "a number with a unit such as '0.5 ps'" ...: what one value of a key must look like.
std::string expected_value(const Key::Data& key) {
  switch (key.kind) {
    case Kind::quantity:
      return key.unit == "1" ? "a number" : fmt::format("a number with a unit such as '0.5 {}'", key.unit);
    case Kind::number:
      return "a number";
    case Kind::integer:
      return "an integer";
    case Kind::flag:
      return "true or false";
    case Kind::text:
      return "text";
    case Kind::formula:
      return "a formula or a number";
    case Kind::choice:
      return fmt::format("one of {}", name_list(key.choices));
    case Kind::section:
      return "a section (keys with values)";
  }
  throw InternalError("a kind of key without words");
}

/// Text on what a key expects, with list form and range.
std::string expected(const Key::Data& key) {
  std::string text = expected_value(key);
  if (key.is_map)
    text = key.kind == Kind::quantity ? fmt::format("names with numbers such as {{a: 2{0}, b: 3{0}}}",
                                                    key.unit == "1" ? "" : " " + key.unit)
                                      : "names with formulas or numbers such as {k: 0.5, length: 2*pi/k}";
  if (key.is_list) {
    switch (key.kind) {
      case Kind::quantity:
        text = fmt::format("a list of numbers with unit such as [1 {0}, 2 {0}]", key.unit);
        break;
      case Kind::number:
        text = "a list of numbers such as [0.5, 1]";
        break;
      case Kind::integer:
        text = "a list of integers such as [2, 2, 1]";
        break;
      case Kind::formula:
        text = "formulas or numbers such as [0.5, 2*pi]";
        break;
      case Kind::section:
        text = "a list of sections, each starting with '- '";
        break;
      case Kind::flag:
      case Kind::text:
      case Kind::choice:
        text = key.is_file ? "a file or a list of files such as [a, b]" : "a list such as [a, b]";
    }
  }
  const auto range = range_text(key);
  return range.empty() ? text : text + ", " + range;
}

/// Checks a document against a description and fills the options.
class Parser {
 public:
  explicit Parser(const Section& root) { collect_paths(root, "", paths_); }

  void section(const Section& section, const std::string& path, const Location& place) {
    const auto before = problems_.size();
    if (section.given) unknown_keys(section, path);
    for (const auto& key : section.keys) {
      const Tree* given = section.given ? section.given->find(key.key) : nullptr;
      const auto full = joined_path(path, key.key);
      if (key.required && !given)
        problem(place, full,
                fmt::format("required key is missing; expected {} ({})", expected(key), key.doc));
      else if (key.kind == Kind::section)
        key.is_list ? section_list(key, given, full) : nested_section(key, given, full, place);
      else if (given) {
        section_ = &section;
        value(key, *given, full);
      }
    }
    if (problems_.size() == before) rules(section, path, place);
  }

  /// Throws one InputError with all problems, sorted by place.
  void finish() {
    if (problems_.empty()) return;
    const auto order = [](const Problem& p) { return std::tie(p.place.file, p.place.line, p.place.column); };
    std::stable_sort(problems_.begin(), problems_.end(),
                     [&](const Problem& a, const Problem& b) { return order(a) < order(b); });
    std::vector<std::string> lines;
    for (const auto& problem : problems_) lines.push_back(problem.text);
    throw InputError(fmt::format("{}", fmt::join(lines, "\n")));
  }

  void problem(const Location& place, const std::string& path, const std::string& what) {
    const auto where = place.text();
    problems_.push_back({place, fmt::format("{}{}{}{}{}", where, where.empty() ? "" : ": ", path,
                                            path.empty() ? "" : ": ", what)});
  }

 private:
  void rules(const Section& section, const std::string& path, const Location& place) {
    for (const auto& rule : section.rules)
      if (const auto message = rule()) {
        const Tree* const about = section.given ? value_named_in(*message, *section.given) : nullptr;
        problem(about != nullptr ? about->location() : place, path, *message);
      }
  }

  void unknown_keys(const Section& section, const std::string& path) {
    std::vector<std::string> names;
    for (const auto& key : section.keys) names.push_back(key.key);
    const Tree* before = nullptr;
    for (const auto& [key, value] : section.given->entries()) {
      const Tree* const in_front = std::exchange(before, &value);
      if (std::find(names.begin(), names.end(), key) != names.end()) continue;
      if (const auto* const without = without_key(section, key)) {
        if (!value.is_scalar() || value.as_text() != without->harmless)
          problem(value.key_location(), joined_path(path, key), without->reason);
        continue;
      }
      const auto bare = bare_key_hint(key, value, in_front, names);
      problem(value.key_location(), joined_path(path, key),
              "unknown key" + (bare.empty() ? hint(key, path, names) : bare));
    }
  }

  static const WithoutKey* without_key(const Section& section, const std::string& key) {
    for (const auto& rule : section.rules)
      if (const auto* const without = rule.target<WithoutKey>(); without && without->key == key)
        return without;
    return nullptr;
  }

  /// A near name in this section, else the same name in another, else a near one there, else the names of
  /// this one.
  std::string hint(const std::string& key, const std::string& path,
                   const std::vector<std::string>& names) const {
    if (const auto near = closest(key, names); !near.empty())
      return fmt::format("; did you mean '{}'?", near);
    std::vector<std::string> elsewhere;
    for (const auto& other : paths_)
      if (other.section != path) elsewhere.push_back(other.key);
    const auto exact = std::find(elsewhere.begin(), elsewhere.end(), key) != elsewhere.end();
    const auto name = exact ? key : closest(key, elsewhere);
    std::vector<std::string> homes;
    for (const auto& other : paths_)
      if (!name.empty() && other.section != path && other.key == name)
        homes.push_back(joined_path(other.section, name));
    if (!homes.empty()) return fmt::format("; did you mean '{}'?", fmt::join(homes, "' or '"));
    return names.empty() ? std::string("; this section has no keys") : "; known here: " + name_list(names);
  }

  void nested_section(const Key::Data& key, const Tree* given, const std::string& path,
                      const Location& place) {
    if (given && !given->is_map() && !given->is_null())
      return problem(given->location(), path,
                     fmt::format("expected {}, found {}", expected(key), given->found()));
    if (!key.is_sample) section(*key.nested.front(), path, given ? given->key_location() : place);
  }

  void section_list(const Key::Data& key, const Tree* given, const std::string& path) {
    if (!given) return;
    if (!given->is_list())
      return problem(given->location(), path,
                     fmt::format("expected {}, found {}", expected(key), given->found()));
    check_length(key, *given, path);
    for (std::size_t i = 0; i < given->items().size(); ++i) {
      const Tree& item = given->items()[i];
      const auto element = fmt::format("{}.{}", path, i);
      if (item.is_map() || item.is_null())
        section(*key.nested[i], element, item.location());
      else
        problem(item.location(), element,
                fmt::format("expected {}, found {}", expected_value(key), item.found()));
    }
  }

  void check_length(const Key::Data& key, const Tree& list, const std::string& path) {
    const auto n = list.items().size();
    if (n < key.least || n > key.most)
      problem(list.location(), path,
              fmt::format("the list has {}; expected {}", counted(n, "element"), expected(key)));
  }

  void value(const Key::Data& key, const Tree& given, const std::string& path) {
    const auto before = problems_.size();
    Tree canonical;
    if (given.is_null()) {
      if (!key.nullable)
        problem(given.key_location(), path, fmt::format("has no value; expected {}", expected(key)));
    } else {
      canonical = key.is_list  ? list(key, given, path)
                  : key.is_map ? named(key, given, path)
                               : scalar(key, given, path);
    }
    if (problems_.size() == before) key.assign(canonical);
  }

  /// Values under the user's names in canonical form.
  Tree named(const Key::Data& key, const Tree& given, const std::string& path) {
    Tree canonical = Tree::map();
    if (!given.is_map())
      problem(given.location(), path, fmt::format("expected {}, found {}", expected(key), given.found()));
    else
      add_named(key, given, path, "", canonical);
    return canonical;
  }

  /// A name may hold points, as those of a network's layers do, which divide keys of a path (--set
  /// tile.middle.conv2=2): a map within stands for names that begin alike, and takes the place of such a one.
  void add_named(const Key::Data& key, const Tree& given, const std::string& path, const std::string& before,
                 Tree& canonical) {
    for (const auto& [part, value] : given.entries()) {
      const std::string name = before + part, place = joined_path(path, part);
      if (key.kind == Kind::quantity && value.is_map() && !value.entries().empty()) {
        add_named(key, value, place, name + ".", canonical);
        continue;
      }
      if (canonical.has(name) && !value.location().file.starts_with("--"))
        problem(value.key_location(), place, "is there twice");
      if (const auto bare = bare_key_hint(part, value, nullptr, {}); !bare.empty()) {
        problem(value.key_location(), place, "has no value" + bare);
        continue;
      }
      canonical.set(name, scalar(key, value, place));
    }
  }

  /// A list in canonical form; a list of quantities may also be one text, "1 1 2 bar", and one formula or one
  /// file is a list of one.
  Tree list(const Key::Data& key, const Tree& given, const std::string& path) {
    Tree canonical = Tree::list();
    if (key.kind == Kind::quantity && given.is_scalar()) {
      guarded(given, path, [&] {
        for (const double number : parse_quantities(given.as_text(), key.unit)) {
          check_range(key, number, given, path);
          canonical.append(Tree::number(number));
        }
      });
    } else if ((key.kind == Kind::formula || key.is_file) && given.is_scalar()) {
      canonical.append(scalar(key, given, path));
    } else if (given.is_list()) {
      for (std::size_t i = 0; i < given.items().size(); ++i)
        canonical.append(scalar(key, given.items()[i], fmt::format("{}.{}", path, i)));
    } else {
      problem(given.location(), path, fmt::format("expected {}, found {}", expected(key), given.found()));
      return canonical;
    }
    canonical.set_location(given.location());
    check_length(key, canonical, path);
    return canonical;
  }

  /// One value in canonical form: a number in the internal unit, an integer, true or false, a text, a name.
  Tree scalar(const Key::Data& key, const Tree& given, const std::string& path) {
    if (!given.is_scalar()) {
      problem(given.location(), path,
              fmt::format("expected {}, found {}", expected_scalar(key), given.found()));
      return {};
    }
    switch (key.kind) {
      case Kind::quantity:
        return quantity(key, given, path);
      case Kind::number:
        return number(key, given, path);
      case Kind::integer:
        return integer(key, given, path);
      case Kind::flag:
        return flag(key, given, path);
      case Kind::formula:
        return formula(given, path);
      case Kind::choice:
        return choice(key, given, path);
      case Kind::text:
        return key.is_file ? file(key, given, path) : Tree::text(given.as_text());
      case Kind::section:
        break;
    }
    throw InternalError("a key whose kind is no value");
  }

  static std::string expected_scalar(const Key::Data& key) {
    return key.is_list || key.is_map ? expected_value(key) : expected(key);
  }

  Tree quantity(const Key::Data& key, const Tree& given, const std::string& path) {
    Tree canonical;
    guarded(given, path, [&] {
      QUINTET_CHECK(!is_nonfinite_text(given.as_text()), "'{}' is not a finite number; expected {}",
                    given.as_text(), expected_scalar(key));
      const double value = parse_quantity(given.as_text(), key.unit);
      check_range(key, value, given, path);
      canonical = Tree::number(value);
    });
    return canonical;
  }

  Tree number(const Key::Data& key, const Tree& given, const std::string& path) {
    const auto value = given.quoted() ? std::nullopt : to_number(given.as_text());
    if (!value) return wrong_number(key, given, path);
    check_range(key, *value, given, path);
    return Tree::number(*value);
  }

  Tree integer(const Key::Data& key, const Tree& given, const std::string& path) {
    const auto value = given.quoted() ? std::nullopt : to_integer(given.as_text());
    if (!value) return wrong_number(key, given, path);
    const bool fits = !key.is_int || (*value >= std::numeric_limits<int>::min() &&
                                      *value <= std::numeric_limits<int>::max());
    if (!fits)
      problem(given.location(), path, fmt::format("{} is too large for a 32-bit integer", given.as_text()));
    check_range(key, *value, given, path);
    return Tree::integer(*value);
  }

  /// The message for a text that is not a number, with the reason where it can be seen.
  Tree wrong_number(const Key::Data& key, const Tree& given, const std::string& path) {
    const auto& text = given.as_text();
    std::string what = fmt::format("expected {}, found {}", expected_scalar(key), given.found());
    if (given.quoted() && to_number(text))
      what += fmt::format("; write {} without quotes", text);
    else if (is_nonfinite_text(text) || is_nonfinite_text("." + text))
      what = fmt::format("'{}' is not a finite number; expected {}", text, expected_scalar(key));
    else
      what += number_hint(text);
    problem(given.location(), path, what);
    return {};
  }

  Tree flag(const Key::Data& key, const Tree& given, const std::string& path) {
    const auto value = given.quoted() ? std::nullopt : to_boolean(given.as_text());
    if (value) return Tree::boolean(*value);
    problem(given.location(), path,
            fmt::format("expected {}, found {}", expected_scalar(key), given.found()));
    return {};
  }

  Tree formula(const Tree& given, const std::string& path) {
    if (trimmed(given.as_text()).empty())
      problem(given.location(), path, "is empty; expected a formula or a number");
    else if (const auto wrong = plain_formula_problem(trimmed(given.as_text())); !wrong.empty())
      problem(given.location(), path, wrong);
    Tree canonical = Tree::text(given.as_text());
    canonical.set_location(given.location());
    return canonical;
  }

  Tree choice(const Key::Data& key, const Tree& given, const std::string& path) {
    const auto& text = given.as_text();
    if (std::find(key.choices.begin(), key.choices.end(), text) == key.choices.end()) {
      const auto* const other = other_word(key, text);
      const auto meant = other != nullptr ? "; " + other->meant : choice_hint(text, key.choices);
      problem(given.location(), path,
              fmt::format("unknown value '{}'; expected {}{}", text, expected_value(key), meant));
    }
    return Tree::text(text);
  }

  /// What the section being read says of a word of other programs, case ignored.
  [[nodiscard]] const OtherWord* other_word(const Key::Data& key, const std::string& word) const {
    for (const auto& rule : section_->rules)
      if (const auto* const other = rule.target<OtherWord>();
          other && other->key == key.key && other->word == lower_case(word))
        return other;
    return nullptr;
  }

  /// True of a path that is there, of 'FILE#/group' and 'FILE:ID' where the file is there, and of a pattern
  /// with '*' whose folder is there.
  static bool names_file(const std::filesystem::path& path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (fs::exists(path, ignored)) return true;
    const std::string text = path.string();
    if (const auto star = text.find('*'); star != std::string::npos)
      return fs::is_directory(fs::path(text.substr(0, star)).parent_path(), ignored);
    const auto mark = text.find_last_of("#:");
    return mark != std::string::npos && fs::is_regular_file(text.substr(0, mark), ignored);
  }

  /// The absolute path of an existing file, looked for beside the YAML file, then in the working folder; an
  /// empty text stays empty (no file) where the key is not required.
  Tree file(const Key::Data& key, const Tree& given, const std::string& path) {
    namespace fs = std::filesystem;
    if (given.as_text().empty() && !key.required) return Tree::text("");
    const fs::path name(given.as_text());
    const fs::path folder = fs::current_path() / fs::path(given.location().file).parent_path();
    const fs::path beside = (folder / name).lexically_normal();
    const fs::path here = fs::absolute(name).lexically_normal();
    const bool from_file = !given.location().file.starts_with("--");
    if (from_file && !name.empty() && names_file(beside)) return Tree::text(beside.string());
    if (!name.empty() && names_file(here)) return Tree::text(here.string());
    const auto tried = !from_file || beside == here
                           ? here.string()
                           : fmt::format("{} and {}", beside.string(), here.string());
    auto hint = file_hint(fs::current_path(), name);
    if (from_file) {
      // A near name of either place; no word of a folder that the other place has; else the deeper one.
      const auto is_near = [](const std::string& text) { return text.find("did you mean") != text.npos; };
      const auto other = file_hint(folder, name);
      const bool is_less = !is_near(hint) && !hint.empty() && other.size() >= hint.size();
      if (is_near(other) || is_less || (!is_near(hint) && other.empty())) hint = other;
    }
    problem(given.location(), path,
            fmt::format("file '{}' not found; tried {}{}", name.string(), tried, hint));
    return {};
  }

  void check_range(const Key::Data& key, double value, const Tree& given, const std::string& path) {
    const bool low = key.minimum && (key.above ? value <= *key.minimum : value < *key.minimum);
    const bool high = key.maximum && (key.below ? value >= *key.maximum : value > *key.maximum);
    if (low || high)
      problem(given.location(), path,
              fmt::format("{} is out of range; expected {}", given.as_text(), range_text(key)));
  }

  /// Run `work`; an InputError of it (from units.cpp, without place) becomes a problem here.
  template <class Work>
  void guarded(const Tree& given, const std::string& path, Work work) {
    try {
      work();
    } catch (const InputError& error) {
      problem(given.location(), path, error.what());
    }
  }

  const Section* section_ = nullptr;  ///< whose value is being read
  std::vector<Problem> problems_;
  std::vector<KeyPath> paths_;
};

}  // namespace

void parse_options(const Tree& document, const Describe& describe) {
  const auto place = document.location();
  const auto where = place.text();
  QUINTET_CHECK(document.is_map() || document.is_null(), "{}{}expected a map of keys and values, found {}",
                where, where.empty() ? "" : ": ", document.found());
  const Tree empty = Tree::map();
  const auto root = collect(describe.current(), true, document.is_map() ? &document : &empty);
  Parser parser(*root);
  parser.section(*root, "", place);
  parser.finish();
}

}  // namespace quintet
