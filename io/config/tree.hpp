#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// A parsed YAML or JSON document as plain values with their place in the file. yaml-cpp lives in
/// tree_read.cpp alone.
namespace quintet {

/// Place of a value in its source, for messages "file:line:column".
struct Location {
  std::string file;  ///< path, or "--set" for the command line
  int line = 0;      ///< from 1; 0 if unknown
  int column = 0;    ///< from 1; 0 if unknown
  /// "file:line:column"; the file alone where the line is unknown or the value comes from the command line
  /// ("--...").
  [[nodiscard]] std::string text() const;
};

/// One node of a document: null, scalar (kept as text), list or map. Maps keep the order of the file.
class Tree {
 public:
  using List = std::vector<Tree>;
  using Map = std::vector<std::pair<std::string, Tree>>;

  Tree() = default;
  static Tree scalar(std::string text, bool quoted = false);
  static Tree text(std::string text);  ///< stays text in YAML and JSON even if it looks like a number
  static Tree number(double value);    ///< 17 digits where needed; NaN and infinities become null in JSON
  static Tree integer(std::int64_t value);
  static Tree boolean(bool value);
  static Tree list(List items = {});
  static Tree map(Map items = {});

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  [[nodiscard]] bool is_scalar() const { return std::holds_alternative<std::string>(value_); }
  [[nodiscard]] bool is_list() const { return std::holds_alternative<List>(value_); }
  [[nodiscard]] bool is_map() const { return std::holds_alternative<Map>(value_); }

  /// Scalar as text / number / integer / bool. Throws InputError that names the place and what was found.
  [[nodiscard]] const std::string& as_text() const;
  [[nodiscard]] double as_number() const;
  [[nodiscard]] std::int64_t as_integer() const;
  [[nodiscard]] bool as_boolean() const;
  /// True if the scalar was quoted in the source (then it is text even if it looks like a number).
  [[nodiscard]] bool quoted() const { return quoted_; }

  [[nodiscard]] const List& items() const;                     ///< of a list (empty if null)
  [[nodiscard]] const Map& entries() const;                    ///< of a map (empty if null)
  [[nodiscard]] const Tree* find(std::string_view key) const;  ///< of a map; nullptr if absent
  /// Value of a key; throws InputError "<place>: missing key 'x'" if absent.
  [[nodiscard]] const Tree& at(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }

  void set(std::string_view key, Tree value);  ///< insert or replace in a map (null becomes a map)
  void append(Tree value);                     ///< to a list (null becomes a list)
  /// Set `a.b.c` or `a.2.c`, making maps on the way; list elements by number from 0. Throws InputError if the
  /// path leads through a single value or beyond a list.
  void set_path(std::string_view dotted, Tree value);

  [[nodiscard]] const Location& location() const { return location_; }
  void set_location(Location location) { location_ = std::move(location); }
  /// Place of the key that this value belongs to; the value's own place if it has none.
  [[nodiscard]] Location key_location() const;
  void set_key_place(int line, int column) { key_line_ = line, key_column_ = column; }
  /// Description of this node, for messages: "the text 'abc'", "the number 3", "a list of 3", "a map",
  /// "nothing".
  [[nodiscard]] std::string found() const;

 private:
  std::variant<std::monostate, std::string, List, Map> value_;
  bool quoted_ = false;
  Location location_;
  int key_line_ = 0, key_column_ = 0;
};

/// Parse a YAML (or JSON) text; `name` stands in messages. Duplicate keys and syntax errors are InputErrors
/// with place.
[[nodiscard]] Tree parse_yaml(std::string_view text, const std::string& name);
/// Parse a YAML file.
[[nodiscard]] Tree read_yaml(const std::string& path);
/// Write as YAML / as JSON (indented by `indent` spaces; 0: one line). Scalars that are numbers or booleans
/// are written bare.
[[nodiscard]] std::string to_yaml(const Tree& tree);
[[nodiscard]] std::string to_json(const Tree& tree, int indent = 1);
/// Write text to a file by way of a temporary name and a rename, so that a reader never sees half of it.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace quintet
