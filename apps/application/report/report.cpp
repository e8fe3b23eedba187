#include "apps/application/report/report.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

#include "apps/application/report/picture.hpp"
#include "apps/application/report/style_sheet.hpp"
#include "io/log/counted.hpp"

namespace quintet {
namespace {

constexpr std::size_t most_open_rows = 60;

std::string page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{}</title>\n<style>{}"
      "</style></head>\n<body>\n{}</body></html>\n",
      escape_markup(title), style_sheet, body);
}

std::string header(const std::string& title, const std::string& subtitle) {
  return fmt::format(
      "<header><h1>{}</h1>{}</header>\n", escape_markup(title),
      subtitle.empty() ? "" : fmt::format("<p class=\"subtitle\">{}</p>", escape_markup(subtitle)));
}

std::string figure(const std::string& title, const std::string& picture, const std::string& caption) {
  return fmt::format("<figure><figcaption>{}</figcaption>{}{}</figure>\n", escape_markup(title), picture,
                     caption.empty() ? "" : fmt::format("<p>{}</p>", escape_markup(caption)));
}

std::string tiles(const std::vector<Headline>& headlines) {
  std::string content;
  for (const auto& [name, value, doubt] : headlines)
    content += fmt::format("<div{}><span>{}</span><b>{}</b>{}</div>", doubt.empty() ? "" : " class=\"doubt\"",
                           escape_markup(name), escape_markup(value),
                           doubt.empty() ? "" : fmt::format("<p>{}</p>", escape_markup(doubt)));
  return fmt::format("<div class=\"tiles\">{}</div>\n", content);
}

std::string fact_list(const std::vector<Fact>& facts) {
  if (facts.empty()) return "";
  std::string content;
  for (const auto& [name, text] : facts)
    content += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(text));
  return "<dl>" + content + "</dl>\n";
}

bool is_number(const std::string& text) {
  if (text.empty()) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  while (*end == ' ' || *end == '%') ++end;
  return *end == '\0';
}

std::string table_row(const std::vector<std::string>& cells, const char* element,
                      const std::vector<bool>& numeric) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    row += fmt::format("<{}{}>{}</{}>", element, i < numeric.size() && numeric[i] ? " class=\"n\"" : "",
                       escape_markup(cells[i]), element);
  return row + "</tr>\n";
}

/// Columns of nothing but numbers stand to the right.
std::vector<bool> numeric_columns(const std::vector<std::vector<std::string>>& rows, std::size_t n_columns) {
  std::vector<bool> numeric(n_columns, !rows.empty());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < std::min(row.size(), n_columns); ++i)
      if (!row[i].empty() && row[i] != "–" && !is_number(row[i])) numeric[i] = false;
  return numeric;
}

}  // namespace

std::string escape_markup(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    const unsigned char code = letter;
    if (letter == '&')
      result += "&amp;";
    else if (letter == '<')
      result += "&lt;";
    else if (letter == '>')
      result += "&gt;";
    else if (letter == '"')
      result += "&quot;";
    else if (code >= 32 || letter == '\n' || letter == '\t')
      result += letter;
  }
  return result;
}

void Report::title(const std::string& title, const std::string& subtitle) {
  title_ = title;
  subtitle_ = subtitle;
}

void Report::status(const std::string& status, bool good, const std::string& message) {
  body_ += fmt::format("<div class=\"status\"><span class=\"badge {}\">{}</span><span>{}</span></div>\n",
                       good ? "good" : "bad", escape_markup(status), escape_markup(message));
}

void Report::facts(const std::vector<Fact>& facts) { body_ += fact_list(facts); }

void Report::headlines(const std::vector<Headline>& headlines) { body_ += tiles(headlines); }

void Report::section(const std::string& heading) {
  body_ += fmt::format("</section>\n<section><h2>{}</h2>\n", escape_markup(heading));
}

void Report::paragraph(const std::string& text) { body_ += fmt::format("<p>{}</p>\n", escape_markup(text)); }

void Report::warning(const std::string& text) {
  body_ += fmt::format("<p class=\"warning\">{}</p>\n", escape_markup(text));
}

void Report::table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                   const std::string& caption) {
  const auto numeric = numeric_columns(rows, header.size());
  const bool folded = rows.size() > most_open_rows;
  if (folded) body_ += fmt::format("<details><summary>Show all {}</summary>\n", rows.size());
  body_ += fmt::format("<div class=\"scroll\"><table{}>", header.empty() ? " class=\"facts\"" : "");
  if (!caption.empty()) body_ += fmt::format("<caption>{}</caption>", escape_markup(caption));
  if (!header.empty()) body_ += table_row(header, "th", numeric);
  for (const auto& row : rows) body_ += table_row(row, "td", numeric);
  body_ += folded ? "</table></div></details>\n" : "</table></div>\n";
}

void Report::plot(const Plot& plot) { body_ += figure(plot.title, draw(plot), plot.caption); }

void Report::heatmap(const Heatmap& heatmap) {
  body_ += figure(heatmap.title, draw(heatmap), heatmap.caption);
}
void Report::chain(const Chain& chain) { body_ += figure(chain.title, draw(chain), chain.caption); }
void Report::film(const Film& film) { body_ += figure(film.title, draw(film), film.caption); }

void Report::bars(const std::vector<Bar>& bars, const std::string& caption) {
  body_ += "<div class=\"bars\">";
  for (const auto& bar : bars)
    body_ += fmt::format(
        "<div style=\"padding-left:{}px\">{}</div><i{} style=\"width:{:.2f}%\"></i><span>{}</span>\n",
        18 * bar.depth, escape_markup(bar.label),
        bar.rest        ? " class=\"rest\""
        : bar.depth > 0 ? " class=\"inner\""
                        : "",
        100 * std::clamp(bar.part, 0.0, 1.0), escape_markup(bar.text));
  body_ += "</div>\n";
  if (!caption.empty()) body_ += fmt::format("<p class=\"note\">{}</p>\n", escape_markup(caption));
}

void Report::preformatted(const std::string& text) {
  body_ += fmt::format("<pre>{}</pre>\n", escape_markup(text));
}

std::string Report::html() const {
  return page(title_, header(title_, subtitle_) + "<section>\n" + body_ + "</section>\n");
}

std::string index_page(const std::string& title, const std::vector<ReportLink>& links) {
  std::string body = header(title, fmt::format("{}", counted(links.size(), "run")));
  body += "<div class=\"runs\">\n";
  for (const auto& link : links)
    body +=
        fmt::format("<div class=\"run\"><h2><a href=\"{}\">{}</a></h2><p>{}</p>{}{}{}</div>\n",
                    escape_markup(link.path), escape_markup(link.name), escape_markup(link.text),
                    fact_list(link.facts), link.picture, link.headlines.empty() ? "" : tiles(link.headlines));
  return page(title, body + "</div>\n");
}

std::string first_picture(const std::string& html) {
  const auto begin = html.find("<svg ");
  const auto end = html.find("</svg>", begin);
  return begin == std::string::npos || end == std::string::npos ? "" : html.substr(begin, end + 6 - begin);
}

}  // namespace quintet
