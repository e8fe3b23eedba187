#include "io/syntax/yaml_lines.hpp"

#include <algorithm>

namespace quintet {

namespace {

/// Walks through a text and knows what is open: brackets, quotes, comments.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  /// Take the sign at this place; false at the end of the text.
  bool step() {
    if (at_ == line_begin_) pass_block();
    if (at_ == text_.size()) return false;
    const char sign = text_[at_];
    if (comment_)
      comment_ = sign != '\n';
    else if (is_quoted_)
      in_quote(sign);
    else
      outside(sign);
    if (at_ >= text_.size()) return false;
    if (text_[at_] == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    }
    ++at_;
    return true;
  }

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool is_open() const { return is_quoted_ || !brackets_.empty(); }
  [[nodiscard]] bool is_comment() const { return comment_; }
  /// Whether the line of the last step is one of the text behind '|' or '>'.
  [[nodiscard]] bool is_block() const { return is_block_; }
  [[nodiscard]] std::optional<YamlBracket> problem() const {
    if (stray_) return stray_;
    if (is_quoted_) return quote_;
    return brackets_.empty() ? std::nullopt : std::optional(brackets_.back());
  }

 private:
  /// Go to the end of a line that belongs to a block of text: no sign in it opens or closes anything.
  void pass_block() {
    is_block_ = false;
    if (block_deeper_than_ == no_block) return;
    const auto content = std::min(text_.find_first_not_of(" \r", at_), text_.size());
    const auto end = std::min(text_.find('\n', at_), text_.size());
    is_block_ = content < end && content - at_ > block_deeper_than_;
    if (is_block_)
      at_ = end;
    else if (content < end)
      block_deeper_than_ = no_block;
  }

  /// Whether '|' or '>' at this place begins a block: nothing but its marks and a comment stands behind it.
  [[nodiscard]] bool begins_block() const {
    auto rest = text_.substr(at_ + 1, text_.find('\n', at_) - at_ - 1);
    rest = rest.substr(0, rest.find(" #"));
    return rest.find_first_not_of("+-123456789 \t\r") == std::string_view::npos;
  }

  /// Indentation of what holds the value at this place: of "- a: |" that of the 'a', of "- |" that of the
  /// '-'.
  [[nodiscard]] std::size_t depth() const {
    auto at = text_.find_first_not_of(' ', line_begin_);
    while (text_.substr(at, 2) == "- ") {
      const auto behind = text_.find_first_not_of(' ', at + 1);
      if (behind >= at_) break;
      at = behind;
    }
    return at - line_begin_;
  }

  void in_quote(char sign) {
    const bool has_next = at_ + 1 < text_.size();
    if (quote_.sign == '"' && sign == '\\' && has_next)
      ++at_;
    else if (quote_.sign == '\'' && sign == '\'' && has_next && text_[at_ + 1] == '\'')
      ++at_;
    else if (sign == quote_.sign)
      is_quoted_ = false;
  }

  void outside(char sign) {
    const bool begins = begins_word();
    if (sign == '#' && (at_ == line_begin_ || text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t'))
      comment_ = true;
    else if ((sign == '\'' || sign == '"') && begins) {
      quote_ = here(sign);
      is_quoted_ = true;
    } else if ((sign == '[' || sign == '{') && (begins || !brackets_.empty()))
      brackets_.push_back(here(sign));
    else if (sign == ']' || sign == '}')
      close(sign);
    else if ((sign == '|' || sign == '>') && begins && brackets_.empty() && begins_block())
      block_deeper_than_ = depth();
    if (sign == '\n' || (sign != ' ' && sign != ']' && sign != '}')) just_closed_ = false;
  }

  void close(char sign) {
    const char opened = sign == ']' ? '[' : '{';
    const bool fits = !brackets_.empty() && brackets_.back().sign == opened;
    if (fits) brackets_.pop_back();
    // Within a word, as in a], it is a letter like others.
    if (!fits && !stray_ && (just_closed_ || !brackets_.empty())) stray_ = here(sign, true);
    just_closed_ = fits && brackets_.empty();
  }

  /// Whether a word may begin here: behind nothing, a space, a bracket or a comma.
  [[nodiscard]] bool begins_word() const {
    std::size_t at = at_;
    while (at > line_begin_ && text_[at - 1] == ' ') --at;
    if (at == line_begin_) return true;
    const char before = text_[at - 1];
    if (!brackets_.empty()) return std::string_view("[{,:").find(before) != std::string_view::npos;
    return at < at_ && (before == ':' || before == '-');
  }

  [[nodiscard]] YamlBracket here(char sign, bool is_stray = false) const {
    return {line_, static_cast<int>(at_ - line_begin_) + 1, sign, is_stray};
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  int line_ = 1;
  bool comment_ = false;
  bool just_closed_ = false;  ///< the last bracket, and only spaces have come since
  bool is_quoted_ = false;
  bool is_block_ = false;
  static constexpr std::size_t no_block = std::string_view::npos;
  std::size_t block_deeper_than_ = no_block;  ///< indentation of the line of the last '|' or '>'
  YamlBracket quote_;                         ///< that is open, or was
  std::optional<YamlBracket> stray_;
  std::vector<YamlBracket> brackets_;
};

std::string_view trimmed_end(std::string_view text) {
  const auto end = text.find_last_not_of(" \t\r");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::size_t colon_of(std::string_view content) {
  if (content.starts_with('\'') || content.starts_with('"')) {
    const auto close = content.find(content[0], 1);
    return close == std::string_view::npos ? close : content.find(':', close);
  }
  if (content.starts_with('{') || content.starts_with('[')) return std::string_view::npos;
  for (auto at = content.find(':'); at != std::string_view::npos; at = content.find(':', at + 1))
    if (at + 1 == content.size() || content[at + 1] == ' ' || content[at + 1] == '\t') return at;
  return std::string_view::npos;
}

}  // namespace

bool YamlLine::has_key() const {
  return colon_of(content.substr(key_indent() - indent)) != std::string_view::npos;
}

std::size_t YamlLine::key_indent() const {
  std::size_t n = 0;
  while (content.substr(n).starts_with("- "))
    n = std::min(content.find_first_not_of(' ', n + 1), content.size());
  return indent + n;
}

std::string_view YamlLine::value() const {
  const auto rest = content.substr(key_indent() - indent);
  const auto colon = colon_of(rest);
  if (colon == std::string_view::npos) return {};
  const auto begin = rest.find_first_not_of(" \t", colon + 1);
  return begin == std::string_view::npos ? std::string_view() : rest.substr(begin);
}

std::vector<YamlLine> yaml_lines(std::string_view text) {
  std::vector<YamlLine> lines;
  Walk walk(text);
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const auto end = std::min(text.find('\n', begin), text.size());
    YamlLine line{number, text.substr(begin, end - begin), 0, {}, walk.is_open()};
    std::size_t content_end = line.text.size();
    while (walk.at() <= end && walk.step())
      if (walk.is_comment() && content_end == line.text.size()) content_end = walk.at() - 1 - begin;
    begin = end + 1;
    line.is_inner = line.is_inner || walk.is_block();
    const auto content = trimmed_end(line.text.substr(0, content_end));
    line.indent = std::min(content.find_first_not_of(' '), content.size());
    line.content = content.substr(line.indent);
    if (line.content.empty()) continue;
    lines.push_back(line);
  }
  return lines;
}

std::optional<YamlBracket> yaml_bracket_problem(std::string_view text) {
  Walk walk(text);
  while (walk.step()) continue;
  return walk.problem();
}

}  // namespace quintet
