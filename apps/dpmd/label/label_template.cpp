#include "apps/dpmd/label/label_template.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/dpmd/label/label_program.hpp"
#include "io/config/suggest.hpp"
#include "io/config/tree.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace {

/// Names between {{ and }}, in their order.
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at + 2)) {
    const std::size_t end = text.find("}}", at);
    if (end == std::string::npos) break;
    names.push_back(text.substr(at + 2, end - at - 2));
  }
  return names;
}

std::string braced(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "{{" : ", {{") + name + "}}";
  return text;
}

}  // namespace

std::string read_text_file(const std::string& path) { return read_input_file(path); }

void check_template(const std::string& text, const std::string& path,
                    const std::vector<std::string>& required, const std::vector<std::string>& optional) {
  const auto found = names_in(text);
  std::vector<std::string> known = required, missing;
  known.insert(known.end(), optional.begin(), optional.end());
  for (const auto& name : found)
    QUINTET_CHECK(std::find(known.begin(), known.end(), name) != known.end(),
                  "{}: unknown placeholder {{{{{}}}}}{}; known: {}", path, name, did_you_mean(name, known),
                  braced(known));
  for (const auto& name : required)
    if (std::find(found.begin(), found.end(), name) == found.end()) missing.push_back(name);
  QUINTET_CHECK(missing.empty(), "{}: the template lacks {}, in whose place the frame would come", path,
                braced(missing));
}

bool stays(const std::string& text) {
  return text.find(fmt::format("{{{{{}}}}}", driver_mark)) != std::string::npos ||
         text.find(fmt::format("{{{{{}}}}}", port_mark)) != std::string::npos;
}

std::string fill_template(std::string text, const Placeholders& values) {
  for (const auto& [name, value] : values) {
    const std::string key = "{{" + name + "}}";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size()))
      text.replace(at, key.size(), value);
  }
  return text;
}

}  // namespace quintet::dpmd
