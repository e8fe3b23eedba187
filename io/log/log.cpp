#include "io/log/log.hpp"

#include <memory>

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/basic_file_sink.h>

#include "io/log/controls.hpp"
#include "io/log/error.hpp"

namespace quintet::log {
namespace {

constexpr auto timed_pattern = "[%H:%M:%S] %v";
constexpr auto named_pattern = "%^%l:%$ %v";  // "warning: ...", the name coloured on a terminal

std::unique_ptr<spdlog::logger> make_logger(spdlog::sink_ptr sink, const char* pattern) {
  auto logger = std::make_unique<spdlog::logger>("quintet", std::move(sink));
  logger->set_pattern(pattern);
  logger->set_level(spdlog::level::debug);
  logger->flush_on(spdlog::level::debug);  // lines are few, and the last ones before a crash matter most
  return logger;
}

/// The log of this process.
struct State {
  std::unique_ptr<spdlog::logger> output =
      make_logger(std::make_shared<spdlog::sinks::ansicolor_stdout_sink_mt>(), timed_pattern);
  std::unique_ptr<spdlog::logger> complaints =
      make_logger(std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>(), named_pattern);
  std::unique_ptr<spdlog::logger> file;
  bool speaks = true;
  bool quiet = false;
  std::vector<std::string> warnings;
  std::vector<std::string> early;  ///< lines from before there was a file
};

constexpr std::size_t most_early_lines = 10000;

State& state() {
  static State state;
  return state;
}

/// Prefix of the text in the file, where every line begins with the time.
std::string_view prefix(Level level) {
  return level == Level::warning ? "warning: " : level == Level::error ? "error: " : "";
}

}  // namespace

void configure(const Settings& settings) {
  auto& log = state();
  log.speaks = settings.speaks;
  log.quiet = settings.quiet;
  log.file.reset();
  if (settings.file.empty() || !settings.speaks) return;
  try {
    log.file = make_logger(std::make_shared<spdlog::sinks::basic_file_sink_mt>(settings.file), timed_pattern);
    // A disk that is full: whatever else is written there says so.
    log.file->set_error_handler([](const std::string&) {});
    for (const auto& line : log.early) log.file->info("{}", line);
    log.early.clear();
  } catch (const spdlog::spdlog_ex& error) {
    throw ResourceError(fmt::format("The log file {} cannot be written: {}", settings.file, error.what()));
  }
}

void write(Level level, std::string_view words) {
  auto& log = state();
  const std::string line = without_controls(words);
  if (level == Level::warning) log.warnings.emplace_back(line);
  if (!log.speaks) return;
  if (level == Level::info && !log.quiet) log.output->info("{}", line);
  if (level == Level::warning) log.complaints->warn("{}", line);
  if (level == Level::error) log.complaints->error("{}", line);
  if (log.file)
    log.file->info("{}{}", prefix(level), line);
  else if (log.early.size() < most_early_lines)
    log.early.push_back(fmt::format("{}{}", prefix(level), line));
}

int warning_count() { return state().warnings.size(); }

const std::vector<std::string>& warnings() { return state().warnings; }

void flush() {
  auto& log = state();
  log.output->flush();
  log.complaints->flush();
  if (log.file) log.file->flush();
}

}  // namespace quintet::log
