#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace quintet {

/// "1:02:03" or "2:03" of a number of seconds.
[[nodiscard]] std::string clock_text(double seconds);

/// The step loop as people see it: one live line on a terminal, plain lines now and then in the log, and a
/// file for who looks from elsewhere (`quintet status`).
///
/// The file is a flat JSON map: `step` and `last_step`, `steps_per_s` and `left_s` (null before they are
/// known), `written_unix_s`, and `shown`, the physical number in words. It is renamed into place, so that a
/// reader sees all of it or the one before, at the loop's begin and end and at most once a second between.
class Progress {
 public:
  /// `live`: draw the line on the terminal; `speaks`: write lines to the log.
  Progress(bool live, bool speaks) : live_(live), speaks_(speaks) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Write the progress to this file from now on; a failed write does not disturb the run. Called by one
  /// process alone.
  void write_to(const std::string& file) { file_ = file; }
  void start(std::int64_t first, std::int64_t last);
  void expect(std::int64_t last) { total_ = last - first_ + 1; }  ///< a new guess
  /// `done` steps of the loop are finished. The log gets a line every tenth of the way and every minute.
  void update(std::int64_t done);
  /// The loop was left; erases the live line.
  void finish(std::int64_t done);
  /// Take the live line away, so that something else can be printed.
  void clear();
  /// The physical number at the end of the line.
  void show(const std::string& name, double value, const std::string& unit);

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string line(std::int64_t done) const;
  void draw(const std::string& line);
  void write(std::int64_t done);

  bool live_, speaks_;
  bool drawn_ = false;
  std::string number_, file_;
  std::int64_t first_ = 0, total_ = 0, seen_ = 0, logged_ = 0;
  double rate_ = 0;  ///< steps/s, smoothed over the last looks
  Clock::time_point start_, seen_at_, logged_at_, written_at_;
};

}  // namespace quintet
