#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "apps/application/report/safe_picture.hpp"
#include "apps/campaign/table.hpp"
#include "apps/quintet/commands.hpp"
#include "io/config/tree.hpp"
#include "io/files/input_file.hpp"
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
    const auto name = fmt::format("planned for {} rank(s)", row.at("ranks").as_integer());
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

}  // namespace

void report(const Application::Arguments& arguments) {
  std::vector<Run> runs;
  for (const auto& argument : arguments[0]) runs.push_back(read_run(argument));
  const fs::path page = arguments[1].empty() ? runs.front().directory.parent_path() / "index.html"
                                             : fs::absolute(arguments[1].front());

  for (const auto& line : campaign::aligned(comparison(runs))) std::puts(line.c_str());
  std::vector<ReportLink> links;
  for (const auto& run : runs) links.push_back(link_to(run, page.parent_path()));
  write_text_file(page.string(), index_page(arguments[2].front(), links));
  std::printf("\n%s\n", page.c_str());
}

}  // namespace quintet::commands
