#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/application/report/colour_map.hpp"
#include "apps/application/report/picture.hpp"
#include "apps/application/report/png.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/report/safe_picture.hpp"
#include "io/files/decompress.hpp"

namespace quintet {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// All numbers behind M or L in the paths of one class.
std::vector<std::pair<double, double>> path_points(const std::string& svg, const std::string& kind) {
  std::vector<std::pair<double, double>> points;
  const std::string opening = "<path class=\"" + kind, data = " d=\"";
  const std::regex point("[ML](-?[0-9.]+) (-?[0-9.]+)");
  // The path itself is found without a regular expression, whose matching is as deep as the text is long.
  for (auto at = svg.find(opening); at != std::string::npos; at = svg.find(opening, at + 1)) {
    const auto begin = svg.find(data, at) + data.size();
    const std::string path = svg.substr(begin, svg.find('"', begin) - begin);
    for (std::sregex_iterator p(path.begin(), path.end(), point), none; p != none; ++p)
      points.emplace_back(std::stod((*p)[1]), std::stod((*p)[2]));
  }
  return points;
}

Plot plot_of(std::vector<double> x, std::vector<double> y) {
  Plot plot{"title", "x", "y", {}, false, false, ""};
  plot.curves.push_back({"", std::move(x), std::move(y)});
  return plot;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

TEST(Report, is_self_contained) {
  Report report;
  report.title("run", "today");
  report.plot(plot_of({0, 1}, {0, 1}));
  report.heatmap({"map", "x", "y", "v", {1, 2, 3, 4}, 2, 2, 0, 1, 0, 1, ""});

  const std::string html = report.html();
  for (const char* outside : {"<script", "http:", "https:", "<link", "@import", "url("})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_NE(html.find("prefers-color-scheme:dark"), std::string::npos);
}

/// Relative luminance of '#rgb' or '#rrggbb' (WCAG 2.1).
double luminance_of(const std::string& colour) {
  const std::array<double, 3> weights = {0.2126, 0.7152, 0.0722};
  const bool brief = colour.size() == 4;
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto digits = brief ? std::string(2, colour[1 + i]) : colour.substr(1 + 2 * i, 2);
    const double c = std::stoi(digits, nullptr, 16) / 255.0;
    sum += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast_of(const std::string& a, const std::string& b) {
  const auto [dark, light] = std::minmax({luminance_of(a), luminance_of(b)});
  return (light + 0.05) / (dark + 0.05);
}

// WCAG 2.1, level AA: 4.5 for text, 3 for curves and marks.
TEST(Report, texts_and_curves_stand_out_from_the_page_in_light_and_dark) {
  EXPECT_NEAR(contrast_of("#000", "#ffffff"), 21, 1e-9);
  const std::string html = Report().html();
  int schemes = 0;
  const std::regex root(R"(:root\{([^}]*)\})"), entry(R"(--(\w+):(#[0-9a-f]+))");
  for (std::sregex_iterator scheme(html.begin(), html.end(), root), end; scheme != end; ++scheme, ++schemes) {
    const std::string text = (*scheme)[1];
    std::map<std::string, std::string> colours;
    for (std::sregex_iterator it(text.begin(), text.end(), entry); it != end; ++it)
      colours[(*it)[1]] = (*it)[2];
    for (const char* ground : {"paper", "card"}) {
      for (const char* ink : {"ink", "faint", "accent", "good", "bad"})
        EXPECT_GE(contrast_of(colours.at(ink), colours.at(ground)), 4.5) << ink << " on " << ground;
      for (const char* curve : {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "warn"})
        EXPECT_GE(contrast_of(colours.at(curve), colours.at(ground)), 3) << curve << " on " << ground;
    }
  }
  EXPECT_EQ(schemes, 2);
}

TEST(Report, each_picture_has_words_for_those_who_do_not_see_it) {
  Report report;
  report.plot(plot_of({0, 1}, {0, 1}));
  report.heatmap({"map", "x", "y", "v", {1, 2, 3, 4}, 2, 2, 0, 1, 0, 1, ""});
  const std::string html = report.html();
  int pictures = 0;
  for (std::size_t at = html.find("<svg "); at != std::string::npos;
       at = html.find("<svg ", at + 1), ++pictures)
    EXPECT_NE(html.substr(at, html.find('>', at) - at).find("aria-label=\""), std::string::npos);
  EXPECT_EQ(pictures, 2);
}

TEST(Report, a_doubtful_tile_says_why) {
  Report report;
  report.headlines({{"temperature", "300.2 ± 0.9 K"}, {"pressure", "1 bar", "It drifts."}});

  const std::string html = report.html();
  EXPECT_NE(html.find("<div><span>temperature</span><b>300.2 ± 0.9 K</b></div>"), std::string::npos);
  EXPECT_NE(html.find("<div class=\"doubt\"><span>pressure</span><b>1 bar</b><p>It drifts.</p></div>"),
            std::string::npos);
}

TEST(Report, a_long_table_is_folded) {
  const auto page_of = [](std::size_t rows) {
    Report report;
    report.table({"a", "b"}, std::vector<std::vector<std::string>>(rows, {"1", "2"}), "what");
    return report.html();
  };
  EXPECT_EQ(page_of(60).find("<details>"), std::string::npos);
  const std::string html = page_of(61);
  const auto begin = html.find("<details><summary>Show all 61</summary>"), end = html.find("</details>");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  EXPECT_LT(begin, html.find("<table"));
  EXPECT_GT(end, html.find("</table>"));
}

TEST(Report, text_cannot_become_markup) {
  const std::string hostile = "<script>alert(\"&\")</script>";
  Report report;
  report.title(hostile, hostile);
  report.status(hostile, false, hostile);
  report.facts({{hostile, hostile}});
  report.headlines({{hostile, hostile, hostile}});
  report.warning(hostile);
  report.section(hostile);
  report.paragraph(hostile);
  report.table({hostile}, {{hostile}}, hostile);
  report.bars({{hostile, 0, 0.5, hostile}}, hostile);
  report.preformatted(hostile);
  Plot plot = plot_of({0, 1}, {0, 1});
  plot.levels = {{0.5, hostile}};
  plot.title = plot.x_label = plot.y_label = plot.caption = plot.curves[0].label = hostile;
  report.plot(plot);

  EXPECT_EQ(report.html().find("<script"), std::string::npos);
}

TEST(Plot, a_line_goes_through_its_points_in_proportion) {
  const auto points = path_points(draw(plot_of({0, 1, 4}, {10, 30, 20})), "curve");

  ASSERT_EQ(points.size(), 3u);
  EXPECT_NEAR((points[1].first - points[0].first) / (points[2].first - points[0].first), 0.25, 1e-3);
  EXPECT_NEAR((points[1].second - points[0].second) / (points[2].second - points[0].second), 2, 1e-2);
  EXPECT_LT(points[1].second, points[0].second);  // up is less in SVG
}

TEST(Plot, a_dashed_curve_without_a_label_has_the_colour_of_the_one_before) {
  Plot plot{"title", "x", "y", {}, false, false, ""};
  for (int k = 0; k < 5; ++k) {
    plot.curves.push_back({"network", {0, 1}, {0, 1}});
    plot.curves.push_back({"", {0, 1}, {1, 0}, false, true});
  }
  plot.curves.push_back({"mark", {0, 0}, {0, 1}, false, true});
  const std::string svg = draw(plot);

  for (const char* colour : {"c0", "c1", "c2", "c3", "c4"}) {
    EXPECT_EQ(path_points(svg, std::string("curve ") + colour).size(), 3U) << colour;  // one in the legend
    EXPECT_EQ(path_points(svg, std::string("curve dashed ") + colour).size(), 2U) << colour;
  }
  EXPECT_FALSE(path_points(svg, "curve dashed c5").empty());
}

/// Left and right edge of the frame of a picture.
std::pair<double, double> frame_edges(const std::string& svg) {
  const std::regex frame("<rect class=\"frame\" x=\"([0-9.]+)\" y=\"[0-9.]+\" width=\"([0-9.]+)\"");
  std::smatch found;
  if (!std::regex_search(svg, found, frame)) return {nan, nan};
  return {std::stod(found[1]), std::stod(found[1]) + std::stod(found[2])};
}

TEST(Plot, wide_numbers_leave_room_for_the_label_beside_them) {
  const auto narrow = frame_edges(draw(plot_of({0, 1}, {-3.56, -3.50}))),  // numbers such as -3.52
      wide = frame_edges(draw(plot_of({0, 1}, {-3.541, -3.535})));         // such as -3.538
  EXPECT_DOUBLE_EQ(narrow.first, 76);
  EXPECT_DOUBLE_EQ(wide.first, 26 + 6 * 8 + 9);
  EXPECT_DOUBLE_EQ(wide.second, narrow.second);
}

TEST(Plot, units_of_labels_have_their_signs) {
  Plot plot = plot_of({0, 1}, {0, 1});
  plot.x_label = "volume (angstrom^3)", plot.y_label = "force (eV/angstrom)";
  const std::string svg = draw(plot);
  EXPECT_NE(svg.find(">volume (Å³)<"), std::string::npos);
  EXPECT_NE(svg.find(">force (eV/Å)<"), std::string::npos);
}

TEST(Plot, a_level_lies_where_its_value_is_and_widens_the_axis) {
  Plot plot = plot_of({0, 1}, {10, 20});
  plot.levels = {{15, "mean 15"}, {40, "target 40", true}};
  const std::string picture = draw(plot);
  const auto curve = path_points(picture, "curve");
  auto levels = path_points(picture, "level");

  ASSERT_EQ(levels.size(), 4u);  // two in the legend
  levels.erase(levels.begin(), levels.begin() + 2);
  EXPECT_NEAR(levels[0].second, (curve[0].second + curve[1].second) / 2, 0.2);
  EXPECT_NEAR((levels[1].second - curve[0].second) / (curve[1].second - curve[0].second), 3, 1e-2);
  EXPECT_NE(picture.find(">target 40</text>"), std::string::npos);

  plot.levels = {{nan, "none"}};
  EXPECT_EQ(draw(plot).find("none"), std::string::npos);
  plot.curves.clear();
  plot.levels = {{1, "of nothing"}};
  EXPECT_NE(draw(plot).find("no data"), std::string::npos);
}

TEST(Plot, a_million_points_are_thinned_but_extremes_stay) {
  std::vector<double> x, y;
  for (int i = 0; i < 1000000; ++i) {
    x.push_back(i);
    y.push_back(std::sin(0.7 * i));
  }
  y[333333] = 9;
  y[666666] = -9;

  const std::string picture = draw(plot_of(x, y));
  double low = 1e9, high = -1e9;
  for (const auto& [px, py] : path_points(picture, "curve")) {
    low = std::min(low, py);
    high = std::max(high, py);
  }
  EXPECT_LT(picture.size(), 100000u);
  // The range of 18 fills all but two margins of 5 % of the frame's 300 pixels.
  EXPECT_NEAR(high - low, 300 / 1.1, 0.5);
}

TEST(Plot, a_curve_to_and_fro_and_many_markers_are_thinned_too) {
  Plot plot = plot_of({}, {});
  for (int i = 0; i < 300000; ++i) {
    plot.curves[0].x.push_back(std::cos(1.3 * i));
    plot.curves[0].y.push_back(std::sin(1.7 * i));
  }
  EXPECT_LT(draw(plot).size(), 500000u);

  plot.curves[0].points = true;
  EXPECT_LT(draw(plot).size(), 1000000u);
}

TEST(Plot, nan_breaks_the_line_and_never_reaches_the_page) {
  const std::string picture = draw(plot_of({0, 1, 2, 3, 4}, {1, 2, nan, 2, 1}));

  EXPECT_EQ(path_points(picture, "curve").size(), 4u);
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(picture.find("inf"), std::string::npos);
}

TEST(Plot, degenerate_data_makes_a_picture_without_nan) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const bool logarithmic : {false, true})
    for (const auto& values : std::vector<std::vector<double>>{
             {}, {5}, {5, 5, 5}, {nan}, {infinity, -infinity}, {0, -1}, {1e308, -1e308}}) {
      Plot plot = plot_of(values, values);
      plot.log_x = plot.log_y = logarithmic;

      const std::string picture = draw(plot);
      EXPECT_EQ(picture.find("nan"), std::string::npos) << values.size();
      EXPECT_EQ(picture.find("inf"), std::string::npos) << values.size();
    }
  EXPECT_NE(draw(plot_of({nan}, {1})).find("no data"), std::string::npos);
  EXPECT_EQ(draw(plot_of({1}, {1})).find("no data"), std::string::npos);
}

TEST(Plot, curves_of_unequal_lengths_end_with_the_shorter) {
  EXPECT_EQ(path_points(draw(plot_of({0, 1, 2, 3}, {0, 1})), "curve").size(), 2u);
}

TEST(Heatmap, a_wrong_number_of_values_draws_no_field) {
  const Heatmap map{"map", "x", "y", "v", {1, 2, 3}, 2, 2, 0, 1, 0, 1, ""};

  EXPECT_NE(draw(map).find("no data"), std::string::npos);
}

TEST(Heatmap, a_fine_field_is_averaged_to_a_picture_of_bounded_size) {
  Heatmap map;
  map.n_x = 3001;
  map.n_y = 1999;
  for (int i = 0; i < map.n_x * map.n_y; ++i) map.values.push_back(i % 7);

  EXPECT_LT(draw(map).size(), 400000u);
}

TEST(Heatmap, colours_about_zero_reach_as_far_on_both_sides) {
  Heatmap map;
  map.n_x = 2, map.n_y = 2;
  map.values = {-1, 4, 0, nan};
  map.grey_blanks = true;
  const auto one_sided = draw(map);
  EXPECT_EQ(one_sided.find(">−4<"), std::string::npos);
  EXPECT_NE(one_sided.find("class=\"blank\""), std::string::npos);
  map.about_zero = true, map.grey_blanks = false;
  const auto about_zero = draw(map);
  EXPECT_NE(about_zero.find(">−4<"), std::string::npos);
  EXPECT_NE(about_zero.find(">4<"), std::string::npos);
  EXPECT_EQ(about_zero.find("class=\"blank\""), std::string::npos);
}

TEST(ColourMap, zero_is_nearly_white_and_its_two_sides_are_as_dark) {
  const auto palette = colour_palette(true);
  const auto light = [&](std::uint8_t index) {
    return palette[index][0] + palette[index][1] + palette[index][2];
  };
  EXPECT_GT(light(colour_index(0.5)), 3 * 235);
  for (const double step : {0.1, 0.2, 0.3, 0.4, 0.5}) {
    const auto below = colour_index(0.5 - step), above = colour_index(0.5 + step);
    EXPECT_NEAR(light(below), light(above), 75) << step;
    EXPECT_GT(palette[below][2], palette[below][0]);
    EXPECT_GT(palette[above][0], palette[above][2]);
  }
  EXPECT_EQ(colour_index(nan), 0);
}

TEST(Png, has_the_structure_of_the_standard) {
  std::vector<std::uint8_t> pixels(300 * 301);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i % 7 == 0);
  const std::string png = encode_png(300, 301, pixels, {{0, 0, 0}, {255, 0, 0}});

  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(big_endian(png, 16), 300u);
  EXPECT_EQ(big_endian(png, 20), 301u);
  // The end chunk is always the same twelve bytes, its CRC-32 known.
  EXPECT_EQ(png.substr(png.size() - 8, 4), "IEND");
  EXPECT_EQ(big_endian(png, png.size() - 4), 0xae426082u);
  const auto data = png.find("IDAT");
  const auto packed = png.substr(data + 4, big_endian(png, data - 4));
  EXPECT_LT(packed.size(), pixels.size() / 50);
  const auto rows = decompressed(Codec::zlib, packed, 301 * 301, "picture");
  for (std::size_t y = 0; y < 301; ++y) {
    EXPECT_EQ(rows[301 * y], 0);  // no filter
    EXPECT_EQ(rows.substr(301 * y + 1, 300),
              std::string(pixels.begin() + 300 * y, pixels.begin() + 300 * (y + 1)));
  }
}

TEST(Png, a_film_numbers_its_chunks_and_begins_with_a_picture_that_stands_alone) {
  const std::vector<std::vector<std::uint8_t>> frames(3, std::vector<std::uint8_t>(6, 1));
  const std::string film = encode_film(3, 2, frames, {{0, 0, 0}, {255, 0, 0}}, 150);
  std::vector<std::string> chunks;
  std::vector<unsigned> numbers;
  for (std::size_t at = 8; at < film.size();) {
    const std::string type = film.substr(at + 4, 4);
    chunks.push_back(type);
    if (type == "acTL") {
      EXPECT_EQ(big_endian(film, at + 8), 3u);
    }
    if (type == "fcTL" || type == "fdAT") numbers.push_back(big_endian(film, at + 8));
    at += 12 + big_endian(film, at);
  }
  EXPECT_EQ(chunks, (std::vector<std::string>{"IHDR", "acTL", "PLTE", "tRNS", "fcTL", "IDAT", "fcTL", "fdAT",
                                              "fcTL", "fdAT", "IEND"}));
  EXPECT_EQ(numbers, (std::vector<unsigned>{0, 1, 2, 3, 4}));
}

TEST(Film, is_part_of_the_page_with_its_caption) {
  Film film;
  film.title = "b over time";
  film.n_x = 4, film.n_y = 2;
  film.frames.assign(2, std::vector<std::vector<double>>(3, std::vector<double>(8, 0.5)));
  film.caption = "from the top";
  Report report;
  report.film(film);
  const auto html = report.html();
  EXPECT_NE(html.find("data:image/png;base64,"), std::string::npos);
  EXPECT_NE(html.find("height=\"12\""), std::string::npos);  // three panels of 2 pixels and two gaps of 3
  EXPECT_NE(html.find("from the top"), std::string::npos);
}

TEST(Png, base64_agrees_with_the_vectors_of_rfc_4648) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foo"), "Zm9v");
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encode_base64("\xff\xfe"), "//4=");
}

TEST(IndexPage, links_reports_and_shows_their_first_picture) {
  Report report;
  report.title("run");
  report.plot(plot_of({0, 1}, {0, 1}));
  const std::string picture = first_picture(report.html());

  const std::string page =
      index_page("Runs", {{.name = "copper",
                           .path = "copper/report.html",
                           .facts = {{"system", "copper"}},
                           .headlines = {{"steps", "7"}, {"temperature", "7 K", "too cold"}},
                           .picture = picture}});
  EXPECT_NE(page.find("too cold"), std::string::npos);
  EXPECT_NE(page.find("<a href=\"copper/report.html\">copper</a>"), std::string::npos);
  EXPECT_NE(page.find(draw(plot_of({0, 1}, {0, 1}))), std::string::npos);
  EXPECT_EQ(first_picture("<html></html>"), "");
  EXPECT_EQ(safe_picture(picture), picture);
}

TEST(IndexPage, another_persons_picture_is_taken_only_if_it_can_do_no_harm) {
  Heatmap heatmap;
  heatmap.title = "f <script>";
  heatmap.n_x = heatmap.n_y = 2;
  heatmap.values = {0, 1, 2, 3};
  EXPECT_EQ(safe_picture(draw(heatmap)), draw(heatmap));
  for (const std::string bad :
       {"<svg onload=\"alert(1)\"></svg>", "<svg><script>alert(1)</script></svg>",
        "<svg><a href=\"x\"/></svg>", "<svg/onload=alert(1)></svg>",
        "<svg><rect x=\"1\"onclick=\"a\"/></svg>", "<svg><![CDATA[x]]></svg>", "<svg><!-- --></svg>",
        "<svg><image href=\"http://nowhere/x.png\"/></svg>", "<svg><image href='x'/></svg>",
        "<svg><foreignObject/></svg>", "<svg><use href=\"#a\"/></svg>",
        "<svg><rect fill=\"url(//x)\"/></svg>", "<svg><SCRIPT/></svg>", "<svg><style>x</style></svg>",
        "<svg><rect x=\"1", "<svg"})
    EXPECT_EQ(safe_picture(bad), "") << bad;
  EXPECT_EQ(link_of_path("javascript:alert(1)/report.html"), "./javascript%3Aalert%281%29/report.html");
  EXPECT_EQ(link_of_path("../a b/\"r\".html"), "./../a%20b/%22r%22.html");
}

}  // namespace
}  // namespace quintet
