#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

/// The run's log: lines on the terminal and in run.log. Only rank 0 speaks; spdlog lives in log.cpp alone.
///
/// Terminal: "[hh:mm:ss] text" on standard output; "warning: text", "error: text" on standard error, coloured
/// if that is a terminal. File: all of it, each line with its time, and debug lines as well. Called from one
/// thread.
namespace quintet::log {

enum class Level { debug, info, warning, error };

/// Where the lines go.
struct Settings {
  bool speaks = true;  ///< false on every rank but 0
  bool quiet = false;  ///< no info lines on the terminal (warnings and errors stay)
  std::string file;    ///< also write to this file ("" for none yet); appended to, earlier lines first
};

/// Configure the log of this process; may be called again (for example when the run directory becomes known).
/// Errors: ResourceError if the file cannot be written.
void configure(const Settings& settings);
/// Write one line.
void write(Level level, std::string_view line);
/// Number of warnings since the start (they are repeated in summary.json).
[[nodiscard]] int warning_count();
/// The warnings of this process since the start, in order, also those of ranks that do not speak.
[[nodiscard]] const std::vector<std::string>& warnings();
/// Write out buffered lines.
void flush();

template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace quintet::log
