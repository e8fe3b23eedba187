#include "apps/application/cli/option_flags.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/config/schema_data.hpp"
#include "io/config/suggest.hpp"

namespace quintet {
namespace {

std::string flag_name(const Key::Data& key) {
  std::string name = "--" + key.key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string explanation(const Key::Data& key) {
  std::string text = key.doc;
  if (!key.choices.empty()) text += ": " + name_list(key.choices);
  if (!key.current.is_null() && key.kind != Kind::flag)
    text += fmt::format(" (default: {})", inline_yaml(value_tree(key)));
  return text;
}

}  // namespace

std::vector<Application::Flag> flags_of(const Describe& describe) {
  std::vector<Application::Flag> flags;
  const auto section = collect(describe.defaults());
  for (const auto& key : section->keys)
    if (key.kind != Kind::section && !key.is_list)
      flags.push_back({flag_name(key), explanation(key), key.required, "", key.kind == Kind::flag});
  return flags;
}

void parse_flags(const Application::Arguments& arguments, std::size_t first, const Describe& describe) {
  Tree document = Tree::map();
  const auto section = collect(describe.defaults());
  for (const auto& key : section->keys) {
    if (key.kind == Kind::section || key.is_list) continue;
    const auto& values = arguments.at(first++);
    if (values.empty()) continue;
    Tree value = parse_yaml(values.back(), flag_name(key));
    value.set_location({flag_name(key), 0, 0});
    document.set(key.key, std::move(value));
  }
  parse_options(document, describe);
}

}  // namespace quintet
