#pragma once

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/config/suggest.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

/// Reading of DeePMD-kit's training input, key by key.
namespace quintet::dpmd {

/// A section of the input that remembers which of its keys were looked at.
class Source {
 public:
  Source(const Tree* tree, std::string path) : tree_(tree), path_(std::move(path)) {
    if (!tree_) return;
    QUINTET_CHECK(tree_->is_map(), "{}: {}: expected keys and values, found {}", tree_->location().text(),
                  path_, tree_->found());
  }

  /// The value of the first of these names that is there.
  [[nodiscard]] const Tree* find(std::initializer_list<const char*> names) {
    const Tree* found = nullptr;
    for (const char* name : names) {
      taken_.insert(name);
      if (tree_ && !found) found = tree_->find(name);
    }
    return found && !found->is_null() ? found : nullptr;
  }
  [[nodiscard]] const Tree* find(const char* name) { return find({name}); }
  [[nodiscard]] Source section(const char* name) {
    return {find(name), path_.empty() ? name : fmt::format("{}.{}", path_, name)};
  }
  [[nodiscard]] bool given() const { return tree_ != nullptr; }
  [[nodiscard]] std::string name(const std::string& key) const {
    return path_.empty() ? key : fmt::format("{}.{}", path_, key);
  }
  [[nodiscard]] std::string place() const { return tree_ ? tree_->location().text() : ""; }

  /// Refuse a value other than these: it would train something else.
  void only(const char* key, const std::vector<std::string>& allowed, const std::string& what) {
    const Tree* value = find(key);
    if (!value) return;
    const std::string text = value->is_scalar() ? value->as_text() : value->found();
    QUINTET_CHECK(std::find(allowed.begin(), allowed.end(), text) != allowed.end(),
                  "{}: {} = {} is not supported; {}", value->location().text(), name(key), text, what);
  }
  /// Refuse a key unless it is absent, false, 0 or empty.
  void refuse(const char* key, const std::string& what) {
    const Tree* value = find(key);
    if (!value || (value->is_list() && value->items().empty()) ||
        (value->is_map() && value->entries().empty()))
      return;
    const std::set<std::string> nothing{"0", "0.0", "false", "False", "null", "", "none", "None"};
    QUINTET_CHECK(value->is_scalar() && nothing.contains(value->as_text()), "{}: {} is not supported; {}",
                  value->location().text(), name(key), what);
  }
  /// Keys without a counterpart that change no result.
  void ignore(std::initializer_list<const char*> names) {
    for (const char* name : names) taken_.insert(name);
  }
  /// Keys without a counterpart: said where given.
  void drop(std::initializer_list<const char*> names, const char* why, std::vector<std::string>& warnings) {
    for (const char* key : names)
      if (find(key)) warnings.push_back(fmt::format("{}: {}", name(key), why));
  }
  /// Refuse keys that nobody looked at: a misspelt one would leave its value at the default in silence.
  void finish() const {
    if (!tree_) return;
    for (const auto& [key, value] : tree_->entries())
      QUINTET_CHECK(taken_.contains(key) || key.starts_with("_"), "{}: {}: unknown key{}",
                    value.key_location().text(), name(key),
                    did_you_mean(key, {taken_.begin(), taken_.end()}));
  }

 private:
  const Tree* tree_;
  std::string path_;
  std::set<std::string> taken_;
};

/// Copy a value under our name if it is there.
inline void copy(Source& from, const char* key, Tree& to, const char* our_key) {
  if (const Tree* value = from.find(key)) to.set(our_key, *value);
}
inline void copy(Source& from, std::initializer_list<const char*> names, Tree& to, const char* our_key) {
  if (const Tree* value = from.find(names)) to.set(our_key, *value);
}
inline void copy_angstrom(Source& from, const char* key, Tree& to, const char* our_key) {
  if (const Tree* value = from.find(key))
    to.set(our_key, Tree::scalar(fmt::format("{} angstrom", value->as_text())));
}
inline void set_if_any(Tree& to, const char* key, Tree section) {
  if (!section.entries().empty()) to.set(key, std::move(section));
}

}  // namespace quintet::dpmd
