#include "apps/campaign/table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "apps/application/life/progress.hpp"
#include "apps/campaign/runner.hpp"
#include "io/log/controls.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"

namespace quintet::campaign {
namespace {

constexpr double redraws_s = 0.25;
constexpr std::size_t most_running = 12;  // that are told by name

/// (columns, rows) of the terminal.
std::pair<std::size_t, std::size_t> terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {80, 24};
  return {size.ws_col, size.ws_row};
}

}  // namespace

std::string count_text(std::int64_t n) { return n == 0 ? "" : fmt::format("{}", n); }

std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    line = log::without_controls(line);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, '?');
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  return lines;
}

std::vector<std::string> aligned_within(std::size_t width,
                                        const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size() + 2);
  }
  std::vector<std::string> lines;
  for (std::size_t begin = 1, end = 1; begin < widths.size(); begin = end) {
    std::size_t taken = widths[0];
    while (end < widths.size() && (end == begin || taken + widths[end] <= width + 2)) taken += widths[end++];
    std::vector<std::vector<std::string>> block;
    for (const auto& row : rows) {
      std::vector<std::string> cells{row[0]};
      for (std::size_t c = begin; c < end; ++c) cells.push_back(c < row.size() ? row[c] : "");
      if (std::any_of(cells.begin() + 1, cells.end(), [](const auto& text) { return !text.empty(); }))
        block.push_back(std::move(cells));
    }
    if (!lines.empty()) lines.emplace_back();
    for (auto& line : aligned(block)) lines.push_back(std::move(line));
  }
  return lines;
}

std::optional<std::size_t> output_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

LiveTable::LiveTable(const Graph& graph)
    : graph_(graph), is_live_(isatty(STDERR_FILENO) != 0), counts_(graph.stages().size()) {}

void LiveTable::say_text(std::string text) {
  if (is_live_)
    last_ = std::move(text);
  else
    log::info("{}", text);
}

std::vector<std::string> LiveTable::lines(double now, std::size_t n_running) const {
  std::vector<std::int64_t> n_running_of(graph_.stages().size(), 0);
  for (const auto& [item, run] : running_) ++n_running_of[graph_.items()[item].stage];
  std::vector<std::vector<std::string>> rows{
      {"stage", "items", "done", "before", "running", "failed", "left out"}};
  std::int64_t n_over = 0;
  for (std::size_t s = 0; s < graph_.stages().size(); ++s) {
    const auto n = [&](Outcome outcome) { return counts_[s][static_cast<std::size_t>(outcome)]; };
    for (const auto count : counts_[s]) n_over += count;
    rows.push_back({graph_.stages()[s].name, fmt::format("{}", graph_.items_of(s).size()),
                    count_text(n(Outcome::done)), count_text(n(Outcome::reused)), count_text(n_running_of[s]),
                    count_text(n(Outcome::failed)),
                    count_text(n(Outcome::skipped) + n(Outcome::not_needed))});
  }
  auto lines = aligned(rows);
  std::size_t n_told = 0;
  for (const auto& [item, run] : running_) {
    if (++n_told > most_running) break;
    lines.push_back(fmt::format("  {} {} (process {})", clock_text(now - run.first),
                                graph_.items()[item].label, run.second));
  }
  if (!last_.empty()) lines.push_back(last_);
  lines.push_back(fmt::format("{} of {}, {} run, {}", n_over, counted(graph_.items().size(), "item"),
                              n_running, clock_text(now)));
  return lines;
}

void LiveTable::show(double now, std::size_t n_running) {
  if (!is_live_ || (shown_ >= 0 && now - shown_ < redraws_s)) return;
  shown_ = now;
  clear();
  const auto [columns, rows] = terminal_size();
  auto all = lines(now, n_running);
  if (all.size() + 1 > rows && rows > 2) all.erase(all.begin(), all.end() - rows + 1);  // the end says most
  std::string text;
  for (const auto& line : all) text += line.substr(0, columns - 1) + "\n";
  std::fputs(text.c_str(), stderr);
  n_drawn_ = all.size();
}

void LiveTable::clear() {
  if (n_drawn_ == 0) return;
  std::fputs(fmt::format("\x1b[{}A\x1b[J", n_drawn_).c_str(), stderr);
  std::fflush(stderr);
  n_drawn_ = 0;
}

}  // namespace quintet::campaign
