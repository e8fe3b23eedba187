#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "apps/application/report/report.hpp"
#include "apps/application/report/safe_picture.hpp"
#include "apps/campaign/table.hpp"
#include "apps/quintet/commands.hpp"
#include "io/config/tree.hpp"
#include "io/files/input_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::commands {
namespace fs = std::filesystem;
namespace {

struct Run {
  fs::path directory;
  std::string name;
  Tree summary;
};

Run read_run(const std::string& argument) {
  const fs::path directory = fs::absolute(argument).lexically_normal();
  const fs::path file = directory / "summary.json";
  QUINTET_CHECK(fs::exists(file), "'{}' holds no summary.json: name the directory of a finished run",
                argument);
  std::string name = (directory.has_filename() ? directory : directory.parent_path()).filename().string();
  Tree summary = read_yaml(file.string());
  QUINTET_CHECK(summary.is_map(), "{} is not the summary of a run", file.string());
  return {directory, std::move(name), std::move(summary)};
}

std::string value_text(const Tree& value) {
  if (value.is_null()) return "none";
  const std::string& text = value.as_text();
  if (value.quoted()) return text;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return end == text.c_str() || *end != '\0' ? text : fmt::format("{:.6g}", number);
}

/// Keys with a plain value in any run, in the order of their first appearance.
std::vector<std::string> plain_keys(const std::vector<Run>& runs) {
  std::vector<std::string> keys;
  for (const auto& run : runs)
    for (const auto& [key, value] : run.summary.entries())
      if ((value.is_scalar() || value.is_null()) && std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
  return keys;
}

using Rows = std::vector<std::vector<std::string>>;

Rows comparison(const std::vector<Run>& runs) {
  Rows rows = {{""}};
  for (const auto& run : runs) rows.front().push_back(run.name);
  for (const auto& key : plain_keys(runs)) {
    rows.push_back({key});
    for (const auto& run : runs) {
      const Tree* value = run.summary.find(key);
      rows.back().push_back(value ? value_text(*value) : "");
    }
  }
  return rows;
}

/// The first picture of a report; another person may have made it.
std::string picture_of(const fs::path& report) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26;
  return fs::exists(report) ? safe_picture(first_picture(read_input_file(report.string(), most_bytes))) : "";
}

/// A line for each number of ranks of the plan that lies in a run's directory (`quintet plan --output`), the
/// first and best decomposition of each.
std::vector<std::pair<std::string, std::string>> plan_facts(const Run& run) {
  const fs::path file = run.directory / "plan.json";
  std::vector<std::pair<std::string, std::string>> facts;
  if (!fs::exists(file)) return facts;
  const Tree plan = read_yaml(file.string());
  for (const auto& row : plan.at("rows").items()) {
    const auto name = "planned for " + counted(row.at("ranks").as_integer(), "rank");
    const auto& reason = row.at("impossible").as_text();
    if (!facts.empty() && facts.back().first == name) continue;
    if (!reason.empty())
      facts.emplace_back(name, "impossible: " + reason);
    else
      facts.emplace_back(
          name, fmt::format("{}{:.3g} ms a step, {:.3g} MB a rank, {:.3g} kB sent a step",
                            row.at("step_is_lower_bound").as_boolean() ? "more than " : "",
                            1e3 * row.at("step_s").as_number(), row.at("memory_bytes").as_number() / 1e6,
                            row.at("halo_bytes").as_number() / 1e3));
  }
  return facts;
}

ReportLink link_to(const Run& run, const fs::path& folder) {
  const fs::path report = run.directory / "report.html";
  ReportLink link{.name = run.name,
                  .path = link_of_path(fs::relative(report, folder).generic_string()),
                  .picture = picture_of(report)};
  for (const char* key : {"program", "status"})
    if (const Tree* value = run.summary.find(key))
      link.text += (link.text.empty() ? "" : ", ") + value_text(*value);
  if (const Tree* what = run.summary.find("what"))
    for (const auto& [name, text] : what->entries()) link.facts.push_back({name, value_text(text)});
  for (auto& [name, text] : plan_facts(run)) link.facts.push_back({name, text});
  if (const Tree* tiles = run.summary.find("headlines"))
    for (const auto& tile : tiles->items()) {
      const Tree* doubt = tile.find("doubt");
      link.headlines.push_back(
          {tile.at("name").as_text(), tile.at("value").as_text(), doubt ? doubt->as_text() : ""});
    }
  return link;
}

/// A number of a summary.
std::optional<double> number_of(const Run& run, const std::string& key) {
  const Tree* value = run.summary.find(key);
  if (value == nullptr || value->is_null() || !value->is_scalar()) return std::nullopt;
  const std::string& text = value->as_text();
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

/// Fitted numbers (those with an uncertainty) of one calculation on grids that are refined alike, the
/// coarsest first. Two grids: the error bar of the finer one is its fit's plus the difference, which is more
/// than what is left wherever halving cells takes half of the error or more. Three: the geometric series of
/// the differences (Aitken), with the factor q by which they fall, if they do.
Rows convergence(const std::vector<Run>& runs) {
  QUINTET_CHECK(runs.size() == 2 || runs.size() == 3,
                "--converge: {}; expected two or three of one calculation, the coarsest grid first",
                counted(runs.size(), "run"));
  Rows rows = {{""}};
  for (const auto& run : runs) rows.front().push_back(run.name);
  for (const char* name : {"of the fit", "difference", "error bar", "extrapolated", "fall of differences"})
    rows.front().emplace_back(name);
  for (const auto& key : plain_keys(runs)) {
    std::vector<double> values;
    for (const auto& run : runs)
      if (const auto value = number_of(run, key)) values.push_back(*value);
    const auto fit = number_of(runs.back(), key + "_uncertainty");
    if (!fit || values.size() != runs.size()) continue;
    const double last = values.back(), change = last - values[values.size() - 2];
    rows.push_back({key});
    for (const double value : values) rows.back().push_back(number_text(value));
    std::string limit = "-", fall = "-";
    double bar = *fit + std::abs(change);
    if (values.size() == 3) {
      const double before = values[1] - values[0], q = change == 0 ? 0 : before / change;
      if (q > 1) {
        const double rest = change / (q - 1);
        limit = number_text(last + rest);
        fall = fmt::format("{:.3g}", q);
        bar = *fit + std::abs(rest);
      }
    }
    for (const auto& text :
         {number_text(*fit), fmt::format("{:.2g}", change), fmt::format("{:.2g}", bar), limit, fall})
      rows.back().push_back(text);
  }
  QUINTET_CHECK(
      rows.size() > 1,
      "--converge: no number with an uncertainty (as growth_rate of a run with theory) is in all runs");
  return rows;
}

}  // namespace

void describe(Schema& schema, ReportFlags& flags) {
  schema.texts("directories", flags.directories, "run directories").required();
  schema.text("index", flags.index, "the page; absent: index.html in the folder that holds the first run");
  schema.text("title", flags.title, "its heading");
  schema.flag("converge", flags.converge,
              "instead: what two or three grids, the coarsest first, say of the error of fitted numbers");
}

void report(const ReportFlags& flags) {
  std::vector<Run> runs;
  for (const auto& directory : flags.directories) runs.push_back(read_run(directory));
  if (flags.converge) {
    for (const auto& line : campaign::aligned(convergence(runs))) std::puts(line.c_str());
    return;
  }
  const fs::path page =
      flags.index ? fs::absolute(*flags.index) : runs.front().directory.parent_path() / "index.html";

  const Rows table = comparison(runs);
  // A terminal would break the lines of many runs; a program that reads them wants one row a number.
  const auto width = campaign::output_width();
  for (const auto& line : width ? campaign::aligned_within(*width, table) : campaign::aligned(table))
    std::puts(line.c_str());
  std::vector<ReportLink> links;
  for (const auto& run : runs) links.push_back(link_to(run, page.parent_path()));
  write_text_file(page.string(), index_page(flags.title, links));
  std::printf("\n%s\n", page.c_str());
}

}  // namespace quintet::commands
