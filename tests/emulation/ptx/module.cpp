#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulation/ptx/decoder.hpp"
#include "tests/emulation/run/memory.hpp"

namespace quintet::emulation {

Module::Module(std::string ptx) : text_(std::make_unique<ModuleText>()) {
  // comments away, lines kept
  std::string s;
  s.reserve(ptx.size());
  for (std::size_t i = 0; i < ptx.size(); ++i) {
    if (ptx[i] == '/' && i + 1 < ptx.size() && ptx[i + 1] == '/') {
      while (i < ptx.size() && ptx[i] != '\n') ++i;
      s += '\n';
    } else {
      s += ptx[i];
    }
  }
  std::size_t at = 0;
  int line = 1;
  auto skip = [&] {
    while (at < s.size() && std::isspace(static_cast<unsigned char>(s[at]))) {
      if (s[at] == '\n') ++line;
      ++at;
    }
  };
  for (skip(); at < s.size(); skip()) {
    if (s.compare(at, 8, ".version") == 0 || s.compare(at, 7, ".target") == 0 ||
        s.compare(at, 13, ".address_size") == 0) {
      at = std::min(s.find('\n', at), s.size());
      continue;
    }
    std::size_t e = at;
    int depth = 0;
    for (; e < s.size(); ++e) {
      if (s[e] == '(') ++depth;
      if (s[e] == ')') --depth;
      if (depth == 0 && (s[e] == ';' || s[e] == '{' || s[e] == '=')) break;
    }
    std::string head = s.substr(at, e - at);
    const int head_lines = std::count(head.begin(), head.end(), '\n');
    const bool is_entry = head.find(".entry") != std::string::npos;
    if (is_entry || head.find(".func") != std::string::npos) {
      FunctionText f;
      f.entry = is_entry;
      std::string h = head.substr(head.find(is_entry ? ".entry" : ".func") + (is_entry ? 6 : 5));
      auto lists = [&](const std::string &inside) {
        std::vector<Declaration> out;
        for (const auto &t : split(inside, ','))
          if (!t.empty()) out.push_back(declaration(t));
        return out;
      };
      h = trim(h);
      if (!h.empty() && h[0] == '(') {
        const auto close = h.find(')');
        f.results = lists(h.substr(1, close - 1));
        h = trim(h.substr(close + 1));
      }
      std::size_t n = 0;
      while (n < h.size() && word_char(h[n])) ++n;
      f.name = h.substr(0, n);
      h = trim(h.substr(n));
      if (!h.empty() && h[0] == '(') {
        const auto close = h.find(')');
        f.parameters = lists(h.substr(1, close - 1));
        h = trim(h.substr(close + 1));
      }
      f.directives = h;
      f.line = line + head_lines;
      line += head_lines;
      if (e < s.size() && s[e] == '{') {
        std::size_t c = e + 1;
        for (int open = 1; c < s.size(); ++c) {
          if (s[c] == '{') ++open;
          if (s[c] == '}' && --open == 0) break;
        }
        f.body = s.substr(e + 1, c - e - 1);
        line += static_cast<int>(std::count(f.body.begin(), f.body.end(), '\n'));
        at = c + 1;
        text_->functions[f.name] = f;
      } else {
        at = e + 1;
      }
      continue;
    }
    std::string value;
    std::size_t close = e;
    if (s[e] == '=') {
      close = s.find(';', e);
      value = trim(s.substr(e + 1, close - e - 1));
    }
    line += static_cast<int>(std::count(s.begin() + at, s.begin() + close, '\n'));
    at = close + 1;
    if (head.find(".shared") != std::string::npos) {
      const Declaration d = declaration(trim(head));
      text_->shared[d.name] = d;
    } else if (head.find(".global") != std::string::npos || head.find(".const") != std::string::npos) {
      const Declaration d = declaration(trim(head));
      const std::size_t bytes = std::max<std::size_t>(d.bytes, 8);
      auto *address = allocate(bytes);
      std::memset(bytes_of(address), 0, bytes);
      if (!value.empty()) {
        std::vector<std::string> items =
            value[0] == '{' ? split(value.substr(1, value.size() - 2), ',') : std::vector<std::string>{value};
        auto *to = static_cast<char *>(bytes_of(address));
        for (const auto &item : items) {
          if (item.empty()) continue;
          if (!std::isdigit(static_cast<unsigned char>(item[0])) && item[0] != '-')
            unknown("a value of " + d.name + ": " + item);
          const std::uint64_t v = number(item);
          std::memcpy(to, &v, d.element);
          to += d.element;
        }
      }
      text_->variables[d.name] = {reinterpret_cast<std::uint64_t>(address), d.bytes};
    } else if (!trim(head).empty()) {
      unknown(head);
    }
  }
}

Module::~Module() = default;

const Kernel *Module::kernel(const std::string &name) {
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second.get();
  const auto found = text_->functions.find(name);
  if (found == text_->functions.end()) return nullptr;
  return (kernels_[name] = decode(*text_, found->second)).get();
}

std::pair<std::uint64_t, std::size_t> Module::variable(const std::string &name) const {
  const auto found = text_->variables.find(name);
  return found == text_->variables.end()
             ? std::pair<std::uint64_t, std::size_t>{0, 0}
             : std::pair<std::uint64_t, std::size_t>{found->second.address, found->second.bytes};
}

}  // namespace quintet::emulation
