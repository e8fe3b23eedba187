#include "io/files/xml.hpp"

#include <algorithm>
#include <charconv>

#include "io/files/input_file.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

constexpr const char* xml_blanks = " \t\r\n";
constexpr std::size_t longest_tag = 1 << 16, deepest_tag = 1000;

std::string without_blanks_behind(std::string text) {
  text.erase(text.find_last_not_of(xml_blanks) + 1);
  return text;
}

}  // namespace

XmlReader::XmlReader(std::string path) : path_(std::move(path)) {
  bytes_ = check_input_file(path_);
  stream_ = open_input_file(path_);
}

std::string XmlReader::where() const { return fmt::format("{}:{}", path_, line_); }

std::string XmlReader::attribute(const std::string& name) const {
  const auto found = attributes_.find(name);
  return found == attributes_.end() ? "" : found->second;
}

int XmlReader::get() {
  const int c = stream_.get();
  if (c == '\n') ++line_;
  return c;
}

XmlReader::Piece XmlReader::next() {
  if (closes_itself_) {
    closes_itself_ = false;
    open_.pop_back();
    return Piece::close;
  }
  std::string raw;
  while (true) {
    if (!at_tag_) {
      int c = 0;
      while ((c = get()) != EOF && c != '<') raw += static_cast<char>(c);
      if (c == EOF) return Piece::end;
      at_tag_ = true;
      if (raw.find_first_not_of(xml_blanks) != std::string::npos) {
        text_ = decoded(raw);
        return Piece::text;
      }
      raw.clear();
    }
    at_tag_ = false;
    if (read_tag()) return piece_;
    if (!stream_) return Piece::end;
  }
}

bool XmlReader::read_tag() {
  std::string tag;
  char quote = 0;
  int c = 0;
  while ((c = get()) != EOF) {
    const bool comment = tag.starts_with("!--"), instruction = tag.starts_with('?');
    if (c == '>' && quote == 0 && (!comment || (tag.size() >= 5 && tag.ends_with("--"))) &&
        (!instruction || tag.ends_with('?')))
      break;
    if (!comment && !tag.empty() && tag[0] != '!' && tag[0] != '?') {
      if (quote == 0 && (c == '"' || c == '\''))
        quote = static_cast<char>(c);
      else if (c == quote)
        quote = 0;
    }
    if (comment && tag.size() > 64) tag.erase(3, tag.size() - 35);  // only its end counts
    tag += static_cast<char>(c);
    QUINTET_CHECK(tag.size() < longest_tag, "{}: a tag is longer than {} characters", where(), longest_tag);
  }
  if (c == EOF) return false;
  QUINTET_CHECK(!tag.starts_with("![CDATA["), "{}: CDATA sections are not read", where());
  if (tag.starts_with("!") || tag.starts_with("?")) return false;
  if (tag.starts_with("/")) {
    name_ = without_blanks_behind(tag.substr(1));
    QUINTET_CHECK(!open_.empty() && open_.back() == name_, "{}: </{}> closes {}", where(), name_,
                  open_.empty() ? "nothing" : "<" + open_.back() + ">");
    open_.pop_back();
    piece_ = Piece::close;
    return true;
  }
  closes_itself_ = tag.ends_with('/');
  if (closes_itself_) tag.pop_back();
  const auto end = tag.find_first_of(xml_blanks);
  name_ = tag.substr(0, end);
  QUINTET_CHECK(!name_.empty(), "{}: a tag without a name", where());
  attributes_.clear();
  if (end != std::string::npos) read_attributes(tag.substr(end));
  open_.push_back(name_);
  QUINTET_CHECK(open_.size() <= deepest_tag, "{}: tags are nested more than {} deep", where(), deepest_tag);
  piece_ = Piece::open;
  return true;
}

void XmlReader::read_attributes(const std::string& tag) {
  std::size_t at = 0;
  while ((at = tag.find_first_not_of(xml_blanks, at)) != std::string::npos) {
    const auto equals = tag.find('=', at);
    const auto quote = equals == std::string::npos ? equals : tag.find_first_of("\"'", equals);
    const auto end = quote == std::string::npos ? quote : tag.find(tag[quote], quote + 1);
    QUINTET_CHECK(end != std::string::npos, "{}: <{}> has an attribute without a value", where(), name_);
    attributes_[without_blanks_behind(tag.substr(at, equals - at))] =
        decoded(tag.substr(quote + 1, end - quote - 1));
    at = end + 1;
  }
}

std::string XmlReader::decoded(const std::string& raw) const {
  static const std::map<std::string, char> entities{
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '&') {
      text += raw[i];
      continue;
    }
    const auto end = raw.find(';', i);
    const std::string word = end == std::string::npos ? "" : raw.substr(i + 1, end - i - 1);
    int code = 0;
    if (const auto found = entities.find(word); found != entities.end()) {
      text += found->second;
    } else {
      const bool number = word.starts_with("#") &&
                          std::from_chars(word.data() + 1, word.data() + word.size(), code).ptr ==
                              word.data() + word.size() &&
                          code > 0 && code < 128;
      QUINTET_CHECK(number, "{}: '&{}' is no entity that is read", where(), word.substr(0, 20));
      text += static_cast<char>(code);
    }
    i = end;
  }
  return text;
}

}  // namespace quintet
