#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/emulation/ptx/decoder.hpp"

namespace quintet::emulation {

namespace {

std::size_t type_bytes(const std::string &type) {
  std::size_t bits = 0;
  for (char c : type)
    if (std::isdigit(static_cast<unsigned char>(c))) bits = bits * 10 + static_cast<std::size_t>(c - '0');
  if (type == ".pred") return 1;
  return bits / 8;
}

}  // namespace

void unknown(const std::string &what) {
  std::fprintf(stderr, "emulation: PTX that is not known: %s\n", what.c_str());
  std::abort();
}

bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}

std::string trim(const std::string &s) {
  const auto b = s.find_first_not_of(" \t\r\n");
  if (b == std::string::npos) return {};
  return s.substr(b, s.find_last_not_of(" \t\r\n") - b + 1);
}

std::vector<std::string> split(const std::string &s, char at) {
  std::vector<std::string> out;
  int depth = 0;
  std::string part;
  for (char c : s) {
    if (c == '[' || c == '{' || c == '(') ++depth;
    if (c == ']' || c == '}' || c == ')') --depth;
    if (c == at && depth == 0) {
      out.push_back(trim(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trim(part).empty() || !out.empty()) out.push_back(trim(part));
  return out;
}

std::uint64_t number(const std::string &text) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'd' || text[1] == 'D'))
    return std::strtoull(text.c_str() + 2, nullptr, 16);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F'))
    return std::strtoull(text.c_str() + 2, nullptr, 16);
  if (text[0] == '-') return -static_cast<std::int64_t>(number(text.substr(1)));
  std::string t = text;
  if (t.back() == 'U') t.pop_back();
  if (t.size() > 2 && t[0] == '0' && (t[1] == 'b' || t[1] == 'B'))
    return std::strtoull(t.c_str() + 2, nullptr, 2);
  return std::strtoull(t.c_str(), nullptr, 0);
}

Declaration declaration(const std::string &text) {
  Declaration d;
  std::vector<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (std::isspace(static_cast<unsigned char>(c))) {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string &w = words[i];
    if (w == ".align") {
      d.align = std::strtoull(words[++i].c_str(), nullptr, 10);
    } else if (w[0] == '.' && w.size() > 2 && std::strchr("bufsp", w[1]) &&
               (std::isdigit(static_cast<unsigned char>(w[2])) || w == ".pred")) {
      d.element = type_bytes(w);
    } else if (w[0] != '.') {
      const auto bracket = w.find('[');
      d.name = w.substr(0, bracket);
      std::size_t n = 1;
      for (auto at = bracket; at != std::string::npos; at = w.find('[', at + 1)) {
        if (w[at + 1] == ']') d.open = true;
        n *= std::strtoull(w.c_str() + at + 1, nullptr, 10);
      }
      d.bytes = n * d.element;
    }
  }
  if (d.align < d.element) d.align = d.element;
  return d;
}

std::size_t up(std::size_t n, std::size_t align) { return (n + align - 1) / align * align; }

}  // namespace quintet::emulation
