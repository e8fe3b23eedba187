#include "io/machine/loose_json.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <utility>

namespace quintet {
namespace {

/// Deeper than any answer; what is nested deeper ends there.
constexpr int most_levels = 64;

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// A walk through the text from its beginning to its end, once.
class LooseReader {
 public:
  explicit LooseReader(std::string_view text) : text_(text) {}

  Tree document() {
    skip_blanks();
    return next() == '{' || next() == '[' ? value(0) : Tree();
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char next() const { return at_end() ? '\0' : text_[at_]; }
  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  Tree value(int level) {
    skip_blanks();
    if (level > most_levels) return give_up();
    if (take('{')) return map(level);
    if (take('[')) return list(level);
    if (take('"')) return Tree::text(quoted());
    return word();
  }

  Tree give_up() {
    at_ = text_.size();
    return {};
  }

  Tree map(int level) {
    Tree::Map entries;
    while (!at_end()) {
      skip_blanks();
      if (take('}')) break;
      if (take(',')) continue;
      std::string key = take('"') ? quoted() : std::string(bare());
      skip_blanks();
      if (!take(':')) {
        if (at_end()) break;
        ++at_;  // what is between two entries belongs to none
        continue;
      }
      Tree entry = value(level + 1);
      const bool is_new =
          std::none_of(entries.begin(), entries.end(), [&](const auto& other) { return other.first == key; });
      if (is_new) entries.emplace_back(std::move(key), std::move(entry));
    }
    return Tree::map(std::move(entries));
  }

  Tree list(int level) {
    Tree::List items;
    while (!at_end()) {
      skip_blanks();
      if (take(']')) break;
      if (take(',')) continue;
      const std::size_t before = at_;
      items.push_back(value(level + 1));
      if (at_ == before) ++at_;
    }
    return Tree::list(std::move(items));
  }

  /// A quote ends a text where what follows may stand behind one.
  [[nodiscard]] bool ends_here() const {
    std::size_t behind = at_ + 1;
    while (behind < text_.size() && is_blank(text_[behind])) ++behind;
    return behind >= text_.size() || std::string_view(",:}]").find(text_[behind]) != std::string_view::npos;
  }

  std::string quoted() {
    std::string found;
    for (; !at_end(); ++at_) {
      const char c = text_[at_];
      if (c == '"' && ends_here()) break;
      if (c == '\\' && at_ + 1 < text_.size())
        found += escaped(text_[++at_]);
      else
        found += c;
    }
    take('"');
    return found;
  }

  /// `\n` and `\t` are what they are in JSON; of any other escape the character itself is kept.
  static char escaped(char c) { return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c; }

  std::string_view bare() {
    const std::size_t begin = at_;
    while (!at_end() && std::string_view(",:{}[]\"").find(next()) == std::string_view::npos) ++at_;
    std::size_t end = at_;
    while (end > begin && is_blank(text_[end - 1])) --end;
    return text_.substr(begin, end - begin);
  }

  /// Up to what may follow a value; a ':' may be inside of one ("walltime":01:00:00).
  Tree word() {
    const std::size_t begin = at_;
    while (!at_end() && std::string_view(",}]\n").find(next()) == std::string_view::npos) ++at_;
    std::size_t end = at_;
    while (end > begin && is_blank(text_[end - 1])) --end;
    const std::string found(text_.substr(begin, end - begin));
    return found.empty() || found == "null" ? Tree() : Tree::scalar(found);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Tree parse_loose_json(std::string_view text) { return LooseReader(text).document(); }

}  // namespace quintet
