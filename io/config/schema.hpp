#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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

/// A formula, or a number, as the user wrote it. io/config keeps the text and its place; whoever evaluates it
/// can name the place in messages.
struct FormulaText {
  std::string text;
  Location place;

  FormulaText() = default;
  FormulaText(std::string formula) : text(std::move(formula)) {}  // NOLINT: a text is a formula
  FormulaText(const char* formula) : text(formula) {}             // NOLINT
  [[nodiscard]] bool empty() const { return text.empty(); }
};

/// Effect of a changed value of a key on a run that goes on from a checkpoint.
enum class OnRestart {
  free,     ///< what was computed so far stays as good as it was: only said in the log
  physics,  ///< another calculation from here on: refused unless asked for, then recorded with the results
  fixed     ///< the state in the checkpoint has no meaning with it: refused
};

/// Description of one key; built by Schema, refined by the chained calls.
class Key {
 public:
  Key& required();                ///< must be given; has no default
  Key& at_least(double minimum);  ///< inclusive, in the internal unit; for lists: of each element
  Key& at_most(double maximum);
  Key& above(double minimum);  ///< exclusive
  Key& below(double maximum);
  Key& length(std::size_t least, std::size_t most = std::numeric_limits<std::size_t>::max());  ///< of a list
  Key& example(std::string text);  ///< shown in the reference page
  /// A path that must exist, looked for in the YAML file's folder first, then in the working folder; made
  /// absolute. Of 'FILE#/group' the file must exist, of a pattern with '*' the folder before it.
  Key& existing_file();
  /// How a restart treats another value. On a section: the rule for all keys in it that have none themselves.
  /// Where no rule is given at all it is OnRestart::physics.
  Key& on_restart(OnRestart rule);
  /// The rule for one key of this section, in place of its own: for time.steps, where a ramp ends with them.
  Key& on_restart(std::string_view inner, OnRestart rule);

  struct Data;
  explicit Key(Data& data) : data_(&data) {}

 private:
  Data* data_;
};

/// Describes one section: collects its keys, from which the free functions below parse, print and document.
class Schema {
 public:
  struct Section;  ///< the keys and rules collected so far, see schema_data.hpp
  explicit Schema(Section& section) : section_(section) {}

  /// A dimensional number, stored in `unit` (see units.hpp); in YAML it carries its own unit as text.
  Key quantity(std::string_view key, double& value, std::string_view unit, std::string_view doc);
  Key quantity(std::string_view key, std::optional<double>& value, std::string_view unit,
               std::string_view doc);
  /// A list of dimensional numbers: [1 bar, 1 bar, 2 bar] or "1 1 2 bar".
  Key quantities(std::string_view key, std::vector<double>& value, std::string_view unit,
                 std::string_view doc);
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
  /// A formula or number, kept as text with its place.
  Key formula(std::string_view key, FormulaText& value, std::string_view doc);
  Key formula(std::string_view key, std::optional<FormulaText>& value, std::string_view doc);
  /// A list of them; one alone is a list of one.
  Key formulas(std::string_view key, std::vector<FormulaText>& value, std::string_view doc);
  /// Formulas under names of the user's choice: constants: {k: 0.5, length: 2*pi/k}.
  Key named_formulas(std::string_view key, std::vector<std::pair<std::string, FormulaText>>& value,
                     std::string_view doc);
  /// Dimensional numbers under names of the user's choice: masses: {H: 2.014 u, O: 15.999 u}.
  Key named_quantities(std::string_view key, std::vector<std::pair<std::string, double>>& value,
                       std::string_view unit, std::string_view doc);
  /// One of named values: choice("ensemble", o.ensemble, {{"nve", Ensemble::nve}, ...}, doc).
  template <class Enum>
  Key choice(std::string_view key, Enum& value, const std::vector<std::pair<std::string, Enum>>& names,
             std::string_view doc);
  /// A nested section; its describe() is found by argument-dependent lookup.
  template <class Options>
  Key section(std::string_view key, Options& options, std::string_view doc);
  /// A nested section that may be absent (std::nullopt; in YAML: no such key, or null).
  template <class Options>
  Key section(std::string_view key, std::optional<Options>& options, std::string_view doc);
  /// A list of sections.
  template <class Options>
  Key sections(std::string_view key, std::vector<Options>& options, std::string_view doc);
  /// A check between keys, run after all keys of the section were read without error: returns a message or
  /// nothing.
  void check(std::function<std::optional<std::string>()> rule);

 private:
  struct Value;
  Key value(std::string_view key, std::string_view doc, Value description);
  Key choice_text(std::string_view key, const std::vector<std::string>& names, std::string_view current,
                  std::function<void(std::size_t)> assign, std::string_view doc);
  Key nested(std::string_view key, const std::function<void(Schema&)>& describe, std::string_view doc);
  Key nested_optional(std::string_view key, const std::function<void(Schema&)>& describe,
                      const std::function<void(bool)>& make_present, bool present, std::string_view doc);
  Key nested_list(std::string_view key, const std::function<void(Schema&, std::size_t)>& describe,
                  const std::function<void(std::size_t)>& resize, std::size_t size, std::string_view doc);
  Section& section_;
};

/// A description to parse into or print: of the options themselves and, where known, of a fresh struct, whose
/// values are the defaults that the printed configuration and the reference page name.
class Describe {
 public:
  using Function = std::function<void(Schema&)>;
  template <class Callable>
  requires std::invocable<const Callable&, Schema&> &&
      (!std::same_as<std::remove_cvref_t<Callable>, Describe>)Describe(Callable current)
      : current_(std::move(current)) {}  // NOLINT: any callable is a description
  Describe(Function current, Function defaults)
      : current_(std::move(current)), defaults_(std::move(defaults)) {}

  void operator()(Schema& schema) const { current_(schema); }
  [[nodiscard]] const Function& current() const { return current_; }
  [[nodiscard]] const Function& defaults() const { return defaults_ ? defaults_ : current_; }
  [[nodiscard]] bool knows_defaults() const { return static_cast<bool>(defaults_); }

 private:
  Function current_, defaults_;
};

/// Fill the described options from a document. All errors at once, one a line and sorted by place, each
/// "file:line:column: section.key: what; expected ...", with a did-you-mean for unknown keys; throws one
/// InputError.
void parse_options(const Tree& document, const Describe& describe);
/// Every value in force as YAML, with unit, default and doc as comments (--print-config); parses back to the
/// same.
[[nodiscard]] std::string print_options(const Describe& describe);
/// The values in force as a document (for provenance and checkpoints): parses back to the same values.
[[nodiscard]] Tree options_tree(const Describe& describe);

/// A key whose value differs from that of an earlier run.
struct Change {
  std::string key;  ///< "integrator.temperature"
  OnRestart rule = OnRestart::physics;
  std::string from, to;  ///< as YAML, "absent" if the section or value is absent
  bool is_file = false;  ///< the name of a file changed, which says nothing about what is in it
};
/// Differences between the options in force and `former`, the options_tree() of an earlier run, in the order
/// of the description. Values are compared, not texts: 0.5 fs is 0.0005 ps (to 1e-14). A key that the earlier
/// program did not know had its default; keys that this one does not know are passed over.
[[nodiscard]] std::vector<Change> changes_since(const Tree& former, const Describe& describe);

/// A file or folder that the options in force name.
struct InputFile {
  std::string key;  ///< "potential.model"; those of a list follow each other
  std::string path;
  OnRestart rule = OnRestart::physics;
};
[[nodiscard]] std::vector<InputFile> input_files(const Describe& describe);

/// A Markdown reference: one table a section: key, type, unit, default, range or choices, restart, doc.
[[nodiscard]] std::string reference_page(const Describe& describe, std::string_view title);
/// A JSON Schema (draft 2020-12) for editors.
[[nodiscard]] Tree json_schema(const Describe& describe, std::string_view title);

/// Describe a top-level options struct: `parse_options(document, described(options))`.
template <class Options>
[[nodiscard]] Describe described(Options& options) {
  return Describe([&options](Schema& schema) { describe(schema, options); },
                  [](Schema& schema) {
                    Options fresh{};
                    describe(schema, fresh);
                  });
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
  return choice_text(
      key, texts, current, [&value, names](std::size_t i) { value = names[i].second; }, doc);
}

template <class Options>
Key Schema::section(std::string_view key, Options& options, std::string_view doc) {
  return nested(
      key, [&options](Schema& schema) { describe(schema, options); }, doc);
}

template <class Options>
Key Schema::section(std::string_view key, std::optional<Options>& options, std::string_view doc) {
  const bool present = options.has_value();
  return nested_optional(
      key,
      [&options](Schema& schema) {
        Options absent{};  // described for the reference page even where the section is absent
        describe(schema, options ? *options : absent);
      },
      [&options](bool given) {
        if (!given)
          options.reset();
        else if (!options)
          options.emplace();
      },
      present, doc);
}

template <class Options>
Key Schema::sections(std::string_view key, std::vector<Options>& options, std::string_view doc) {
  return nested_list(
      key,
      [&options](Schema& schema, std::size_t i) {
        Options sample{};
        describe(schema, i < options.size() ? options[i] : sample);
      },
      [&options](std::size_t n) { options.assign(n, Options{}); }, options.size(), doc);
}

}  // namespace quintet
