#include "apps/application/cli/option_flags.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/config/schema_data.hpp"
#include "io/config/suggest.hpp"

namespace quintet {
namespace {

using Words = std::vector<Application::Word>;

/// The word for a key, --key VALUE unless `words` says otherwise; its name is "" where there is none.
Application::Word word_of(const Key::Data& key, const Words& words) {
  const auto given =
      std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.key == key.key; });
  if (given != words.end()) return *given;
  if (key.kind == Kind::section) return {key.key, ""};
  std::string name = "--" + key.key;
  std::replace(name.begin(), name.end(), '_', '-');
  return {key.key, name};
}

std::string explanation(const Key::Data& key, bool required) {
  std::string text = key.doc;
  if (!key.choices.empty()) text += ": " + name_list(key.choices);
  const bool has_default = !key.current.is_null() && !key.is_list && !key.is_map;
  if (has_default && !required && key.kind != Kind::flag)
    text += fmt::format(" (default: {})", inline_yaml(value_tree(key)));
  return text;
}

/// A value from the command line as it would stand in YAML.
Tree value_of(const Key::Data& key, const std::string& value, const std::string& flag) {
  Tree tree = key.kind == Kind::text && !key.is_map ? Tree::text(value) : parse_yaml(value, flag);
  tree.set_location({flag, 0, 0});
  return tree;
}

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

}  // namespace

std::vector<Application::Flag> flags_of(const Describe& describe, const Words& words) {
  std::vector<Application::Flag> flags;
  const auto section = collect(describe.defaults());
  for (const auto& key : section->keys)
    if (const auto word = word_of(key, words); !word.name.empty()) {
      const bool required = key.required || word.required;
      flags.push_back(
          {word.name, explanation(key, required), required, "", key.kind == Kind::flag && !key.is_list});
    }
  return flags;
}

void parse_flags(const Application::Arguments& arguments, std::size_t first, const Describe& describe,
                 const Words& words) {
  Tree document = Tree::map();
  const auto section = collect(describe.defaults());
  for (const auto& key : section->keys) {
    const auto word = word_of(key, words);
    if (word.name.empty()) continue;
    const auto& values = arguments.at(first++);
    if (values.empty()) continue;
    const std::string flag = word.name.substr(0, word.name.find("..."));
    Tree value = Tree::list();
    if (key.is_list && !key.is_map) {
      for (const auto& one : values) value.append(value_of(key, one, flag));
      value.set_location({flag, 0, 0});
    } else {
      value = value_of(key, values.back(), flag);
    }
    document.set(key.key, std::move(value));
  }
  parse_options(document, describe);
}

std::string flag_reference(const std::string& title, const std::string& about,
                           const std::vector<Application::Flag>& flags) {
  std::string text = fmt::format("# {}\n\n{}.\n", title, about);
  if (flags.empty()) return text;
  text += "\n| flag | value | meaning |\n|---|---|---|\n";
  for (const auto& flag : flags) {
    text += fmt::format("| `{}` | {} | {}{} |\n", flag.name,
                        flag.required    ? "required"
                        : flag.is_switch ? "none"
                                         : "optional",
                        cell(flag.about),
                        flag.default_value.empty() ? "" : fmt::format(" (default: {})", flag.default_value));
  }
  return text;
}

}  // namespace quintet
