#include "apps/application/report/safe_picture.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

namespace quintet {
namespace {

constexpr std::array<std::string_view, 15> elements{
    "svg",     "g",    "path",  "rect", "line",     "circle",         "ellipse", "polyline",
    "polygon", "text", "tspan", "defs", "clipPath", "linearGradient", "image"};
constexpr std::array<std::string_view, 47> attributes{"class",
                                                      "d",
                                                      "x",
                                                      "y",
                                                      "x1",
                                                      "x2",
                                                      "y1",
                                                      "y2",
                                                      "cx",
                                                      "cy",
                                                      "dx",
                                                      "dy",
                                                      "r",
                                                      "rx",
                                                      "ry",
                                                      "width",
                                                      "height",
                                                      "viewBox",
                                                      "preserveAspectRatio",
                                                      "role",
                                                      "aria-label",
                                                      "transform",
                                                      "text-anchor",
                                                      "dominant-baseline",
                                                      "points",
                                                      "fill",
                                                      "fill-opacity",
                                                      "fill-rule",
                                                      "stroke",
                                                      "stroke-width",
                                                      "stroke-dasharray",
                                                      "stroke-opacity",
                                                      "stroke-linecap",
                                                      "stroke-linejoin",
                                                      "opacity",
                                                      "id",
                                                      "clip-path",
                                                      "offset",
                                                      "stop-color",
                                                      "font-size",
                                                      "font-weight",
                                                      "font-family",
                                                      "href",
                                                      "vector-effect",
                                                      "image-rendering",
                                                      "shape-rendering",
                                                      "xmlns"};

template <std::size_t n>
bool holds(const std::array<std::string_view, n>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Takes markup off the front of a text; every function answers whether what it looks for is there.
class Markup {
 public:
  explicit Markup(std::string_view text) : rest_(text) {}

  /// Text and tags up to the end.
  bool all() {
    for (;;) {
      rest_.remove_prefix(std::min(rest_.find('<'), rest_.size()));
      if (rest_.empty()) return true;
      if (!tag()) return false;
    }
  }

 private:
  bool tag() {
    rest_.remove_prefix(1);
    const bool closes = take("/");
    if (!holds(elements, word())) return false;
    if (closes) return take(">");
    while (blanks())
      if (!rest_.starts_with('/') && !rest_.starts_with('>') && !attribute()) return false;
    return take("/>") || take(">");
  }

  bool attribute() {
    const auto name = word();
    if (!holds(attributes, name) || !take("=\"")) return false;
    const auto end = rest_.find('"');
    if (end == std::string_view::npos) return false;
    const auto value = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (name == "href") return value.starts_with("data:image/png;base64,");
    const auto url = value.find("url(");
    return url == std::string_view::npos || value.substr(url).starts_with("url(#");
  }

  bool take(std::string_view text) {
    const bool found = rest_.starts_with(text);
    if (found) rest_.remove_prefix(text.size());
    return found;
  }
  bool blanks() {
    const auto end = std::min(rest_.find_first_not_of(" \n\t"), rest_.size());
    rest_.remove_prefix(end);
    return end > 0;
  }
  std::string_view word() {
    const auto end = std::find_if(rest_.begin(), rest_.end(),
                                  [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; });
    const auto found = rest_.substr(0, end - rest_.begin());
    rest_.remove_prefix(found.size());
    return found;
  }

  std::string_view rest_;
};

}  // namespace

std::string safe_picture(const std::string& svg) { return Markup(svg).all() ? svg : ""; }

std::string link_of_path(const std::string& path) {
  std::string link = "./";
  for (const char c : path) {
    const unsigned char code = c;
    if (code < 0x80 &&
        (std::isalnum(code) != 0 || std::string_view("-_.~/").find(c) != std::string_view::npos))
      link += c;
    else
      link += fmt::format("%{:02X}", code);
  }
  return link;
}

}  // namespace quintet
