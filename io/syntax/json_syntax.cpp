#include "io/syntax/json_syntax.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace quintet {

namespace {

constexpr int deepest = 200;
/// The last three are Python's.
constexpr std::string_view words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};

/// Walks through a text by RFC 8259; stops at the first problem.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::optional<std::string> problem() {
    if (value("a value", 0)) {
      blanks();
      if (at_ < text_.size()) expected("the end of the text");
    }
    return problem_;
  }

 private:
  [[nodiscard]] char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool step() {
    ++at_;
    return true;
  }
  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  /// Description of the text at this place, for messages.
  [[nodiscard]] std::string found() const {
    if (at_ >= text_.size()) return "the end of the file";
    std::size_t end = at_;
    while (end < text_.size() && end < at_ + 20 && std::isalnum(static_cast<unsigned char>(text_[end])))
      ++end;
    return fmt::format("'{}'", text_.substr(at_, std::max<std::size_t>(1, end - at_)));
  }

  bool say(const std::string& message) {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    problem_ = fmt::format("{}:{}: {}", line, column, message);
    return false;
  }
  bool expected(const std::string& what) { return say(fmt::format("expected {}, found {}", what, found())); }

  bool value(const std::string& what, int depth) {
    blanks();
    if (depth > deepest) return say(fmt::format("more than {} lists and maps in one another", deepest));
    if (now() == '{') return map(depth);
    if (now() == '[') return list(depth);
    if (now() == '"') return quoted();
    for (const std::string_view word : words)
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return true;
      }
    if (now() == '-' || std::isdigit(static_cast<unsigned char>(now()))) return number();
    if (now() == '\'') return say("texts are in double quotes, found '");
    if (std::isalpha(static_cast<unsigned char>(now())))
      return say(fmt::format("expected {}, found {}; texts are in double quotes", what, found()));
    return expected(what);
  }

  bool map(int depth) {
    ++at_;
    blanks();
    if (now() == '}') return step();
    while (true) {
      blanks();
      if (now() != '"') return expected("a key in double quotes");
      const std::size_t begin = at_ + 1;
      if (!quoted()) return false;
      const std::string key(text_.substr(begin, at_ - 1 - begin));
      blanks();
      if (now() != ':') return expected(fmt::format("':' behind the key '{}'", key));
      ++at_;
      if (!value(fmt::format("the value of '{}'", key), depth + 1)) return false;
      blanks();
      if (now() == '}') return step();
      if (now() != ',') return expected(fmt::format("',' or '}}' behind the value of '{}'", key));
      ++at_;
    }
  }

  bool list(int depth) {
    ++at_;
    blanks();
    if (now() == ']') return step();
    while (true) {
      if (!value("a value in the list", depth + 1)) return false;
      blanks();
      if (now() == ']') return step();
      if (now() != ',') return expected("',' or ']' behind a value of the list");
      ++at_;
    }
  }

  bool quoted() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    if (now() == '"') return step();
    at_ = begin;
    return say("the text that begins here has no closing '\"' in its line");
  }

  bool number() {
    const std::size_t begin = at_;
    if (now() == '-') ++at_;
    const auto digits = [&] {
      const std::size_t first = at_;
      while (std::isdigit(static_cast<unsigned char>(now()))) ++at_;
      return at_ > first;
    };
    bool good = digits();
    if (now() == '.') {
      ++at_;
      good = digits() && good;
    }
    if (now() == 'e' || now() == 'E') {
      ++at_;
      if (now() == '+' || now() == '-') ++at_;
      good = digits() && good;
    }
    if (good) return true;
    at_ = begin;
    return say("the number that begins here is not complete");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> problem_;
};

}  // namespace

std::optional<std::string> json_problem(std::string_view text) { return Walker(text).problem(); }

}  // namespace quintet
