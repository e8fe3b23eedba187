#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema.hpp"
#include "io/config/schema_marks.hpp"

/// Data that Schema collects: plain data, from which schema_parse.cpp, schema_print.cpp and
/// schema_reference.cpp work.
namespace quintet {

enum class Kind { quantity, number, integer, flag, text, formula, choice, section };

/// All that is known of one key.
struct Key::Data {
  std::string key, doc, unit, example;
  Kind kind = Kind::section;
  bool is_list = false;
  bool is_map = false;    ///< of values under the user's names
  bool nullable = false;  ///< may be null (std::optional)
  bool required = false;
  bool is_file = false;
  bool is_int = false;  ///< stored in an int
  std::optional<double> minimum, maximum;
  bool above = false, below = false;  ///< whether the minimum, the maximum is excluded
  std::size_t least = 0, most = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> choices;
  std::optional<OnRestart> on_restart;  ///< where nothing is said: physics

  Tree current;                             ///< value in force, in canonical form; null if absent
  std::function<void(const Tree&)> assign;  ///< store a value given in canonical form

  /// Sections: one, or one an element; `is_sample` if the section is absent or the list empty and the one
  /// here only shows what it would hold. References to options in a sample are dead: its `assign` must not be
  /// called.
  std::vector<std::unique_ptr<Schema::Section>> nested;
  bool is_sample = false;
};

/// The keys of one section.
struct Schema::Section {
  const Tree* given = nullptr;  ///< the map being parsed; null if absent or when not parsing
  bool parsing = false;
  std::deque<Key::Data> keys;  // a deque: Key points into it
  std::vector<std::function<std::optional<std::string>()>> rules;
};

/// Run a description. When parsing, `given` decides which optional sections exist and how long lists of
/// sections are.
[[nodiscard]] std::unique_ptr<Schema::Section> collect(const std::function<void(Schema&)>& describe,
                                                       bool parsing = false, const Tree* given = nullptr);

/// "above 0 ps and at most 1 ps", "3 values" ...: the range and length of a key as text, "" if unlimited.
[[nodiscard]] std::string range_text(const Key::Data& key);
/// Restart rule of a key; `physics` if none is given.
[[nodiscard]] OnRestart restart_rule(const Key::Data& key);
/// "free", "physics" or "fixed".
[[nodiscard]] std::string restart_text(OnRestart rule);
/// The value, section or list of sections in force for a key as a document.
[[nodiscard]] Tree key_tree(const Key::Data& key);
/// A value on one line as YAML.
[[nodiscard]] std::string inline_yaml(const Tree& tree);
/// The key of this name in a section that may be missing.
[[nodiscard]] const Key::Data* find_key(const Schema::Section* section, const std::string& name);
/// The mark of a key that experts alone set, or of such choices of it; null: none.
[[nodiscard]] const Expert* expert_mark(const Schema::Section& section, const Key::Data& key);
/// The choices of a key without those for experts.
[[nodiscard]] std::vector<std::string> common_choices(const Schema::Section& section, const Key::Data& key);
/// "section.key" or "key" at the top.
[[nodiscard]] std::string joined_path(const std::string& section, const std::string& key);
/// The value in force as a document: numbers with unit, texts protected.
[[nodiscard]] Tree value_tree(const Key::Data& key);

}  // namespace quintet
