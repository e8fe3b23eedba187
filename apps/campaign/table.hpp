#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/campaign/graph.hpp"

namespace quintet::campaign {

enum class Outcome;

/// A number of items as a cell: empty for none.
[[nodiscard]] std::string count_text(std::int64_t n);

/// Rows of texts as lines, columns below each other.
[[nodiscard]] std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows);

/// The same in lines of at most `width` characters where that can be: columns that do not fit follow below,
/// beside the first one again, in the rows where they have a text.
[[nodiscard]] std::vector<std::string> aligned_within(std::size_t width,
                                                      const std::vector<std::vector<std::string>>& rows);

/// Width of the terminal that is standard output; nothing where that is a file or another program.
[[nodiscard]] std::optional<std::size_t> output_width();

/// A campaign on its way: on a terminal a table that is drawn again and again, in a log a line for each item.
class LiveTable {
 public:
  explicit LiveTable(const Graph& graph);
  ~LiveTable() { clear(); }
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  void began(std::size_t item, double begin, std::int64_t process) { running_[item] = {begin, process}; }
  void ended(std::size_t item) { running_.erase(item); }
  void count(std::size_t stage, Outcome outcome) { ++counts_[stage][static_cast<std::size_t>(outcome)]; }
  /// Report an event: in the table's last line, or in a line of the log.
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    say_text(fmt::format(format, std::forward<Args>(args)...));
  }
  /// Draw it `now` (s since the campaign began), at most a few times a second.
  void show(double now, std::size_t n_running);
  /// Take it away, so that something else can be printed.
  void clear();

 private:
  void say_text(std::string text);
  [[nodiscard]] std::vector<std::string> lines(double now, std::size_t n_running) const;

  const Graph& graph_;
  bool is_live_;
  std::map<std::size_t, std::pair<double, std::int64_t>> running_;
  std::vector<std::array<std::int64_t, 5>> counts_;  ///< of each stage, by outcome
  std::string last_;
  double shown_ = -1;
  std::size_t n_drawn_ = 0;
};

}  // namespace quintet::campaign
