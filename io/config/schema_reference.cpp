#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/config/schema_data.hpp"
#include "io/config/suggest.hpp"
#include "io/config/units.hpp"

namespace quintet {

namespace {

using Section = Schema::Section;

std::string type_name(const Key::Data& key) {
  constexpr const char* one[] = {"quantity", "number",  "integer", "true or false",
                                 "text",     "formula", "choice",  "section"};
  constexpr const char* many[] = {"quantities", "numbers",  "integers", "flags",
                                  "texts",      "formulas", "choices",  "sections"};
  const auto i = static_cast<std::size_t>(key.kind);
  if (key.is_map) return fmt::format("named {}", many[i]);
  return key.is_list ? fmt::format("list of {}", many[i]) : one[i];
}

/// A text inside a Markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string code(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", cell(text)); }

std::string default_text(const Key::Data& key) {
  if (key.required) return "required";
  if (key.kind == Kind::section) return key.nullable ? "absent" : "";
  if (key.current.is_null()) return "none";
  auto text = to_yaml(value_tree(key));
  text.pop_back();
  return code(text);
}

std::string limits(const Key::Data& key, const std::vector<std::string>& choices) {
  const auto range = range_text(key);
  std::vector<std::string> parts;
  for (const auto& choice : choices) parts.push_back(code(choice));
  if (!range.empty()) parts.push_back(range);
  if (key.is_file) parts.push_back("existing file");
  return fmt::format("{}", fmt::join(parts, ", "));
}

constexpr const char* table_head =
    "| key | type | unit | default | range or choices | restart | meaning |\n"
    "|---|---|---|---|---|---|---|\n";

std::string table_row(const Key::Data& key, const std::vector<std::string>& choices, const std::string& doc) {
  const auto example = key.example.empty() ? "" : fmt::format(" (example: {})", code(key.example));
  const auto restart = key.kind == Kind::section ? "" : restart_text(restart_rule(key));
  return fmt::format("| `{}` | {} | {} | {} | {} | {} | {}{} |\n", key.key, type_name(key), code(key.unit),
                     default_text(key), limits(key, choices), restart, cell(doc), example);
}

void reference_section(std::string& out, const Section& section, const std::string& path) {
  std::string for_experts;
  out += table_head;
  for (const auto& key : section.keys) {
    const Expert* const mark = expert_mark(section, key);
    const bool is_common = !mark || !mark->choices.empty();
    if (is_common) out += table_row(key, common_choices(section, key), key.doc);
    if (mark)
      for_experts +=
          is_common ? table_row(key, mark->choices, mark->doc) : table_row(key, key.choices, key.doc);
  }
  out += '\n';
  if (!for_experts.empty())
    out += fmt::format("### Expert keys{}\n\n`--print-config=all` prints them, too.\n\n{}{}\n",
                       path.empty() ? "" : " of " + code(path), table_head, for_experts);
  for (const auto& key : section.keys) {
    if (key.kind != Kind::section) continue;
    const auto full = joined_path(path, key.key);
    out += fmt::format("## {}\n\n{}\n\n", code(full + (key.is_list ? ".0, .1, ..." : "")), key.doc);
    reference_section(out, *key.nested.front(), full);
  }
}

Tree json_section(const Section& section);

/// A number with unit as editors can check it: number, space, something that is not a number.
Tree json_quantity(const Key::Data& key) {
  constexpr const char* number = R"([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?)";
  Tree schema = Tree::map();
  if (key.unit == "1") {
    schema.set("type", Tree::list({Tree::text("number"), Tree::text("string")}));
    return schema;
  }
  schema.set("type", Tree::text("string"));
  schema.set("pattern", Tree::text(fmt::format(R"(^\s*{}\s*[^-+0-9.\s].*|^\s*{}\s+1/.+$)", number, number)));
  return schema;
}

void json_range(Tree& schema, const Key::Data& key) {
  if (key.minimum) schema.set(key.above ? "exclusiveMinimum" : "minimum", Tree::number(*key.minimum));
  if (key.maximum) schema.set(key.below ? "exclusiveMaximum" : "maximum", Tree::number(*key.maximum));
}

/// The schema of one value of a key, without list and null.
Tree json_value(const Key::Data& key) {
  if (key.kind == Kind::section) return json_section(*key.nested.front());
  if (key.kind == Kind::quantity) return json_quantity(key);
  Tree schema = Tree::map();
  if (key.kind == Kind::choice || key.kind == Kind::flag) {
    Tree names = Tree::list();
    if (key.kind == Kind::flag) names = Tree::list({Tree::boolean(true), Tree::boolean(false)});
    const std::vector<std::string> words = {"yes", "no", "on", "off"};
    for (const auto& name : key.kind == Kind::flag ? words : key.choices)
      names.append(Tree::scalar(name, true));
    schema.set("enum", std::move(names));
    return schema;
  }
  if (key.kind == Kind::formula) {
    schema.set("type", Tree::list({Tree::text("number"), Tree::text("string")}));
    return schema;
  }
  schema.set("type", Tree::text(key.kind == Kind::text     ? "string"
                                : key.kind == Kind::number ? "number"
                                                           : "integer"));
  json_range(schema, key);
  return schema;
}

Tree json_list(const Key::Data& key, Tree element) {
  Tree schema = Tree::map();
  schema.set("type", Tree::text("array"));
  schema.set("items", std::move(element));
  if (key.least > 0) schema.set("minItems", Tree::integer(key.least));
  if (key.most != std::numeric_limits<std::size_t>::max()) schema.set("maxItems", Tree::integer(key.most));
  const bool one_will_do = key.kind == Kind::formula || key.is_file;
  if (key.kind != Kind::quantity && !one_will_do) return schema;
  Tree text = Tree::map();  // "1 1 2 bar"
  text.set("type", Tree::text("string"));
  Tree either = Tree::map();
  either.set("anyOf", Tree::list({std::move(schema), one_will_do ? element : std::move(text)}));
  return either;
}

Tree json_map(Tree value) {
  Tree schema = Tree::map();
  schema.set("type", Tree::text("object"));
  schema.set("additionalProperties", std::move(value));
  return schema;
}

Tree json_nullable(Tree schema) {
  Tree null = Tree::map();
  null.set("type", Tree::text("null"));
  Tree either = Tree::map();
  either.set("anyOf", Tree::list({std::move(schema), std::move(null)}));
  return either;
}

std::string json_description(const Key::Data& key) {
  std::vector<std::string> parts = {key.doc};
  if (!key.unit.empty()) parts.push_back("unit: " + name_list(compatible_units(key.unit)));
  if (const auto range = range_text(key); !range.empty()) parts.push_back(range);
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Whether a document without this key is refused: it is required, or a section that has such a key.
bool must_be_given(const Key::Data& key) {
  if (key.required || key.kind != Kind::section || key.nullable || key.is_list) return key.required;
  const auto& keys = key.nested.front()->keys;
  return std::any_of(keys.begin(), keys.end(), must_be_given);
}

Tree json_key(const Key::Data& key) {
  Tree schema = json_value(key);
  if (key.is_list) schema = json_list(key, std::move(schema));
  if (key.is_map) schema = json_map(std::move(schema));
  const bool empty_section = key.kind == Kind::section && !key.is_list && !must_be_given(key);
  if (key.nullable || empty_section) schema = json_nullable(std::move(schema));
  schema.set("description", Tree::text(json_description(key)));
  if (!key.required && key.kind != Kind::section) schema.set("default", value_tree(key));
  if (key.kind != Kind::section) schema.set("x-on-restart", Tree::text(restart_text(restart_rule(key))));
  if (!key.example.empty()) schema.set("examples", Tree::list({Tree::text(key.example)}));
  return schema;
}

Tree json_section(const Section& section) {
  Tree properties = Tree::map(), required = Tree::list();
  for (const auto& key : section.keys) {
    Tree described = json_key(key);
    if (const auto* const mark = expert_mark(section, key); mark && mark->choices.empty())
      described.set("x-expert", Tree::boolean(true));
    properties.set(key.key, std::move(described));
    if (must_be_given(key)) required.append(Tree::text(key.key));
  }
  Tree schema = Tree::map();
  schema.set("type", Tree::text("object"));
  schema.set("additionalProperties", Tree::boolean(false));
  schema.set("properties", std::move(properties));
  if (!required.items().empty()) schema.set("required", std::move(required));
  return schema;
}

}  // namespace

std::string reference_page(const Describe& describe, std::string_view title) {
  std::string out = fmt::format("# {}\n\n", title);
  reference_section(out, *collect(describe.defaults()), "");
  out.pop_back();
  return out;
}

Tree json_schema(const Describe& describe, std::string_view title) {
  Tree schema = Tree::map();
  schema.set("$schema", Tree::text("https://json-schema.org/draft/2020-12/schema"));
  schema.set("title", Tree::text(std::string(title)));
  const Tree root = json_section(*collect(describe.defaults()));
  for (const auto& [key, value] : root.entries()) schema.set(key, value);
  return schema;
}

}  // namespace quintet
