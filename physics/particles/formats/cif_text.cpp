#include "physics/particles/formats/cif_text.hpp"

#include <algorithm>
#include <cctype>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet::cif {

namespace {

std::string in_lower_case(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

/// The words of a CIF one by one: bare ones, quoted ones, and texts between lines that begin with ';'.
class Words {
 public:
  explicit Words(const std::string& path) : reader_(path) {}

  /// Step to the next word; false at the end of the file.
  bool next() {
    while (at_ == std::string::npos || (at_ = line().find_first_not_of(" \t", at_)) == std::string::npos ||
           line()[at_] == '#') {
      // The last number may lack digits, and rows may be missing behind it.
      const auto begin = line().find_first_not_of(" \t");
      const bool may_be_cut = !reader_.line_is_whole() && begin != std::string::npos && line()[begin] != '#';
      if (!reader_.next()) {
        if (may_be_cut) text::check_whole(reader_);
        return false;
      }
      at_ = 0;
      if (line().starts_with(';')) return read_text();
    }
    value.where = reader_.where();
    const char first = line()[at_];
    value.quoted = first == '\'' || first == '"';
    if (value.quoted) return read_quoted(first);
    const auto end = std::min(line().find_first_of(" \t", at_), line().size());
    value.text = line().substr(at_, end - at_);
    at_ = end;
    return true;
  }

  Value value;

 private:
  [[nodiscard]] const std::string& line() const { return reader_.line(); }

  /// A quote ends where a blank follows it: 'a dog's life' is one word.
  bool read_quoted(char quote) {
    std::size_t end = at_;
    do {
      end = line().find(quote, end + 1);
      QUINTET_CHECK(end != std::string::npos, "{}: the quote {} is never closed", reader_.where(),
                    text::shown(std::string_view(line()).substr(at_)));
    } while (end + 1 < line().size() && line()[end + 1] != ' ' && line()[end + 1] != '\t');
    value.text = line().substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  bool read_text() {
    value = {line().substr(1), reader_.where(), true};
    while (reader_.next()) {
      if (line().starts_with(';')) {
        at_ = 1;
        return true;
      }
      value.text += "\n" + line();
    }
    throw InputError(fmt::format("{}: the text that begins here is never closed by ';'", value.where));
  }

  text::LineReader reader_;
  std::size_t at_ = std::string::npos;
};

/// Reads words into blocks.
class BlockReader {
 public:
  explicit BlockReader(const std::string& path) : words_(path) { more_ = words_.next(); }

  std::vector<Block> read() {
    while (more_) {
      const Value word = words_.value;
      const std::string lower = word.quoted ? "" : in_lower_case(word.text);
      if (lower.starts_with("data_")) {
        blocks_.push_back({word.text.substr(5), word.where, {}});
        more_ = words_.next();
      } else if (lower == "loop_") {
        read_loop(word.where);
      } else if (lower.starts_with("_")) {
        more_ = words_.next();
        QUINTET_CHECK(more_ && is_value(), "{}: {} has no value", word.where, text::shown(word.text));
        add(lower, word.where).push_back(words_.value);
        more_ = words_.next();
      } else {
        throw InputError(fmt::format("{}: {} is a value without a tag", word.where, text::shown(word.text)));
      }
    }
    return std::move(blocks_);
  }

 private:
  [[nodiscard]] bool is_value() const {
    if (words_.value.quoted) return true;
    const std::string lower = in_lower_case(words_.value.text);
    return !lower.starts_with("_") && !lower.starts_with("data_") && lower != "loop_";
  }

  std::vector<Value>& add(const std::string& tag, const std::string& where) {
    QUINTET_CHECK(!blocks_.empty(), "{}: {} stands before the first data_ block", where, text::shown(tag));
    const auto [place, is_new] = blocks_.back().values.try_emplace(tag);
    QUINTET_CHECK(is_new, "{}: {} stands twice in data block {}", where, text::shown(tag),
                  text::shown(blocks_.back().name));
    return place->second;
  }

  void read_loop(const std::string& where) {
    std::vector<std::vector<Value>*> columns;
    while ((more_ = words_.next()) && !words_.value.quoted && words_.value.text.starts_with('_'))
      columns.push_back(&add(in_lower_case(words_.value.text), words_.value.where));
    QUINTET_CHECK(!columns.empty(), "{}: a loop without tags", where);
    std::size_t n = 0;
    for (; more_ && is_value(); more_ = words_.next(), ++n)
      columns[n % columns.size()]->push_back(words_.value);
    QUINTET_CHECK(n % columns.size() == 0, "{}: the loop has {}, which do not fill rows of {}", where,
                  counted(n, "value"), columns.size());
  }

  Words words_;
  bool more_ = false;
  std::vector<Block> blocks_;
};

}  // namespace

const std::vector<Value>* Block::find(std::initializer_list<const char*> tags) const {
  for (const char* tag : tags)
    if (const auto found = values.find(tag); found != values.end()) return &found->second;
  return nullptr;
}

const Value* Block::one(std::initializer_list<const char*> tags) const {
  for (const char* tag : tags) {
    const auto found = values.find(tag);
    if (found != values.end() && found->second.size() == 1 && !found->second[0].is_absent())
      return &found->second[0];
  }
  return nullptr;
}

std::vector<Block> read_blocks(const std::string& path) { return BlockReader(path).read(); }

double to_number(const Value& value, const std::string& what) {
  std::string_view digits = value.text;
  if (const auto open = digits.find('('); open != std::string_view::npos) {
    const auto uncertainty = digits.substr(open);
    QUINTET_CHECK(uncertainty.size() >= 3 && uncertainty.ends_with(')') &&
                      uncertainty.substr(1, uncertainty.size() - 2).find_first_not_of("0123456789.") ==
                          std::string_view::npos,
                  "{}: {} is {}, a number was expected", value.where, what, text::shown(value.text));
    digits = digits.substr(0, open);
  }
  return text::to_double(digits, value.where, what);
}

}  // namespace quintet::cif
