#pragma once

#include <string>

#include "apps/application/report/report.hpp"

namespace quintet {

/// Text made safe for HTML and SVG.
[[nodiscard]] std::string escape_markup(const std::string& text);

/// The pictures as one <svg> element each; colours come from the page's style sheet.
[[nodiscard]] std::string draw(const Plot& plot);
[[nodiscard]] std::string draw(const Heatmap& heatmap);
[[nodiscard]] std::string draw(const Chain& chain);
/// The film as an <img> element.
[[nodiscard]] std::string draw(const Film& film);

}  // namespace quintet
