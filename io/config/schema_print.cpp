#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/config/schema_data.hpp"
#include "io/config/suggest.hpp"
#include "io/config/units.hpp"

namespace quintet {

namespace {

using Section = Schema::Section;

Tree section_tree(const Section& section) {
  Tree tree = Tree::map();
  for (const auto& key : section.keys) tree.set(key.key, key_tree(key));
  return tree;
}

}  // namespace

Tree key_tree(const Key::Data& key) {
  if (key.kind != Kind::section) return value_tree(key);
  if (!key.is_list) return key.is_sample ? Tree() : section_tree(*key.nested.front());
  Tree list = Tree::list();
  if (key.is_sample) return list;
  for (const auto& element : key.nested) list.append(section_tree(*element));
  return list;
}

const Expert* expert_mark(const Section& section, const Key::Data& key) {
  for (const auto& rule : section.rules)
    if (const auto* const mark = rule.target<Expert>(); mark && mark->key == key.key) return mark;
  return nullptr;
}

std::vector<std::string> common_choices(const Section& section, const Key::Data& key) {
  auto choices = key.choices;
  if (const auto* const mark = expert_mark(section, key))
    std::erase_if(choices, [&](const auto& choice) {
      return std::find(mark->choices.begin(), mark->choices.end(), choice) != mark->choices.end();
    });
  return choices;
}

std::string inline_yaml(const Tree& tree) {
  auto text = to_yaml(tree);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

const Key::Data* find_key(const Section* section, const std::string& name) {
  if (!section) return nullptr;
  const auto& keys = section->keys;
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.key == name; });
  return found == keys.end() ? nullptr : &*found;
}

namespace {

std::string quantity_text(const std::string& unit) {
  return unit == "1" ? dimension_name(unit) : fmt::format("{} in {}", dimension_name(unit), unit);
}

/// " [time in ps; above 0 ps; default 0.0005 ps]" behind the doc of a key.
std::string facts(const Key::Data& key, const std::vector<std::string>& choices, const Key::Data* fresh) {
  std::vector<std::string> parts;
  if (key.kind == Kind::quantity) parts.push_back(quantity_text(key.unit));
  if (!choices.empty()) parts.push_back(name_list(choices));
  if (auto range = range_text(key); !range.empty()) parts.push_back(std::move(range));
  if (key.required)
    parts.push_back("required");
  else if (key.kind == Kind::section && key.nullable)
    parts.push_back("optional");
  else if (key.kind != Kind::section && !key.is_map && fresh)
    parts.push_back("default " + inline_yaml(value_tree(*fresh)));
  if (const auto rule = restart_rule(key); key.kind != Kind::section && rule != OnRestart::physics)
    parts.push_back("restart: " + restart_text(rule));
  return parts.empty() ? "" : fmt::format(" [{}]", fmt::join(parts, "; "));
}

/// Whether a key that experts alone set has its default.
bool is_hidden(const Section& section, const Key::Data& key, const Key::Data* fresh) {
  const auto* const mark = expert_mark(section, key);
  return mark && mark->choices.empty() && fresh &&
         inline_yaml(key_tree(key)) == inline_yaml(key_tree(*fresh));
}

/// Writes sections as YAML with comments.
class Printer {
 public:
  /// `all`: also what experts alone set.
  explicit Printer(bool all) : all_(all) {}
  [[nodiscard]] std::string take() { return std::move(out_); }

  /// `fresh` is the same section with its defaults, where known.
  void section(const Section& section, const Section* fresh, int indent) {
    for (const auto& key : section.keys) {
      const Key::Data* fresh_key = find_key(fresh, key.key);
      if (!all_ && is_hidden(section, key, fresh_key)) continue;
      if (indent == 0 && !out_.empty()) out_ += '\n';
      comment(key.doc + facts(key, all_ ? key.choices : common_choices(section, key), fresh_key), indent);
      if (key.is_map && !key.current.entries().empty()) {
        line(key.key + ":", indent);
        const Tree values = value_tree(key);
        for (const auto& entry : values.entries()) line(inline_yaml(Tree::map({entry})), indent + 2);
      } else if (key.kind != Kind::section || key.is_sample) {
        line(key.key + ": " + inline_yaml(key_tree(key)), indent);
      } else if (key.is_list) {
        line(key.key + ":", indent);
        for (const auto& element : key.nested) list_element(*element, fresh_key, indent + 2);
      } else {
        line(key.key + (key.nested.front()->keys.empty() ? ": {}" : ":"), indent);
        this->section(*key.nested.front(), fresh_key ? fresh_key->nested.front().get() : nullptr, indent + 2);
      }
    }
  }

 private:
  void list_element(const Section& element, const Key::Data* fresh, int indent) {
    line(element.keys.empty() ? "- {}" : "-", indent);
    section(element, fresh ? fresh->nested.front().get() : nullptr, indent + 2);
  }

  void comment(std::string text, int indent) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    line("# " + text, indent);
  }

  void line(const std::string& text, int indent) { out_.append(indent, ' ').append(text).append("\n"); }

  const bool all_;
  std::string out_;
};

std::string print(const Describe& describe, bool all) {
  const auto root = collect(describe.current());
  const auto fresh = describe.knows_defaults() ? collect(describe.defaults()) : nullptr;
  Printer printer(all);
  printer.section(*root, fresh.get(), 0);
  return printer.take();
}

}  // namespace

Tree options_tree(const Describe& describe) { return section_tree(*collect(describe.current())); }

std::string print_options(const Describe& describe) { return print(describe, true); }

std::string print_common_options(const Describe& describe) { return print(describe, false); }

}  // namespace quintet
