#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/config/tree.hpp"

/// Options: one plain struct a section and one `describe(Schema&, Options&)` beside it.
///
/// The one description gives the parser, all checks, --print-config, the reference page and the JSON Schema:
/// @code
///   struct TimeOptions { double dt = 0.0005; std::int64_t steps = 0; };
///   inline void describe(Schema& schema, TimeOptions& options) {
///     schema.quantity("dt", options.dt, "ps", "Time step").above(0);         // YAML: dt: 0.5 fs
///     schema.integer("steps", options.steps, "Number of steps").required().at_least(0);
///   }
/// @endcode
/// The default of a key is what the struct holds before parsing; a required key has none.
namespace quintet {

/// What is known of one key; built by Schema, refined by the chained calls.
class Key {
 public:
  Key& required();                          ///< must be given; has no default
  Key& at_least(double minimum);            ///< inclusive, in the internal unit; for lists: of each element
  Key& at_most(double maximum);
  Key& above(double minimum);               ///< exclusive
  Key& below(double maximum);
  Key& length(std::size_t least, std::size_t most = std::numeric_limits<std::size_t>::max());  ///< of a list
  Key& example(std::string text);           ///< shown in the reference page
  Key& existing_file();                     ///< a path (relative to the YAML file's folder first, then the working folder) that must exist; made absolute

  struct Data;
  explicit Key(Data& data) : data_(&data) {}
 private:
  Data* data_;
};

/// Describes (and, in its parsing mode, fills) one section. Made by the free functions below; see the file comment.
class Schema {
 public:
  class Visitor;  ///< parser, printer, reference writer, JSON Schema writer
  explicit Schema(Visitor& visitor) : visitor_(visitor) {}

  /// A dimensional number, stored in `unit` (see units.hpp); in YAML it carries its own unit as text.
  Key quantity(std::string_view key, double& value, std::string_view unit, std::string_view doc);
  Key quantity(std::string_view key, std::optional<double>& value, std::string_view unit, std::string_view doc);
  /// A list of dimensional numbers: [1 bar, 1 bar, 2 bar] or "1 1 2 bar".
  Key quantities(std::string_view key, std::vector<double>& value, std::string_view unit, std::string_view doc);
  Key number(std::string_view key, double& value, std::string_view doc);
  Key number(std::string_view key, std::optional<double>& value, std::string_view doc);
  Key numbers(std::string_view key, std::vector<double>& value, std::string_view doc);
  Key integer(std::string_view key, std::int64_t& value, std::string_view doc);
  Key integer(std::string_view key, int& value, std::string_view doc);
  Key integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view doc);
  Key integers(std::string_view key, std::vector<std::int64_t>& value, std::string_view doc);
  Key flag(std::string_view key, bool& value, std::string_view doc);
  Key text(std::string_view key, std::string& value, std::string_view doc);
  Key text(std::string_view key, std::optional<std::string>& value, std::string_view doc);
  Key texts(std::string_view key, std::vector<std::string>& value, std::string_view doc);
  /// One of named values: choice("ensemble", o.ensemble, {{"nve", Ensemble::nve}, ...}, doc).
  template <class Enum>
  Key choice(std::string_view key, Enum& value, const std::vector<std::pair<std::string, Enum>>& names,
             std::string_view doc);
  /// A nested section; its describe() is found by argument-dependent lookup.
  template <class Options>
  Key section(std::string_view key, Options& options, std::string_view doc);
  /// A nested section that may be absent (std::nullopt).
  template <class Options>
  Key section(std::string_view key, std::optional<Options>& options, std::string_view doc);
  /// A list of sections.
  template <class Options>
  Key sections(std::string_view key, std::vector<Options>& options, std::string_view doc);
  /// A check between keys, run after all keys of the section were read without error: returns a message or nothing.
  void check(std::function<std::optional<std::string>()> rule);

 private:
  Key choice_text(std::string_view key, const std::vector<std::string>& names, std::string_view current,
                  std::function<void(std::size_t)> assign, std::string_view doc);
  Key nested(std::string_view key, std::function<void(Schema&)> describe, std::string_view doc);
  Key nested_optional(std::string_view key, std::function<void(Schema&)> describe, std::function<void(bool)> present,
                      bool default_present, std::string_view doc);
  Key nested_list(std::string_view key, std::function<void(Schema&, std::size_t)> describe,
                  std::function<void(std::size_t)> resize, std::size_t default_size, std::string_view doc);
  Visitor& visitor_;
};

using Describe = std::function<void(Schema&)>;

/// Fill the described options from a document. All errors at once, each "file:line:column: ..." with a did-you-mean
/// for unknown keys; throws one InputError that holds them all.
void parse_options(const Tree& document, const Describe& describe);
/// Every value in force as YAML, with unit, default and doc as comments (--print-config); parses back to the same.
[[nodiscard]] std::string print_options(const Describe& describe);
/// The values in force as a document (for provenance and checkpoints): parses back to the same values.
[[nodiscard]] Tree options_tree(const Describe& describe);
/// A Markdown reference: one table a section: key, type, unit, default, range or choices, doc.
[[nodiscard]] std::string reference_page(const Describe& describe, std::string_view title);
/// A JSON Schema (draft 2020-12) for editors.
[[nodiscard]] Tree json_schema(const Describe& describe, std::string_view title);

/// Describe a top-level options struct: `parse_options(document, described(options))`.
template <class Options>
[[nodiscard]] Describe described(Options& options) {
  return [&options](Schema& schema) { describe(schema, options); };
}

template <class Enum>
Key Schema::choice(std::string_view key, Enum& value, const std::vector<std::pair<std::string, Enum>>& names,
                   std::string_view doc) {
  std::vector<std::string> texts;
  std::string_view current;
  for (const auto& [name, entry] : names) {
    texts.push_back(name);
    if (entry == value) current = name;
  }
  return choice_text(key, texts, current, [&value, names](std::size_t i) { value = names[i].second; }, doc);
}

template <class Options>
Key Schema::section(std::string_view key, Options& options, std::string_view doc) {
  return nested(key, [&options](Schema& schema) { describe(schema, options); }, doc);
}

template <class Options>
Key Schema::section(std::string_view key, std::optional<Options>& options, std::string_view doc) {
  const bool present = options.has_value();
  return nested_optional(
      key,
      [&options](Schema& schema) {
        Options absent;  // described for the reference page even where the section is absent
        describe(schema, options ? *options : absent);
      },
      [&options](bool given) { given ? void(options.emplace()) : options.reset(); }, present, doc);
}

template <class Options>
Key Schema::sections(std::string_view key, std::vector<Options>& options, std::string_view doc) {
  return nested_list(
      key,
      [&options](Schema& schema, std::size_t i) {
        Options sample;
        describe(schema, i < options.size() ? options[i] : sample);
      },
      [&options](std::size_t n) { options.assign(n, Options{}); }, options.size(), doc);
}

}  // namespace quintet
